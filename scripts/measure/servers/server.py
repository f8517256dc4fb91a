"""Start and stop a database server: in its own session, on a private socket, never outliving this process."""

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from scripts.lib.host import lifetime, usage, workplace
from scripts.lib.host.causes import FailedForCause, full_disk_in
from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.process import die_with_parent
from scripts.lib.vocabulary import FailureKind
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.families.option_rules import Options, plain_names

FIRST_COMPLAINTS, LAST_LINES = 5, 15


def since_start(log: Path) -> list[str]:
    """Return the lines of a log since the last start, an empty list without a log."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return ("\n" + text).rpartition("\n$ ")[2].splitlines()[1:]


def failure_message(program: Path, what: str, log: Path, family: Family) -> str:
    """Return a message about a failed server: `what`, its first complaint, its log; then complaints and last lines.

    A server that stops in an orderly way logs more after its complaint than fits into the last lines.
    """
    lines, why = since_start(log), complaint(program, log, family)
    last = lines[-LAST_LINES:] or ["(it logged nothing)"]
    complaints = filter(family.COMPLAINT.search, lines)
    earlier = [line for line in islice(complaints, FIRST_COMPLAINTS) if line not in last]
    head = f"{program.name} {what}{': ' if why else ''}{why}; its last lines (log: {log}):"
    return "\n".join([head, *earlier, *last])


def complaint(program: Path, log: Path, family: Family) -> str:
    """Return the first reason for its end that a server's log states; empty where it states none."""
    match = next(filter(None, map(family.COMPLAINT.search, since_start(log))), None)
    return next(filter(None, match.groups()), "").replace(f"{program}: ", "") if match else ""


def options_not_taken(log: Path, family: Family) -> Iterator[tuple[str, str]]:
    """Yield (option, text of the log) per option that the server ignores or gives another value."""
    for line in since_start(log):
        if match := family.NOT_TAKEN.search(line):
            words, *names = match.groups()
            yield next(filter(None, names)).replace("-", "_"), words


READY_WITHIN_S = 120
STOPPED_WITHIN_S, SLOWLY_STOPPED_WITHIN_S = 600, 7200


class ServerFailed(FailedForCause):
    """The server under test did not start, ended early, or did not stop cleanly; the text holds its last lines."""

    USUAL = FailureKind.SERVER


@dataclass(frozen=True)
class Server:
    """A started server: its process, command line, folder of sockets and log; `oom_kills` is the count at its start."""

    family: Family
    process: subprocess.Popen[bytes]
    command: list[str]
    sockets: Path
    log: Path
    oom_kills: int | None = field(default_factory=usage.oom_kills)

    def connect(self) -> Connection:
        """Open a connection of our own. Raises ServerFailed with the driver's message if that fails."""
        try:
            return self.family.connect(self.sockets)
        except Exception as error:  # each family's driver has its own errors
            raise self._failure(f"gave no connection ({error})") from error

    def stop(self, *, keep_data: bool, slow: bool = False) -> float:
        """Stop the server cleanly and wait for its end; returns the seconds from the request to the end.

        `keep_data`: its data directory is used again; `slow`: it finishes all work that it put off.
        Raises ServerFailed if it had ended before, ends with a status other than 0, or does not end in time.
        """
        if self.process.poll() is not None:
            raise self._failure(f"ended by itself with status {self.process.returncode}")
        with self.blamed("before it was asked to stop"), contextlib.closing(self.connect()) as connection:
            self.family.before_stop(connection, keep_data)
            if slow:
                self.family.before_slow_stop(connection)
        begin_s, within_s = time.monotonic(), STOPPED_WITHIN_S if not slow else SLOWLY_STOPPED_WITHIN_S
        self.process.send_signal(getattr(signal, self.family.STOP_SIGNAL))
        try:
            status = self.process.wait(timeout=within_s)
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"still ran {within_s} s after the request to stop") from error
        if status != 0:
            raise self._failure(f"ended with status {status} when asked to stop")
        return time.monotonic() - begin_s

    def wait_ready(self) -> None:
        """Wait until the server answers. Raises ServerFailed if it ends or takes more than 120 s."""
        deadline_s = time.monotonic() + READY_WITHIN_S
        while True:
            if self.process.poll() is not None:
                raise self._not_started()
            try:
                self.family.connect(self.sockets).close()
                return
            except Exception as error:  # each family's driver has its own errors for "not yet"
                if time.monotonic() > deadline_s:
                    raise self._failure(f"was not ready after {READY_WITHIN_S} s ({error})") from error
            time.sleep(0.02)

    def _not_started(self) -> ServerFailed:
        failure = self._failure(f"did not start: it ended with status {self.process.returncode}")
        # What is killed from outside says nothing about the next attempt.
        if failure.cause.of_host or self.process.returncode < 0:
            return failure
        statement = complaint(Path(self.command[0]), self.log, self.family)
        code = FailureKind.OPTION if self.family.OPTION_REFUSED.search(statement) else FailureKind.NOT_STARTED
        return ServerFailed(str(failure), code, statement)

    def demand_options(self, options: Options) -> None:
        """Raise ServerFailed naming each option whose value the server replaced, by its log."""
        stated = plain_names(options)
        refused = [
            f"options.{name}: {stated[name]!r}, but the server reports: {words}"
            for name, words in options_not_taken(self.log, self.family)
            if name in stated
        ]
        if refused:
            name = Path(self.command[0]).name
            changes = "; ".join(refused)
            raise ServerFailed(f"{name} did not take {changes} (log: {self.log})", FailureKind.VALUE, changes)

    @contextlib.contextmanager
    def blamed(self, when: str = "under load") -> Iterator[None]:
        """Turn any error of the body into ServerFailed if the server is dead, for then its death is the cause."""
        try:
            yield
        except Exception as error:
            # A dying server closes its connections a moment before it can be waited for.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=2)
            if self.process.poll() is None:
                raise
            cause = (str(error).splitlines() or [type(error).__name__])[0]
            raise self._failure(f"died with status {self.process.returncode} {when} ({cause})") from error

    def _failure(self, what: str) -> ServerFailed:
        """Return the failure with what the log says of it: only the log may tell that a disk is full."""
        code, before, now = None, self.oom_kills, usage.oom_kills()
        if before is not None and now is not None and (killed := now - before):
            what += f", after the kernel killed for lack of memory ({killed} in /proc/vmstat's oom_kill)"
            code = FailureKind.OUT_OF_MEMORY
        text = failure_message(Path(self.command[0]), what, self.log, self.family)
        return ServerFailed(text, full_disk_in(text) or code)


