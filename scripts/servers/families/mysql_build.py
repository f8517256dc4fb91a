"""MySQL from its sources: how each release is configured, and what of its build tree is installed.

Taken through a compiler here: nothing of MySQL itself; configured: 8.0.43. The options of 5.5 to 5.7 are as their own
CMake files name them.
"""

import shutil
import subprocess
from pathlib import Path

from scripts.servers.families import innodb
from scripts.servers.families.mysql_options import Release, number
from scripts.sources.tree import release_of

SERVER = "bin/mysqld"
RELEASE_FILE = "release.txt"
SYSTEM_TABLES = ["mysql_system_tables.sql", "mysql_system_tables_data.sql"]
# Where a server has libraries of its own and the data of its regular expressions.
PRIVATE = "lib/private"
PRIVATE_FOLDERS = [PRIVATE, "lib64/mysql/private", "lib/mysql/private"]
# CMake's names for a build tree's folders of programs and of shared libraries since 8.0.
PROGRAMS, LIBRARIES = "runtime_output_directory", "library_output_directory"

# Options and the first release that has them.
CMAKE_OPTIONS: list[tuple[Release, str]] = [
    ((5, 5), "WITH_UNIT_TESTS=OFF"),
    ((5, 5), "ENABLE_DTRACE=OFF"),
    ((5, 5), "WITH_EMBEDDED_SERVER=OFF"),
    ((5, 7, 12), "WITH_RAPID=OFF"),
    ((8, 0), "WITH_ROUTER=OFF"),
    ((8, 0), "WITH_NDBCLUSTER_STORAGE_ENGINE=OFF"),
    ((8, 0), "WITH_GROUP_REPLICATION=OFF"),
    ((8, 0), "WITH_PACKAGE_FLAGS=OFF"),
    ((8, 0), "USE_LD_GOLD=OFF"),
    ((8, 0), "USE_LD_LLD=OFF"),
    # The server finds libraries of the build tree beside itself, wherever the tree is copied to.
    ((8, 0), "CMAKE_BUILD_RPATH_USE_ORIGIN=ON"),
    ((8, 0, 13), "WITH_MYSQLX=OFF"),
    ((8, 0, 27), "WITH_AUTHENTICATION_CLIENT_PLUGINS=OFF"),
]
UNTIL_8 = {"ENABLE_DTRACE=OFF", "WITH_EMBEDDED_SERVER=OFF", "WITH_RAPID=OFF"}
BUNDLES_BOOST: Release = (8, 3)
# Sources older than their compiler's default language; before 8.0 they bring their own -O3 -g unless told not to.
STANDARDS: list[tuple[Release, str]] = [((5, 7), "gnu++98"), ((8, 0), "gnu++14")]
OLD_FLAGS = "-fno-strict-aliasing -fno-omit-frame-pointer -DDBUG_OFF"


def configure_command(source: Path, compiler: dict[str, str], recipe: dict) -> list[str]:
    """Return the CMake call, the same for every build of a server; run it in the build tree.

    Raises ValueError when the sources name no release.
    """
    release = source_release(source)
    optimise = "-O2 -g -DNDEBUG" if recipe.get("debug_information") else "-O2 -DNDEBUG"
    old = release < (8,)
    command = innodb.cmake_command(source, compiler, f"{optimise} {OLD_FLAGS}" if old else optimise, [])
    if standard := next((name for until, name in STANDARDS if release < until), None):
        command = [f"{part} -std={standard}" if "CXX_FLAGS" in part else part for part in command]
    options = [option for since, option in CMAKE_OPTIONS if release >= since and (old or option not in UNTIL_8)]
    if old:
        options.append("WITH_DEFAULT_COMPILER_OPTIONS=OFF")
    options.append(f"WITH_SSL={'bundled' if (source / 'extra' / 'yassl').is_dir() else 'system'}")
    if (source / "boost").is_dir() and release < BUNDLES_BOOST:
        options.append(f"WITH_BOOST={source / 'boost'}")
    return [*command, *(f"-D{option}" for option in options), *recipe.get("configure", [])]


def published_options(counters: Path, use: bool) -> list[str]:
    """Return the CMake options of the published recipe: make counters, or use those in a folder without a word."""
    if not use:
        return ["-DFPROFILE_GENERATE=ON", f"-DFPROFILE_DIR={counters}"]
    silent = [f"-DCMAKE_{language}_FLAGS=-Wno-missing-profile" for language in ("C", "CXX")]
    return ["-DFPROFILE_USE=1", f"-DFPROFILE_DIR={counters}", *silent]


def source_release(source: Path) -> Release:
    """Return the release that sources name. Raises ValueError naming the file when they name none."""
    if not (found := release_of(source)):
        raise ValueError(f"{source}/MYSQL_VERSION: missing or without a release, expected the sources of MySQL")
    return number(found)


def compile_commands(threads: int) -> list[list[str]]:
    """Return the commands that compile the server in the build tree with at most `threads` jobs."""
    return [["ninja", f"-j{threads}", "mysqld"]]


def install(source: Path, build: Path, target: Path, log: Path) -> None:
    """Copy the server and what it needs to run into `target`: messages, character sets, system-table scripts.

    Raises ValueError naming the build tree when it has no server.
    """
    program = next((path for path in (build / PROGRAMS / "mysqld", build / "sql" / "mysqld") if path.is_file()), None)
    if program is None:
        raise ValueError(f"{build}: no mysqld in {PROGRAMS} or sql (log: {log})")
    (target / "bin").mkdir(parents=True)
    shutil.copy2(program, target / SERVER)
    for library in needed_libraries(program, build / LIBRARIES):
        (target / LIBRARIES).mkdir(exist_ok=True)
        shutil.copy2(library, target / LIBRARIES)
    charsets = next(path for path in (source / "share", source / "sql" / "share") if (path / "charsets").is_dir())
    shutil.copytree(charsets / "charsets", target / "share" / "charsets")
    for messages in [*build.glob("share/*/errmsg.sys"), *build.glob("sql/share/*/errmsg.sys")]:
        (target / "share" / messages.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy2(messages, target / "share" / messages.parent.name)
    for expressions in source.glob("extra/icu/**/icudt*l"):
        shutil.copytree(expressions, target / PRIVATE / expressions.name)
    release = source_release(source)
    if release < (5, 7):
        for script in SYSTEM_TABLES:
            shutil.copy2(source / "scripts" / script, target / "share")
    (target / RELEASE_FILE).write_text(".".join(map(str, release)) + "\n", encoding="utf-8")


def needed_libraries(program: Path, folder: Path) -> list[Path]:
    """Return those shared libraries of a folder that a program names as needed, directly or through each other."""
    found: list[Path] = []
    waiting = [program]
    while waiting:
        command = ["readelf", "--dynamic", "--wide", str(waiting.pop())]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        names = [line.partition("[")[2].rstrip("]") for line in text.splitlines() if "(NEEDED)" in line]
        fresh = [folder / name for name in names if (folder / name).is_file() and folder / name not in found]
        found += fresh
        waiting += fresh
    return found


def read_release(install: Path) -> str:
    """Return the release of an installed server. Raises ValueError naming the file when it is not there."""
    file = install / RELEASE_FILE
    if not file.is_file():
        raise ValueError(f"{file}: missing, expected the server's release; remove {install.parent} to make it again")
    return file.read_text(encoding="utf-8").strip()
