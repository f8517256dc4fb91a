"""Run a command: logged or captured, killed with this process, its cost measured."""

import contextlib
import ctypes
import logging
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypedDict, Unpack

from scripts.lib.host import lifetime
from scripts.lib.host.causes import FailedForCause, host_cause_in
from scripts.lib.host.made_environment import made_environment
from scripts.lib.vocabulary import FailureKind

_log = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
PROGRESS_S = 10
LAST_LINES = 15
SHOWN_CHARACTERS = 300
# By these, users, schedulers and a kernel short of memory end a program; one that crashes dies of others.
SIGNALS_FROM_OUTSIDE = {signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM}
# Packages of commands that only some kinds of sources need, where the names differ or the set-up leaves them out.
DEBIAN_PACKAGES = {"git": "git", "mvn": "maven"}


class CommandFailed(FailedForCause):
    """A command ended with a status other than 0; the text has its command line, the status and its last lines."""

    USUAL = FailureKind.COMMAND


class CommandKilled(CommandFailed):
    """A command was killed from outside: how it would have ended is not known."""

    USUAL = FailureKind.KILLED


@dataclass(frozen=True)
class Usage:
    """Cost of a command with its children: wall and CPU seconds, and the size of the largest process in MiB."""

    wall_s: float
    cpu_s: float
    peak_rss_mib: float


@dataclass(frozen=True)
class Finished:
    """A command that ended with status 0: its standard output, empty when it went to a log, and its cost."""

    output: str
    usage: Usage


class PopenOptions(TypedDict, total=False):
    """Arguments of Popen: where a process works, its streams, and what it does before it becomes the command."""

    cwd: Path | None
    stdin: int | IO[bytes]
    stdout: int | IO[bytes]
    stderr: int | IO[bytes]
    preexec_fn: Callable[[], None]


class OtherUser(TypedDict, total=False):
    """Arguments of Popen for a process that runs as another user; empty for one that does not."""

    user: int
    group: int
    extra_groups: list[int]


def die_with_parent(signal_number: int = signal.SIGTERM) -> None:
    """Ask the kernel for a signal at the death of the parent (prctl(2), PR_SET_PDEATHSIG).

    The request is lost when credentials change, so a process that gives up root asks afterwards.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")


def last_lines(log: Path, count: int = LAST_LINES) -> str:
    """Return the last lines of a log, or a note that it is empty."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return "\n".join(lines[-count:]) or "(the log is empty)"


def run(
    argv: Sequence[str | Path],
    log: Path | None = None,
    *,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    stdin: Path | None = None,
    identity: OtherUser | None = None,
    progress: Callable[[str], bool] | None = None,
    started_by: Sequence[str] = (),
) -> Finished:
    """Run a command to its end in a process group that never outlives this process.

    With `log`, its output is appended there. Without, its standard output is returned and each line goes to `logging`,
    except for the lines that `progress` takes, by returning True.
    It has the made environment of `made_environment`, `environment` over it, and nothing else of this process's own;
    `identity` holds Popen's user and group arguments; `started_by` are words that start the command, such as
    `kept.keeping()`, and stand in no message.
    Raises FileNotFoundError when the command is missing, CommandFailed with its last lines when its status is not 0,
    CommandKilled when a signal from outside ended it.
    """
    command = [str(part) for part in argv]
    _require_command(command[0], (environment or {}).get("PATH"))
    _note(command, log, cwd)
    with (
        log.open("ab") if log else tempfile.TemporaryFile() as text,
        open(stdin or os.devnull, "rb") as source,  # noqa: PTH123
        started(
            [*started_by, *command],
            env=made_environment(**(environment or {})),
            cwd=cwd,
            stdin=source,
            stdout=text if log else subprocess.PIPE,
            stderr=subprocess.STDOUT if log else text,
            preexec_fn=lambda: die_with_parent(signal.SIGKILL),
            identity=identity,
        ) as process,
        lifetime.kill_group_at_death(process.pid),
    ):
        begin_s = time.monotonic()
        output = "" if log else _read_output(process, command[0], progress)
        _, ended, usage = os.wait4(process.pid, 0)
        process.returncode = status = os.waitstatus_to_exitcode(ended)
        wall_s = time.monotonic() - begin_s
        lines = last_lines(log) if log else _last_of(output + _logged_errors(text, command[0]))
    if status != 0:
        raise _failure(command, status, lines)
    return Finished(output, Usage(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))


