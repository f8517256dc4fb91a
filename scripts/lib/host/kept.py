"""Start a program that may leave processes behind, such as sysbench with a script: all of them end with it."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Unpack

from scripts.lib.host import pausing
from scripts.lib.host import process as host_process

KEEPER = Path(__file__).with_name("keeper.py")
KEEPER_ENDS_S = 20


@dataclass(frozen=True)
class Kept:
    """A running program: its process number, and the process of its keeper, which ends as the program does."""

    program: int
    keeper: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        """The process number of the keeper, above the program and all that it starts."""
        return self.keeper.pid

    @property
    def stdout(self) -> IO[bytes] | None:
        """The pipe with what the program prints; None where it prints to a file."""
        return self.keeper.stdout

    def poll(self) -> int | None:
        """Return the status with which the program ended, None while it or what it left behind runs."""
        return self.keeper.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Return the status with which the program ended. Raises subprocess.TimeoutExpired."""
        return self.keeper.wait(timeout)

    def end_helpers(self) -> None:
        """End what the program has started, not the program."""
        if self.poll() is None:
            pausing.signal_all(pausing.descendants(self.program)[1:], signal.SIGKILL)

    def end(self) -> None:
        """End the program and all that it left behind."""
        if self.poll() is not None:
            return
        self.keeper.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(KEEPER_ENDS_S)


@contextlib.contextmanager
def started(
    command: Sequence[str], *, env: Mapping[str, str], **options: Unpack[host_process.PopenOptions]
) -> Iterator[Kept]:
    """Start a program, with Popen's `options`, in a session of its own; it and all below it end with the body.

    They end as well when the thread that started it does. Raises FileNotFoundError when the program cannot be run.
    """
    read, write = os.pipe()
    with open(read, "rb") as reported, contextlib.ExitStack() as stack:  # noqa: PTH123
        try:
            argv = [*keeping(write), *command]
            keeper = stack.enter_context(host_process.started(argv, env=env, pass_fds=(write,), **options))
        finally:
            os.close(write)
        if not (pid := reported.read()):
            raise FileNotFoundError(f"{command[0]}: its keeper ended with status {keeper.wait()} before it started it")
        program = Kept(int(pid), keeper)
        stack.callback(program.end)
        yield program


def keeping(handle: int = 0) -> list[str]:
    """Return the words before a command that end what it leaves behind; `handle` above 0 gets its process number."""
    return [sys.executable, "-I", "-S", str(KEEPER), str(handle)]
