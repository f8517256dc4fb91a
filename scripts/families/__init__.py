"""What differs between database products, one module a family behind one interface."""

from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from scripts.families import mariadb, postgresql

MODULES: dict[str, ModuleType] = {"mariadb": mariadb, "postgresql": postgresql}


class Family(Protocol):
    """The interface: every family module has these names.

    Paths are absolute. `options` are server options as written in a study, laid over `default_options`.
    """

    SERVER: str  # the server program within the install tree
    PROFILE_SCOPE: str  # shell patterns of object files, relative to the build tree, that are the server's
    DATA_OPTIONS: frozenset[str]  # server options that shape a data directory, so belong to a dataset
    SYSBENCH_DRIVER: str

    def configure_command(self, source: Path, compiler: dict[str, str], recipe: dict) -> list[str]: ...
    def compile_commands(self, threads: int) -> list[list[str]]: ...
    def install(self, source: Path, build: Path, target: Path, log: Path) -> None: ...
    def default_options(self, memory_mib: int) -> dict[str, Any]: ...
    def option_text(self, options: dict[str, Any]) -> str: ...
    def initialise(
        self, install: Path, data: Path, option_file: Path, options: dict[str, Any], log: Path, identity: dict
    ) -> None: ...
    def server_command(self, install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]: ...
    def connect(self, sockets: Path) -> Any: ...
    def before_stop(self, connection: Any, keep_data: bool) -> None: ...
    def sysbench_flags(self, sockets: Path) -> list[str]: ...
    def variables(self, connection: Any) -> dict[str, str]: ...
    def counters(self, connection: Any) -> dict[str, float]: ...


def of(family: str) -> Family:
    """Return a family's module. Raises ValueError naming the family and the known ones."""
    if family not in MODULES:
        raise ValueError(f"family: {family!r} is unknown, expected one of {', '.join(sorted(MODULES))}")
    return MODULES[family]  # type: ignore[return-value]