def output_of(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    stdin: str | None = None,
    timeout_s: float | None = None,
) -> str:
    """Return what a short command prints on standard output, for example a tool's answer to `--version`.

    Its environment is made as that of `run`. Raises FileNotFoundError when the command is missing, CommandFailed with
    its last lines when its status is not 0, CommandKilled when a signal from outside ended it,
    subprocess.TimeoutExpired after `timeout_s`.
    """
    command = [str(part) for part in argv]
    _require_command(command[0], (environment or {}).get("PATH"))
    done = subprocess.run(
        command,
        cwd=cwd,
        env=made_environment(**(environment or {})),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
        **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
    )
    if done.returncode != 0:
        raise _failure(command, done.returncode, _last_of(f"{done.stdout}\n{done.stderr}"))
    return done.stdout


def _require_command(name: str, search_path: str | None) -> None:
    if "/" not in name and not shutil.which(name, path=search_path):
        package = f"; on Debian: {DEBIAN_PACKAGES[name]}" if name in DEBIAN_PACKAGES else ""
        raise FileNotFoundError(f"command {name} not found: install the package that has it (`make setup`{package})")


def _note(command: list[str], log: Path | None, cwd: Path | None) -> None:
    """Write the command line to its log, or to `logging`."""
    if log:
        with log.open("a", encoding="utf-8", errors="surrogateescape") as text:
            text.write(f"$ {shlex.join(command)}\n")
    else:
        _log.debug("in %s: %s", cwd or Path.cwd(), shlex.join(command))


def _read_output(process: subprocess.Popen[bytes], name: str, progress: Callable[[str], bool] | None) -> str:
    """Return the standard output of a process without the lines that `progress` takes."""
    lines = []
    with contextlib.nullcontext() if progress else _reported_as_running(name):
        for line in map(os.fsdecode, process.stdout or ()):
            if not (progress and progress(line)):
                lines.append(line)
                _log.debug("%s: %s", name, line.rstrip("\n"))
    return "".join(lines)


@contextlib.contextmanager
def _reported_as_running(name: str) -> Iterator[None]:
    """Log every PROGRESS_S that the command still runs."""
    has_ended, begin_s = threading.Event(), time.monotonic()

    def report() -> None:
        while not has_ended.wait(PROGRESS_S):
            _log.info("%s: still running after %.0f s", name, time.monotonic() - begin_s)

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        has_ended.set()
        reporter.join()


def _logged_errors(errors: IO[bytes], name: str) -> str:
    """Return what a command wrote to standard error, after logging it."""
    errors.seek(0)
    text = errors.read().decode(errors="replace")
    for line in text.splitlines():
        _log.debug("%s: %s", name, line)
    return f"\n{text}"


def _last_of(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-LAST_LINES:]) or "(no output)"


def _failure(command: list[str], status: int, lines: str) -> CommandFailed:
    shown = shlex.join(command)
    if len(shown) > SHOWN_CHARACTERS:
        shown = f"{shlex.join(command[:4])[:SHOWN_CHARACTERS]} …"
    if -status in SIGNALS_FROM_OUTSIDE:
        return CommandKilled(f"{shown} was killed by {signal.Signals(-status).name}:\n{lines}")
    return CommandFailed(f"{shown} ended with status {status}:\n{lines}", host_cause_in(lines))


@contextlib.contextmanager
def started(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    pass_fds: tuple[int, ...] = (),
    identity: OtherUser | None = None,
    **options: Unpack[PopenOptions],
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command in the environment `env`, with Popen's `options`, in its own session.

    Its process group is killed on leaving the body.
    """
    process = None
    try:
        with lifetime.signals_held():
            process = subprocess.Popen(
                command, env=env, start_new_session=True, pass_fds=pass_fds, **options, **(identity or {})
            )
        yield process
    finally:
        if process is not None:
            with process:
                kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a session's leader and its process group, unless the leader was already waited for."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def watchdog(end: Callable[[], None], timeout_s: float) -> Iterator[threading.Event]:
    """Call `end`, which ends a process, when the body takes longer than `timeout_s`; the event is set when it was."""
    fired = threading.Event()

    def fire() -> None:
        fired.set()
        end()

    timer = threading.Timer(timeout_s, fire)
    timer.daemon = True
    timer.start()
    try:
        yield fired
    finally:
        timer.cancel()
