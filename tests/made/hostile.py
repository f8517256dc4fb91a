"""An environment as bad as it can be: every variable that the programs of a build read, by the manual that names it."""

# Values that change what is compiled, or stop it, wherever they are read.
FLAGS, FOLDER, FILE = "-O0 -g -DHOSTILE", "/hostile", "/hostile/file"

BY_PROGRAM: dict[str, dict[str, str]] = {
    # GCC, "Environment Variables Affecting GCC"; and those of its drivers and collect2
    "gcc": {
        **dict.fromkeys(("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH"), FOLDER),
        **dict.fromkeys(("COMPILER_PATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX"), "/hostile/"),
        **dict.fromkeys(("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"), FILE),
        "GCC_COMPARE_DEBUG": "1",
        "GCC_COLORS": "always",
        "GCC_URLS": "always",
        "GCC_EXTRA_DIAGNOSTIC_OUTPUT": "fixits-v1",
        "SOURCE_DATE_EPOCH": "1",
        "COLLECT_NO_DEMANGLE": "1",
        "GCOV_PREFIX": FOLDER,
        "GCOV_PREFIX_STRIP": "3",
        "GCOV_ERROR_FILE": FILE,
        "GCOV_EXIT_AT_ERROR": "1",
    },
    "clang": {
        "CCC_OVERRIDE_OPTIONS": "#+-O0",
        "CC_PRINT_OPTIONS": "1",
        "CC_PRINT_HEADERS": "1",
        "CC_LOG_DIAGNOSTICS": "1",
        "LLVM_PROFILE_FILE": FILE,
        "LLVM_SYMBOLIZER_PATH": FILE,
    },
    # ld(1), "Environment"; ld.so(8)
    "ld": {"GNUTARGET": "elf32-i386", "LDEMULATION": "elf_i386", "LD_RUN_PATH": FOLDER},
    "ld.so": {
        "LD_LIBRARY_PATH": FOLDER,
        "LD_PRELOAD": FILE,
        "LD_AUDIT": FILE,
        "LD_BIND_NOW": "1",
        "LD_DEBUG": "all",
        "LD_TRACE_LOADED_OBJECTS": "1",
        "GLIBC_TUNABLES": "glibc.malloc.perturb=170",
    },
    # GNU make, "Implicit Variables" and "Variables/Recursion"
    "make": {
        "MAKEFLAGS": "e -- COPT=-DHOSTILE CFLAGS=-O0",
        "GNUMAKEFLAGS": "-e",
        "MFLAGS": "-e",
        "MAKEFILES": FILE,
        "MAKELEVEL": "7",
        "MAKEOVERRIDES": "CFLAGS=-O0",
        "VPATH": FOLDER,
        **dict.fromkeys(("ARFLAGS", "ASFLAGS", "YFLAGS", "LFLAGS", "LOADLIBES", "LDLIBS", "COPT", "PROFILE"), FLAGS),
    },
    # ./configure --help of PostgreSQL; Autoconf, "Preset Output Variables" and "Site Defaults"
    "configure": {
        **dict.fromkeys(
            ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDFLAGS_EX", "LDFLAGS_SL", "BITCODE_CFLAGS"), FLAGS
        ),
        **dict.fromkeys(
            ("CC", "CXX", "CPP", "AR", "NM", "RANLIB", "LD", "AS", "STRIP", "CLANG", "LLVM_CONFIG"), "/bin/false"
        ),
        **dict.fromkeys(("BISON", "FLEX", "PERL", "PYTHON", "TCLSH", "MSGFMT", "PKG_CONFIG", "INSTALL"), "/bin/false"),
        **dict.fromkeys(("BISONFLAGS", "FLEXFLAGS"), "--hostile"),
        **dict.fromkeys(("ICU_CFLAGS", "LZ4_CFLAGS", "ZSTD_CFLAGS", "XML2_CFLAGS"), FLAGS),
        **dict.fromkeys(("ICU_LIBS", "LZ4_LIBS", "ZSTD_LIBS", "XML2_LIBS", "LIBS"), "-lhostile"),
        "CONFIG_SITE": FILE,
        "CONFIG_SHELL": "/bin/false",
        "DESTDIR": FOLDER,
        "ac_cv_func_strlcpy": "yes",
    },
    # cmake-env-variables(7)
    "cmake": {
        **dict.fromkeys(("CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER"), "/bin/false"),
        **dict.fromkeys(("CMAKE_C_LINKER_LAUNCHER", "CMAKE_CXX_LINKER_LAUNCHER"), "/bin/false"),
        **dict.fromkeys(
            ("CMAKE_PREFIX_PATH", "CMAKE_INCLUDE_PATH", "CMAKE_LIBRARY_PATH", "CMAKE_PROGRAM_PATH"), FOLDER
        ),
        **dict.fromkeys(("CMAKE_TOOLCHAIN_FILE", "CMAKE_FRAMEWORK_PATH", "CMAKE_APPBUNDLE_PATH"), FILE),
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_CONFIGURATION_TYPES": "Debug",
        "CMAKE_CONFIG_TYPE": "Debug",
        "CMAKE_GENERATOR": "Unix Makefiles",
        "CMAKE_BUILD_PARALLEL_LEVEL": "1",
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
        "CMAKE_INSTALL_MODE": "SYMLINK",
        "CMAKE_COLOR_DIAGNOSTICS": "ON",
        "CMAKE_NO_VERBOSE": "1",
        "OpenSSL_ROOT": FOLDER,
        "VERBOSE": "1",
    },
    "ninja": {"NINJA_STATUS": "hostile ", "CLICOLOR_FORCE": "1"},
    "ccache": {"CCACHE_DIR": FOLDER, "CCACHE_PREFIX": "/bin/false", "CCACHE_CONFIGPATH": FILE, "CCACHE_RECACHE": "1"},
    "pkg-config": {
        **dict.fromkeys(("PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR"), FOLDER),
        "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
        "PKG_CONFIG_DEBUG_SPEW": "1",
    },
    "perl": {"PERL5LIB": FOLDER, "PERLLIB": FOLDER, "PERL5OPT": "-Mhostile", "PERL_UNICODE": "SDA", "PERL5DB": "die"},
    "python": {"PYTHONPATH": FOLDER, "PYTHONHOME": FOLDER, "PYTHONSTARTUP": FILE, "PYTHONWARNINGS": "error"},
    "bison, flex, m4": {"BISON_PKGDATADIR": FOLDER, "M4": "/bin/false", "M4PATH": FOLDER},
    "shells": {"ENV": FILE, "BASH_ENV": FILE, "CDPATH": "/", "IFS": "/", "POSIXLY_CORRECT": "1"},
    "coreutils, grep, tar": {"GREP_OPTIONS": "-v", "TAR_OPTIONS": "--hostile", "BLOCKSIZE": "1", "LS_BLOCK_SIZE": "1"},
    "git": {"GIT_DIR": FOLDER, "GIT_WORK_TREE": FOLDER},
    "language": {"LANG": "de_DE.UTF-8", "LC_MESSAGES": "de_DE.UTF-8", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "de"},
}

VARIABLES = {name: value for variables in BY_PROGRAM.values() for name, value in variables.items()}
