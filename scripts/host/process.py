"""Processes of the workflow: what an entry script promises its parent, and how commands are run and logged."""

import contextlib
import ctypes
import logging
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.host import lifetime

PR_SET_PDEATHSIG = 1


class CommandFailed(RuntimeError):
    """A command ended with a status other than 0; the text names it, its last lines and its log."""


@dataclass(frozen=True)
class Usage:
    """What the commands run so far cost: wall and CPU seconds, and the largest process in MiB."""

    wall_s: float
    cpu_s: float
    peak_rss_mib: float


def die_with_parent(signal_number: int = signal.SIGTERM) -> None:
    """Ask the kernel for a signal at the death of the parent (prctl(2), PR_SET_PDEATHSIG).

    The request is lost when credentials change, so a process that gives up root asks afterwards.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")


def last_lines(log: Path, count: int = 15) -> str:
    """Return the last lines of a log, or a note that it is empty."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return "\n".join(lines[-count:]) or "(the log is empty)"


def run(
    argv: Sequence[str | Path],
    log: Path,
    *,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    stdin: Path | None = None,
    identity: dict | None = None,
) -> Usage:
    """Run a command to its end with its output appended to `log`.

    `environment` is laid over this process's own; `identity` holds Popen's user and group arguments.
    Raises FileNotFoundError when the command is missing, CommandFailed with its last lines when its status is not 0.
    """
    command = [str(part) for part in argv]
    if "/" not in command[0] and not shutil.which(command[0], path=(environment or {}).get("PATH")):
        raise FileNotFoundError(f"command {command[0]} not found: install the package that has it (`make setup`)")
    with log.open("a", encoding="utf-8") as stream, open(stdin or os.devnull, "rb") as source:  # noqa: PTH123
        stream.write(f"$ {shlex.join(command)}\n")
        stream.flush()
        begin_s = time.monotonic()
        with (
            started(
                command,
                cwd=cwd,
                env={**os.environ, **(environment or {})},
                stdin=source,
                stdout=stream,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: die_with_parent(signal.SIGKILL),
                **(identity or {}),
            ) as process,
            lifetime.kill_group_at_death(process.pid),
        ):
            _, ended, usage = os.wait4(process.pid, 0)
            process.returncode = status = os.waitstatus_to_exitcode(ended)
    if status != 0:
        raise CommandFailed(f"{shlex.join(command[:4])} … ended with status {status}:\n{last_lines(log)}")
    return Usage(time.monotonic() - begin_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


@contextlib.contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen]:
    """Run a command, with Popen's `options`, in a session of its own; nothing of its group outlives the body."""
    process = None
    try:
        with lifetime.signals_held():
            process = subprocess.Popen(command, start_new_session=True, **options)
        yield process
    finally:
        if process is not None:
            with process:
                kill_group(process)


def kill_group(process: subprocess.Popen) -> None:
    """Kill a process that leads a session and all that is in its group; nothing is done once it was waited for."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def watchdog(process: subprocess.Popen, timeout_s: float) -> Iterator[threading.Event]:
    """Kill a process's group after `timeout_s`, unless the body is left before; the event says whether it did."""
    fired = threading.Event()

    def fire() -> None:
        fired.set()
        kill_group(process)

    timer = threading.Timer(timeout_s, fire)
    timer.daemon = True
    timer.start()
    try:
        yield fired
    finally:
        timer.cancel()


_log = logging.getLogger(__name__)

PROGRESS_S = 10
TOOL_TAIL_LINES = 12


class ToolError(RuntimeError):
    """A command that is missing or failed; the text names it and its last lines."""


def run_logged(argv: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """Run a command in `folder` and return its standard output; `environment` is laid over this process's own.

    Raises ToolError when the command is not there or its status is not 0.
    """
    if not shutil.which(argv[0]):
        raise ToolError(f"command {argv[0]} not found: install the package that has it (Debian: {package_of(argv[0])})")
    _log.debug("in %s: %s", folder, shlex.join(argv))
    with started(
        argv,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: die_with_parent(signal.SIGKILL),
    ) as process:
        output, errors = _tool_outcome(process, argv[0])
    lines = [line for line in (output + "\n" + errors).splitlines() if line.strip()]
    for line in lines:
        _log.debug("%s: %s", argv[0], line)
    if process.returncode:
        raise ToolError("\n".join([f"{shlex.join(argv)}: exit {process.returncode}", *lines[-TOOL_TAIL_LINES:]]))
    return output


def package_of(command: str) -> str:
    """Return the Debian package of a command that sources are fetched with."""
    return {"mvn": "maven"}.get(command, command)


def _tool_outcome(process: subprocess.Popen, name: str) -> tuple[str, str]:
    """Wait for a process, saying now and then that it still runs."""
    begin_s = time.monotonic()
    while True:
        try:
            output, errors = process.communicate(timeout=PROGRESS_S)
            return os.fsdecode(output), errors.decode(errors="replace")
        except subprocess.TimeoutExpired:
            _log.info("%s: still at it after %.0f s", name, time.monotonic() - begin_s)
