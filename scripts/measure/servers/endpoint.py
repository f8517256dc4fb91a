"""A server that already runs, as we reach it: its address, login, TLS, and the database of ours that we work in."""

import re
import ssl
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.measure.servers.credentials import Access, Places, access_of

HIDDEN = "(hidden)"
CONNECTED_WITHIN_S = 30


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens, how it is reached, and the database to work in; None is the server's own."""

    server: str
    address: str
    port: int
    access: Access
    database: str | None = None

    def within(self, database: str) -> "Endpoint":
        """Return the same server with another database to work in."""
        return replace(self, database=database)

    def tls(self) -> ssl.SSLContext | None:
        """Return the context that checks the server's certificate and name; None without TLS."""
        return None if self.access.ca is None else ssl.create_default_context(cafile=str(self.access.ca))

    def hidden(self, text: str) -> str:
        """Return a text, such as an error of a driver, without user and password."""
        login = self.access.login
        plain = text.replace(login.password, HIDDEN)
        return re.sub(rf"(?<!\w){re.escape(login.user)}(?!\w)", HIDDEN, plain)

    def hide_in(self, file: Path) -> None:
        """Take user and password out of a file, such as an output of sysbench that names whom a server refused."""
        if file.is_file() and (text := file.read_text(encoding="utf-8", errors="replace")) != self.hidden(text):
            file.write_text(self.hidden(text), encoding="utf-8")


def endpoint_of(server: str, running: str, declared: Places | None = None) -> Endpoint:
    """Return the endpoint of a server declared as `host:port`; its login is where `declared` says.

    Without `declared` it is where the job's environment says. Raises ValueError about the login.
    """
    address, _, port = running.rpartition(":")
    return Endpoint(server, address, int(port), access_of(server, declared))


def private_file(file: Path, text: str) -> Path:
    """Write a file that only its owner can read, and return its path."""
    file.touch(mode=0o600)
    file.chmod(0o600)
    file.write_text(text, encoding="utf-8")
    return file
