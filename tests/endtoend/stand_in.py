"""Local servers that stand in for managed ones: reached over TCP and TLS with a certificate of a CA made here."""

import contextlib
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.lib.host import workplace
from scripts.measure.servers import families
from scripts.measure.servers import options as servers_options
from scripts.measure.servers.data_directory import initialise
from scripts.measure.servers.endpoint import private_file
from scripts.measure.servers.server import Server, running
from tests.endtoend import installed_mariadb, installed_mysql, installed_postgresql

INSTALLED = {"mariadb": installed_mariadb, "mysql": installed_mysql, "postgresql": installed_postgresql}
INNODB = {"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "32M"}
SMALL = {
    "mariadb": INNODB,
    "mysql": INNODB,
    "postgresql": {"shared_buffers": "64MB"},
}
SSL = {"ssl_ca": "ca.pem", "ssl_cert": "server.pem", "ssl_key": "server.key"}
TLS = {
    "mariadb": SSL,
    "mysql": SSL,
    "postgresql": {"ssl_cert_file": "server.pem", "ssl_key_file": "server.key"},
}


@dataclass(frozen=True)
class Certificates:
    """A folder with ca.pem, and server.pem with server.key for 127.0.0.1 and localhost."""

    folder: Path

    def make(self) -> None:
        """Make the authority and a certificate that it signed."""
        self._openssl("req", "-x509", *_new_key("ca.key"), "-out", "ca.pem", "-days", "2", "-subj", "/CN=test CA")
        self._openssl("req", *_new_key("server.key"), "-out", "server.csr", "-subj", "/CN=localhost")
        (self.folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
        self._openssl("x509", "-req", "-in", "server.csr", "-out", "server.pem", *signed)
        workplace.give(self.folder)
        (self.folder / "server.key").chmod(0o600)

    def _openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)


def _new_key(name: str) -> list[str]:
    return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", name]


@dataclass(frozen=True)
class StandIn:
    """A server that runs by itself, with an account that may make databases, and nothing else."""

    server: Server
    family: families.Family
    port: int
    ca: Path
    user: str = field(default_factory=lambda: f"user{secrets.token_hex(6)}")
    password: str = field(default_factory=lambda: f"#{secrets.token_hex(12)}"[::-1])

    @property
    def release(self) -> str:
        with contextlib.closing(self.server.connect()) as connection:
            return self.family.release_of(connection)

    def admit(self) -> None:
        """Make the account; PostgreSQL takes it over TLS or not, and lets nobody else in by the network."""
        if self.family.NAME == "postgresql":
            self.ask(f"CREATE ROLE {self.user} LOGIN CREATEDB PASSWORD '{self.password}'")
            rules, before = Path(self.ask("SHOW hba_file")[0][0]), self.ask("SELECT pg_conf_load_time()")
            rules.write_text(f"local all all trust\nhost all {self.user} 127.0.0.1/32 scram-sha-256\n")
            self.ask("SELECT pg_reload_conf()")
            while self.ask("SELECT pg_conf_load_time()") == before:
                time.sleep(0.05)
            return
        self.ask(f"CREATE USER '{self.user}'@'127.0.0.1' IDENTIFIED BY '{self.password}'")
        self.ask(f"GRANT ALL ON `pgobench\\_%`.* TO '{self.user}'@'127.0.0.1'")

    def ask(self, statement: str) -> list[tuple]:
        """Send a statement as the server's owner; returns the rows of its answer."""
        with contextlib.closing(self.server.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def databases(self) -> list[str]:
        """Return the names of the databases of ours."""
        lists = {"postgresql": "SELECT datname FROM pg_database"}
        every = [name for (name,) in self.ask(lists.get(self.family.NAME, "SHOW DATABASES"))]
        return sorted(name for name in every if name.startswith("pgobench_"))

    def write_login(self, file: Path) -> Path:
        """Write the credentials into a file of mode 0600."""
        return private_file(file, f"user: {self.user}\npassword: '{self.password}'\n")

    def entry(self, login: Path, **source: Any) -> dict[str, Any]:
        """Return the server's entry in a config; `source` are further keys of its source."""
        place = {"running": f"127.0.0.1:{self.port}", "credentials": str(login), **source}
        product = {"mariadb": "MariaDB", "mysql": "MySQL", "postgresql": "PostgreSQL"}[self.family.NAME]
        return {"family": self.family.NAME, "product": product, "version": self.release, "sources": [place]}


@contextlib.contextmanager
def stand_in(name: str, folder: Path) -> Iterator[StandIn]:
    """Run an installed server of a family in `folder`, listening on a free port of 127.0.0.1 with TLS."""
    folder.mkdir()
    folder.chmod(0o755)
    keys, port = Certificates(folder / "keys"), _free_port()
    keys.folder.mkdir()
    keys.make()
    family, build = families.of(name), folder / "build"
    build.mkdir()
    INSTALLED[name].lay_out(build)
    own = {option: str(keys.folder / file) for option, file in TLS[name].items()} | SMALL[name]
    switched_on = {"ssl": True} if name == "postgresql" else {}
    chosen = {**own, **family.network_options("127.0.0.1", port), **switched_on}
    options = servers_options.server_options(family, chosen)
    log = folder / "server.log"
    data_folder = folder / "place"
    data_folder.mkdir()
    workplace.give(data_folder)
    data = initialise(family, build / "install", data_folder, options, log)
    with running(family, build / "install", data, options, log) as server:
        made = StandIn(server, family, port, keys.folder / "ca.pem")
        made.admit()
        yield made


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def secrets_in_processes(*secret: str) -> Iterator[set[tuple[str, str]]]:
    """Look at command lines and environments of all processes meanwhile; yields (name, secret) of each with one."""
    found, looked, over = set(), set(), threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    text = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
                    name = (process / "comm").read_text().strip()
                    looked.add(name)
                    found.update((name, word) for word in secret if word.encode() in text)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
    assert "sysbench" in looked, sorted(looked)
