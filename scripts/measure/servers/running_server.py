"""A server that already runs, in the place of one that the workflow started: it is only connected to."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scripts.lib.host.causes import FailedForCause, full_disk_in
from scripts.measure.servers.endpoint import Endpoint, private_file
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.server import ServerFailed

LOGIN_FILE = "sysbench.cnf"


@dataclass(frozen=True)
class RunningServer:
    """A server that already runs: its family, with the database to work in, and how it is reached.

    `folder` is private to us and holds what sysbench and its driver read: login and TLS.
    """

    family: Family
    endpoint: Endpoint
    folder: Path
    command: list[str] = field(default_factory=list)

    @property
    def sysbench_flags(self) -> list[str]:
        """Return sysbench's connection options; user and password are in a file of mode 0600 that one of them names."""
        login = private_file(self.folder / LOGIN_FILE, self.family.login_text(self.endpoint))
        return [*self.family.reached_flags(self.endpoint), f"--config-file={login}"]

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of sysbench, by which its driver checks the server's certificate."""
        return self.family.reached_environment(self.endpoint, self.folder)

    def connect(self) -> Connection:
        """Open a connection of our own. Raises ServerFailed with the driver's message, without user and password."""
        try:
            return self.family.reach(self.endpoint)
        except Exception as error:  # each family's driver has its own errors
            hidden = self.endpoint.hidden(str(error))
            text = f"{self.endpoint.server} gave no connection ({type(error).__name__}: {hidden})"
            raise ServerFailed(text, full_disk_in(text)) from None

    @contextlib.contextmanager
    def blamed(self, when: str = "under load") -> Iterator[None]:
        """Turn any error of the body into ServerFailed if the server gives no connection any more.

        No error keeps user and password in its text, nor another error that has them behind it.
        """
        try:
            yield
        except ServerFailed:
            raise
        except Exception as error:
            text = self.endpoint.hidden(str(error))
            try:
                self.connect().close()
            except ServerFailed as gone:
                first = text.splitlines()[0] if text else type(error).__name__
                raise gone.reworded(f"{gone} {when} ({first})") from None
            if isinstance(error, FailedForCause):
                raise error.reworded(text) from None
            kind = type(error) if isinstance(error, (ValueError, RuntimeError)) else RuntimeError
            raise kind(text) from None