@contextlib.contextmanager
def running(
    family: Family,
    install: Path,
    data: Path,
    options: Options,
    log: Path,
    *,
    cpus: Sequence[int] | None = None,
    environment: dict[str, str] | None = None,
) -> Iterator[Server]:
    """Run a server on a data directory, on the given CPUs; afterwards none of its processes is left."""
    with workplace.socket_directory() as sockets, contextlib.ExitStack() as after_end:
        option_file = write_options(family, install, data.parent, options)
        family.fit_data(install, data, options)
        command = family.server_command(install, data, option_file, sockets)
        forget_unready = after_end.enter_context(_cleaned_up(family.clean_up_unready_command(data, option_file)))
        process = None
        try:
            with lifetime.signals_held():
                process = _start(command, data, log, cpus, environment)
            with lifetime.kill_group_at_death(process.pid):
                server = Server(family, process, command, sockets, log)
                server.wait_ready()
                server.demand_options({**options, **family.options_of_release(install, options)})
                after_end.enter_context(_cleaned_up(family.clean_up_command(process.pid, data)))
                forget_unready()
                try:
                    yield server
                finally:
                    # A server that restarted itself after a crash has other memory than at its start.
                    after_end.enter_context(_cleaned_up(family.clean_up_command(process.pid, data)))
        finally:
            if process is not None:
                _end(process)


@contextlib.contextmanager
def _cleaned_up(command: list[str]) -> Iterator[Callable[[], None]]:
    """Run a command on leaving the body, or when this process dies in it, unless the yielded function was called."""
    due = [command] if command else []
    spare = lifetime.run_at_death(command) if due else due.clear

    def forget() -> None:
        due.clear()
        spare()

    try:
        yield forget
    finally:
        # In a session of its own, which Ctrl-C does not reach.
        done = [subprocess.run(due_command, env=made_environment(), start_new_session=True) for due_command in due]
        if not any(ended.returncode for ended in done):
            forget()


def write_options(family: Family, install: Path, folder: Path, options: Options) -> Path:
    """Write the option file beside a data directory, as the installed release names options, and return its path.

    Raises ServerFailed naming each option by which the server would reach out of the data directory.
    """
    option_file = folder / "server.cnf"
    named = family.options_of_release(install, options)
    libraries = family.libraries(install / family.SERVER)
    refused = {name: family.refused_value(name, value, libraries) for name, value in named.items()}
    if reasons := [f"options.{name}: {named[name]!r} {reason}" for name, reason in refused.items() if reason]:
        raise ServerFailed(f"{install / family.SERVER} is not started: {'; '.join(reasons)}")
    option_file.write_text(family.option_text(named), encoding="utf-8")
    option_file.chmod(0o644)
    return option_file


def _start(
    command: list[str], data: Path, log: Path, cpus: Sequence[int] | None, environment: dict[str, str] | None
) -> subprocess.Popen[bytes]:
    def before_exec() -> None:
        die_with_parent(signal.SIGKILL)
        if cpus is not None:
            os.sched_setaffinity(0, cpus)

    with log.open("a", encoding="utf-8") as stream:
        # `since_start` looks for this line.
        stream.write(f"$ {shlex.join(command)}\n")
        stream.flush()
        return subprocess.Popen(
            command,
            cwd=data,
            env={"PATH": os.defpath, "LC_ALL": "C", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=before_exec,
            **workplace.server_identity(),
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the server's session and reap it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
