"""Processes of the workflow: what an entry script promises its parent, and how commands are run and logged."""

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import guard, leaving

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


def become_entry_script() -> None:
    """Tie this process to its parent and turn INT, TERM and HUP into SystemExit, so that `finally` runs.

    Under the workflow, which tells its process id in WORKFLOW_PID, a job whose parent died before this ends as well.
    """
    parent = int(os.environ.get("WORKFLOW_PID", os.getppid()))
    die_with_parent()
    leaving.heed()
    if os.getppid() != parent:
        raise SystemExit(128 + signal.SIGTERM)


@contextlib.contextmanager
def entry(log: Path) -> Iterator[None]:
    """Run the body of an entry script: tied to its parent, errors as one sentence that ends with the log's name."""
    become_entry_script()
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except (subprocess.SubprocessError, ValueError, OSError, RuntimeError) as error:
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"\nERROR {type(error).__name__}: {error}\n")
        # What fails while a job leaves, or because its group was struck with it, is not why it ends.
        leaving.if_told()
        say(f"{error}\n(log: {log})")
        raise SystemExit(1) from error
    # What is made is made: a signal while Python ends must not have Snakemake take it for unfinished.
    leaving.heed_no_more()


@contextlib.contextmanager
def user_command() -> Iterator[None]:
    """Run the body of a command that a user types: what is wrong is told in its own words, with status 1."""
    try:
        yield
    except (ValueError, OSError) as error:
        say(str(error))
        raise SystemExit(1) from error


def say(text: str) -> None:
    """Tell the user one thing, on standard error."""
    sys.stderr.write(text.rstrip("\n") + "\n")
    sys.stderr.flush()


def tell_wait(holders: tuple[int, ...]) -> None:
    """Tell that the machine is not free, and who has it."""
    say(f"waiting for this machine: processes {', '.join(map(str, holders)) or 'unknown'} measure or compile on it")


def started_s() -> float:
    """Return when this process began, in seconds since the epoch (Python's own start included)."""
    fields = Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
    boot_s = next(
        float(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime")
    )
    uptime_s = float(Path("/proc/uptime").read_text().split()[0])
    age_s = uptime_s - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return max(time.time() - age_s, boot_s)


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
            guard.group(process.pid),
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
        with leaving.held():
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
