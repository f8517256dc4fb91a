"""A program that attaches to a running server for a while, such as perf or strace."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from scripts.process import die_with_parent, kill_group, last_lines

FINISHED_WITHIN_S = 120
# What a program that was told to stop may end with: strace and perf end by the signal themselves.
STOPPED = (0, 128 + signal.SIGINT, -signal.SIGINT)
PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
PERF_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


class ToolFailed(RuntimeError):
    """A tool that looks into the server cannot be used here; the text says why and what would help."""


def missing(program: str, package: str) -> str | None:
    """Return why a program cannot be used when this machine does not have it."""
    found = shutil.which(program)
    return None if found else f"{program} is not installed here (Debian: package {package}), so nothing was looked at"


class Tracer:
    """A program to be attached to the processes of a server, its command made from their ids; `log` takes its words."""

    def __init__(self, command: Callable[[Sequence[int]], list[str]], log: Path, cpus: Sequence[int]) -> None:
        self.command = command
        self.log = log
        self.cpus = cpus
        self.process: subprocess.Popen | None = None
        self.argv: list[str] = []

    def begin(self, server_pid: int) -> None:
        """Attach to a server's process and its descendants, which are there now."""
        server = psutil.Process(server_pid)
        self.argv = self.command([server_pid, *(child.pid for child in server.children(recursive=True))])

        def before_exec() -> None:
            die_with_parent(signal.SIGKILL)
            # A shell starts what it puts into the background with SIGINT ignored, and that is inherited.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.sched_setaffinity(0, self.cpus)

        with self.log.open("w", encoding="utf-8") as stream:
            self.process = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C", "DEBUGINFOD_URLS": ""},
                start_new_session=True,
                preexec_fn=before_exec,
            )

    def end(self) -> None:
        """Ask it to detach; `finish` waits for that."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def finish(self) -> None:
        """Wait for its end. Raises ToolFailed with its last lines when it could not do its work."""
        if self.process is None:
            raise ToolFailed("the load ended before it began")
        try:
            status = self.process.wait(FINISHED_WITHIN_S)
        except subprocess.TimeoutExpired:
            raise ToolFailed(self._story(f"still ran {FINISHED_WITHIN_S} s after it was told to stop")) from None
        if status not in STOPPED:
            raise ToolFailed(self._story(f"ended with status {status}"))

    def close(self) -> None:
        """Kill what is left of it."""
        if self.process is not None:
            kill_group(self.process)
            self.process.wait()

    def _story(self, what: str) -> str:
        return f"{self.argv[0]} {what}: {last_lines(self.log, 4)}\n({self._rights()}; command: {shlex.join(self.argv)})"

    def _rights(self) -> str:
        """Tell the kernel's settings that keep such programs from working."""
        file = PERF_PARANOID if self.argv[0] == "perf" else PTRACE_SCOPE
        value = file.read_text().strip() if file.exists() else "not there"
        name = f"{file.parent.name}.{file.name}"
        return f"kernel setting {name} is {value}; as root, or where it is 0, it attaches to any process"
