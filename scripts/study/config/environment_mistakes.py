"""Mistakes about the environment variables that a study gives its servers and its sysbench."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scripts.study.config.mistakes import Mistake
from scripts.study.config.sound import Sound
from scripts.study.config.yaml_lines import KeyPath


@dataclass(frozen=True)
class RefusedVariables:
    """Variables that a study cannot give: the whole names that `pattern` matches, why, and what is expected."""

    pattern: str
    why: str
    expected: str


PRELOADED = "LD_PRELOAD with the paths of libraries, which each run proves"
LOADER = RefusedVariables(
    r"LD_(?!PRELOAD$|BIND_NOW$)\w+", "the loader would run or write what no record names", PRELOADED
)
PLUGINS = RefusedVariables(
    r"GCONV_PATH|OPENSSL_(CONF|ENGINES|MODULES)|SASL_PATH|LIBMYSQL_PLUGINS|(LIBMYSQL|MARIADB)_PLUGIN_DIR"
    r"|LUA_(INIT|PATH|CPATH)\w*|PERL\w*|PYTHON\w*|RUBY(OPT|LIB)|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|IFS",
    "it makes a program load or run code that no record names",
    PRELOADED,
)
LANGUAGE = RefusedVariables(
    r"LC_\w+|LANG|LANGUAGE|NLSPATH|LOCPATH", "messages are read in the C locale", "another variable"
)
COUNTERS = RefusedVariables(
    r"GCOV_\w+|LLVM_PROFILE_FILE", "the workflow itself says where counters are written", "another variable"
)
COMPILER = RefusedVariables(
    r"(C|CXX|CPP|LD|AR|AS|NM|RANLIB|MAKE|M|GNUMAKE|NINJA|BISON|FLEX)_?FLAGS|CC|CXX|CPP|AR|AS|LD|NM|RANLIB|LIBS?"
    r"|CPATH|(C|CPLUS|OBJC)_INCLUDE_PATH|LIBRARY_PATH|COMPILER_PATH|GCC_\w+|COLLECT_\w+|CCC_\w+|CCACHE_\w+"
    r"|CMAKE_\w+|PKG_CONFIG\w*|BUILD_\w+|SOURCE_DATE_EPOCH",
    "compiling does not see this environment, which is that of servers while they are measured",
    "`flags` of the build, or another `toolchain`",
)
EVERYWHERE = (LOADER, PLUGINS, LANGUAGE, COUNTERS)


def environment_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield variables that run code nobody declared, or that change what the workflow reads."""
    declared = sound.declared
    yield from _refused(("client_environment",), declared.client_environment, EVERYWHERE)
    for name, variant in declared.variants.items():
        yield from _refused(("variants", name, "environment"), variant.environment, (*EVERYWHERE, COMPILER))
    for name, build in declared.builds.items():
        yield from _refused(("builds", name, "environment"), build.environment, (*EVERYWHERE, COMPILER))


def _refused(path: KeyPath, variables: Mapping[str, str], kinds: tuple[RefusedVariables, ...]) -> Iterator[Mistake]:
    for name, value in variables.items():
        for kind in kinds:
            if re.fullmatch(kind.pattern, name):
                yield Mistake((*path, name), f"{value!r} cannot be given: {kind.why}; expected {kind.expected}")
