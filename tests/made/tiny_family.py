"""A fourth family of servers, made up: all that a product needs, in one module. Its server is a Python script."""

import re
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from scripts.build.sources.installed import Product, program_of
from scripts.lib.host.process import run
from scripts.lib.recipe_models import CompileRecipe
from scripts.measure.servers.endpoint import Endpoint
from scripts.measure.servers.families.family import Family, Options, ServerSetting
from scripts.measure.servers.families.option_rules import FROM_CLIENT, FROM_STORAGE, OptionValue
from scripts.measure.servers.families.server_supplies import SupplyDemand

# The server answers each connection with its settings, and ends at SIGTERM.
SERVER = """\
import pathlib, signal, socket, sys
data, option_file, path = sys.argv[1:4]
if not (pathlib.Path(data) / "tables").is_file():
    sys.exit("TINY-ERROR: no tables")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
while True:
    connection, _ = listener.accept()
    connection.sendall(pathlib.Path(option_file).read_bytes())
    connection.close()
"""
CATALOG: dict[str, Any] = {
    "family": "tiny",
    "product": "Tiny",
    "version": "1.2",
    "sources": [{"debian": "tiny"}],
}


class Connection:
    """A connection to a server: what it answered."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def close(self) -> None:
        """Do nothing: the server has closed it."""


class Tiny(Family):
    """A product that stores nothing."""

    NAME = "tiny"
    SERVER = "bin/tinyd"
    PRODUCT = Product(("tinyd",), r"\btinyd (\d[\d.]*)", (("RELEASE", r"(\d[\d.]*)"),))
    DATA_OPTIONS = frozenset({"page_size"})
    OWNED_OPTIONS: ClassVar[Mapping[str, str]] = {"listen": FROM_CLIENT, "folder": FROM_STORAGE}
    SYSBENCH_DRIVER, PASSWORD_OPTION = "mysql", "mysql-password"
    COMPLAINT = re.compile(r"TINY-ERROR: (.*)")
    DIALECT = "innodb"
    SOURCE_MIB, BUILD_MIB, INSTALL_MIB, EMPTY_MIB, LOGS_MIB, ROW_BYTES = 12, 24, 2, 1, 1, 100
    POOL_OPTION, BASE_MIB, CONNECTION_MIB = "pool", 1, 0.1
    HUGE_PAGES_OPTION = "huge"

    def configure_command(self, source: Path, compiler: dict[str, str], recipe: CompileRecipe) -> list[str]:
        return ["true", str(source)]

    def compile_commands(self, threads: int) -> list[list[str]]:
        return [["make", f"-j{threads}"]]

    def install(self, source: Path, build: Path, target: Path, log: Path) -> None:
        (target / "bin").mkdir(parents=True)
        shutil.copy2(build / "tinyd", target / self.SERVER)

    def layout(self, prefix: Path) -> dict[str, Path]:
        return {self.SERVER: program_of(prefix, self.PRODUCT.programs)[0]}

    def default_options(self, memory_mib: int) -> Options:
        return {"pool": f"{memory_mib // 4}M", "max_connections": 100}

    def option_text(self, options: Options) -> str:
        return "".join(f"{name} {value}\n" for name, value in options.items())

    def initialise(
        self, install: Path, data: Path, option_file: Path, options: Options, log: Path, identity: dict
    ) -> None:
        run(["touch", str(data / "tables")], log, cwd=data, identity=identity)

    def server_command(self, install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]:
        return [sys.executable, str(install / self.SERVER), str(data), str(option_file), str(sockets / "tiny")]

    def connect(self, sockets: Path) -> Connection:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(sockets / "tiny"))
            return Connection(client.makefile().read())

    def sysbench_flags(self, sockets: Path) -> list[str]:
        return ["--db-driver=mysql", f"--mysql-socket={sockets / 'tiny'}"]

    def supplies(self, options: Options) -> SupplyDemand:
        return SupplyDemand()

    def network_options(self, address: str, port: int) -> Options:
        return {"listen": f"{address}:{port}"}

    def admit_client(self, connection: Any, password: str) -> None:
        raise NotImplementedError

    def network_sysbench_flags(self, address: str, port: int) -> list[str]:
        return ["--db-driver=mysql", f"--mysql-host={address}", f"--mysql-port={port}"]

    def reach(self, endpoint: Endpoint) -> Connection:
        raise NotImplementedError("no network")

    def release_of(self, connection: Connection) -> str:
        return "1.2"

    def reached_flags(self, endpoint: Endpoint) -> list[str]:
        return self.network_sysbench_flags(endpoint.address, endpoint.port)

    def reached_environment(self, endpoint: Endpoint, folder: Path) -> dict[str, str]:
        return {}

    def has_database(self, connection: Connection, database: str) -> bool:
        return False

    def log_statements(self, connection: Any) -> None:
        raise NotImplementedError

    def logged_statements(self, connection: Any, log: str) -> list[str]:
        raise NotImplementedError

    def variables(self, connection: Connection) -> dict[str, str]:
        return dict(line.split(" ", 1) for line in connection.answer.splitlines())

    def option_taken(self, name: str, value: OptionValue, settings: Mapping[str, ServerSetting]) -> bool | None:
        return settings[name].text == str(value) if name in settings else None

    def counters(self, connection: Any) -> dict[str, float]:
        return {}
