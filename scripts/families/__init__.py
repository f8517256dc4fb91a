"""What differs between database products, one module a family behind one interface."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from scripts.families import mariadb, mysql, postgresql

MODULES: dict[str, ModuleType] = {"mariadb": mariadb, "mysql": mysql, "postgresql": postgresql}


class Family(Protocol):
    """The interface: every family module has these names.

    Paths are absolute. `options` are server options as written in a study, laid over `default_options`;
    `options_of_release` gives them the names that the installed release has; `unknown_options` says, one line each,
    which of them a release stated in full does not have, as far as that is known before it runs. `COMPLAINT` finds in a
    line of the server's log why it ends, `NOT_TAKEN` that it runs with another value than it was given (its words,
    then the option). `layout` tells where a server that is there already has the parts of an install tree.
    `published_options` are what the published recipe gives to the configure step, nothing where a product has no such
    options and the compiler is given the flags.
    """

    SERVER: str  # the server program within the install tree
    PROFILE_SCOPE: str  # shell patterns of object files, relative to the build tree, that are the server's
    DATA_OPTIONS: frozenset[str]  # server options that shape a data directory, so belong to a dataset
    SYSBENCH_DRIVER: str
    FORKS: bool  # a process for each connection
    COMPLAINT: re.Pattern[str]
    NOT_TAKEN: re.Pattern[str]

    def configure_command(self, source: Path, compiler: dict[str, str], recipe: dict) -> list[str]: ...
    def published_options(self, counters: Path, use: bool) -> list[str]: ...
    def compile_commands(self, threads: int) -> list[list[str]]: ...
    def install(self, source: Path, build: Path, target: Path, log: Path) -> None: ...
    def default_options(self, memory_mib: int) -> dict[str, Any]: ...
    def options_of_release(self, install: Path, options: dict[str, Any]) -> dict[str, Any]: ...
    def unknown_options(self, release: str, options: dict[str, Any]) -> list[str]: ...
    def option_text(self, options: dict[str, Any]) -> str: ...
    def initialise(
        self, install: Path, data: Path, option_file: Path, options: dict[str, Any], log: Path, identity: dict
    ) -> None: ...
    def fit_data(self, install: Path, data: Path, options: dict[str, Any]) -> None: ...
    def server_command(self, install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]: ...
    def connect(self, sockets: Path) -> Any: ...
    def before_stop(self, connection: Any, keep_data: bool) -> None: ...
    def sysbench_flags(self, sockets: Path) -> list[str]: ...
    def variables(self, connection: Any) -> dict[str, str]: ...
    def counters(self, connection: Any) -> dict[str, float]: ...
    def layout(self, prefix: Path) -> dict[str, Path]: ...


def of(family: str) -> Family:
    """Return a family's module. Raises ValueError naming the family and the known ones."""
    if family not in MODULES:
        raise ValueError(f"family: {family!r} is unknown, expected one of {', '.join(sorted(MODULES))}")
    return MODULES[family]  # type: ignore[return-value]
