"""Mistakes about the environment variables that a study gives its servers and its sysbench, and the client host."""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scripts.measure.loadgen.processes import MOST_CLIENTS
from scripts.study.config.declared_hosts import CpuPlacement
from scripts.study.config.mistakes import Mistake
from scripts.study.config.sound import Sound
from scripts.study.config.yaml_lines import KeyPath

# The gates that hold sysbench's clients read such variables.
OWN_PREFIX = "GATE"


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


def client_environment_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield mistakes about sysbench's environment."""
    variables = sound.declared.client_environment
    if not variables:
        return
    if sound.declared.client:
        text = f"{variables!r}, expected none beside `client`: sysbench has the environment of the other host"
        yield Mistake(("client_environment",), text)
    for name in variables:
        if name.startswith(OWN_PREFIX):
            text = f"the workflow itself sets variables that begin with {OWN_PREFIX}, expected another name"
            yield Mistake(("client_environment", name), text)
    if sound.is_timed_sql_alone:
        text = "all workloads are timed SQL, whose statements the workflow itself sends, expected one with a script"
        yield Mistake(("client_environment",), text)


def client_host_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield mistakes about the client host."""
    if not (client := sound.declared.client):
        return
    if client.address and (text := _unreachable(client.address)):
        yield Mistake(("client", "address"), f"{client.address!r}, expected {text}")
    for name, load in sound.loads.items():
        if load.sql:
            text = "timed SQL: this host sends its statements, whoever the client host is; expected one with a script"
            yield Mistake(("workloads", name), text)
    for index, clients in enumerate(sound.declared.clients):
        if clients > MOST_CLIENTS:
            text = f"{clients}, expected at most {MOST_CLIENTS}: that is what one sysbench on a client host carries"
            yield Mistake(("clients", index), text)
    placement = sound.declared.placement
    if isinstance(placement, CpuPlacement) and str(placement.client).startswith("numa"):
        text = f"{placement.client!r}, expected CPU numbers: they are those of the client host"
        yield Mistake(("placement", "client"), text)


def _unreachable(address: str) -> str:
    """Return what was expected in place of an address that is none, or that no other host reaches."""
    try:
        host_address = ipaddress.ip_address(address)
    except ValueError:
        return "an IP address such as 10.0.0.1"
    if host_address.is_loopback or host_address.is_unspecified or host_address.is_multicast:
        return "one address of this host that the client host reaches"
    return ""
