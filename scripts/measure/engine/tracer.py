"""A program that attaches to a running server for a while, such as perf or strace."""

import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import psutil

from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.process import die_with_parent, kill_group, last_lines
from scripts.lib.json_record import Json

FINISHED_WITHIN_S = 120
# Exit statuses after SIGINT: strace and perf end by the signal itself.
STOPPED = (0, 128 + signal.SIGINT, -signal.SIGINT)
PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
PERF_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


class ToolFailed(RuntimeError):
    """A tool cannot be used on this machine; the message has the cause and a remedy."""


def reason_missing(program: str, package: str) -> str | None:
    """Return a message if a program is not on PATH, None if it is."""
    path = shutil.which(program)
    return None if path else f"{program} is not installed here (Debian: package {package}), so nothing was looked at"


class Tracer:
    """A program that is attached to the processes of a server; `command` takes their ids, `log` gets its messages."""

    def __init__(self, command: Callable[[Sequence[int]], list[str]], log: Path, cpus: Sequence[int]) -> None:
        self.command = command
        self.log = log
        self.cpus = cpus
        self.process: subprocess.Popen[bytes] | None = None
        self.argv: list[str] = []

    def begin(self, server_pid: int) -> None:
        """Attach to a server's process and its current descendants."""
        server = psutil.Process(server_pid)
        self.argv = self.command([server_pid, *(child.pid for child in server.children(recursive=True))])

        def before_exec() -> None:
            die_with_parent(signal.SIGKILL)
            # A shell starts background jobs with SIGINT ignored, and children inherit that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.sched_setaffinity(0, self.cpus)

        with self.log.open("w", encoding="utf-8") as stream:
            self.process = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=made_environment(DEBUGINFOD_URLS=""),
                start_new_session=True,
                preexec_fn=before_exec,
            )

    def end(self) -> None:
        """Request the program to detach; `finish` waits for it."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def finish(self) -> None:
        """Wait until the program ends. Raises ToolFailed with its last lines if it failed."""
        if self.process is None:
            raise ToolFailed("the load ended before it began")
        try:
            status = self.process.wait(FINISHED_WITHIN_S)
        except subprocess.TimeoutExpired:
            raise ToolFailed(self._failure_text(f"still ran {FINISHED_WITHIN_S} s after its stop signal")) from None
        if status not in STOPPED:
            raise ToolFailed(self._failure_text(f"ended with status {status}"))

    def close(self) -> None:
        """Kill the program and its children if they still run."""
        if self.process is not None:
            kill_group(self.process)
            self.process.wait()

    def _failure_text(self, what: str) -> str:
        context = f"{self._kernel_setting()}; command: {shlex.join(self.argv)}"
        return f"{self.argv[0]} {what}: {last_lines(self.log, 4)}\n({context})"

    def _kernel_setting(self) -> str:
        """Return a text about the kernel setting that can prevent the program from attaching."""
        file = PERF_PARANOID if self.argv[0] == "perf" else PTRACE_SCOPE
        value = file.read_text().strip() if file.exists() else "not there"
        name = f"{file.parent.name}.{file.name}"
        return f"kernel setting {name} is {value}; as root, or where it is 0, it attaches to any process"


FREQUENCY_HZ = 99
# Bytes of each thread's stack that a sample keeps. Servers are compiled without frame pointers, so perf unwinds by
# the unwind tables of the program. MySQL's parser alone has 10 KiB of locals.
STACK_BYTES = 16384
PERF_HEAD = re.compile(r"(?P<command>\S.*?)\s+(?P<thread>\d+)\s+(?P<event>\S+):\s*$")
PERF_FRAME = re.compile(r"\s+[0-9a-f]+ (?P<symbol>.*) \((?P<module>[^()]*|\[[^\]]*\]|.* \(deleted\))\)$")
KERNEL_MODULE = "kernel"
UNKNOWN_FRAME = "[unknown]"
Frame = tuple[str, str]  # function, module
Stack = tuple[Frame, ...]  # the outermost call first


def perf_record_command(pids: Sequence[int], data: Path) -> list[str]:
    """Return the command that samples processes until SIGINT; perf chooses the best event it may use."""
    how = [f"--freq={FREQUENCY_HZ}", f"--call-graph=dwarf,{STACK_BYTES}", "--no-buildid-cache"]
    return ["perf", "record", *how, f"--pid={','.join(map(str, pids))}", f"--output={data}"]


def perf_script_command(data: Path) -> list[str]:
    """Return the command that writes samples as text; inlined functions count for their callers."""
    return ["perf", "script", f"--input={data}", "--force", "--no-inline", "--fields=comm,tid,event,ip,sym,dso"]


def read_stacks(data: Path, log: Path) -> dict[str, Json]:
    """Return perf's samples as facts, see `stack_facts`. Raises ToolFailed with perf's last lines if there are none."""
    with log.open("a", encoding="utf-8") as errors:
        process = subprocess.Popen(
            perf_script_command(data),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=made_environment(DEBUGINFOD_URLS=""),
            text=True,
            errors="replace",
        )
        with process:
            assert process.stdout is not None
            stacks, event = count_stacks(process.stdout)
    if process.returncode != 0 or not stacks:
        result = f"{sum(stacks.values())} samples, status {process.returncode}: {last_lines(log, 4)}"
        raise ToolFailed(f"{shlex.join(perf_script_command(data))} gave {result}")
    return stack_facts(stacks, event)


def count_stacks(lines: Iterable[str]) -> tuple[Counter[Stack], str]:
    """Return counts per stack in the output of `perf script --fields=comm,tid,event,ip,sym,dso`, and the event's name.

    A sample is a line with command, thread and event, then one line per frame, innermost first, then an empty line. Its
    stack begins with the name of the command; servers name their kinds of threads so. A sample without frames, which
    perf writes if it could not read the stack, counts for its command.
    """
    counts: Counter[Stack] = Counter()
    frames: list[tuple[str, str]] = []
    command, event = None, ""
    for line in itertools.chain(lines, [""]):
        if not line.strip():
            if command is not None:
                counts[((command, ""), *_without_repeats(reversed(frames)))] += 1
            frames, command = [], None
        elif command is not None and (frame := PERF_FRAME.match(line.rstrip("\n"))):
            frames.append(_named(frame["symbol"], frame["module"]))
        elif head := PERF_HEAD.match(line):
            command, event = head["command"], head["event"]
    return counts, event


def _named(symbol: str, module: str) -> Frame:
    """Return (function, module) of a frame; an unknown function is named after its module."""
    origin = (
        KERNEL_MODULE
        if module.startswith("[") and module != UNKNOWN_FRAME
        else Path(module.removesuffix(" (deleted)")).name
    )
    return (f"[{origin}]" if symbol == UNKNOWN_FRAME and origin != UNKNOWN_FRAME else symbol, origin)


def _without_repeats(frames: Iterable[Frame]) -> Iterable[Frame]:
    """Yield the frames, with runs of the same unknown frame reduced to one."""
    last = None
    for frame in frames:
        if frame != last or not frame[0].startswith("["):
            yield frame
        last = frame


def stack_facts(stacks: Counter[Stack], event: str) -> dict[str, Json]:
    """Return facts: `event`, `frequency_hz`, `frames` (function, module), and `stacks` (stack -> count).

    A stack is a text with the indices of its frames, from 0, separated by spaces, outermost first.
    """
    frames = list(dict.fromkeys(frame for stack in stacks for frame in stack))
    numbers = {frame: str(number) for number, frame in enumerate(frames)}
    counts: dict[str, Json] = {
        " ".join(numbers[frame] for frame in stack): count for stack, count in stacks.most_common()
    }
    return {"event": event, "frequency_hz": FREQUENCY_HZ, "frames": [[*frame] for frame in frames], "stacks": counts}


# System calls by which a server waits until written data is on the medium.
SYNCING = ("fsync", "fdatasync", "msync", "sync_file_range")
SUMMARY_ROW = re.compile(
    r"^ *[\d.]+ +(?P<seconds>[\d.]+) +\d+ +(?P<calls>\d+) +(?:(?P<errors>\d+) +)?(?P<name>[a-z_]\w*)$", re.M
)
# The end of a call. strace splits a call in two lines if another thread interrupts it; the second has the time.
TIMED = re.compile(rf"\b({'|'.join(SYNCING)})(?:\(| resumed>).*<(\d+\.\d+)>$")


def summary_command(pids: Sequence[int], output: Path) -> list[str]:
    """Return the command that counts all system calls until SIGINT."""
    return _command(["-c"], pids, output)


def syncs_command(pids: Sequence[int], output: Path) -> list[str]:
    """Return the command that times every system call in SYNCING until SIGINT."""
    return _command(["-T", "-e", f"trace={','.join(SYNCING)}"], pids, output)


def _command(how: list[str], pids: Sequence[int], output: Path) -> list[str]:
    attached = [f"-p{pid}" for pid in pids]
    return ["strace", *how, "-f", "-qq", "-e", "signal=none", "-o", str(output), *attached]


def read_summary(text: str) -> dict[str, Json]:
    """Return `calls`, one row per system call with name, calls, errors and system_s, from the output of `strace -c`.

    Raises ToolFailed if no call was counted.
    """
    rows: list[Json] = [
        {
            "name": row["name"],
            "calls": int(row["calls"]),
            "errors": int(row["errors"] or 0),
            "system_s": float(row["seconds"]),
        }
        for row in SUMMARY_ROW.finditer(text)
        if row["name"] != "total"
    ]
    if not rows:
        raise ToolFailed(f"strace counted no system call: {text[-400:].strip() or '(its output is empty)'}")
    return {"calls": rows}


def read_syncs(lines: Iterable[str]) -> dict[str, Json]:
    """Return `syncs`, per system call the lists `duration_us` and `count`, from the output of `strace -T`.

    Durations are rounded to three significant digits and ascend; `count` is the number of calls per duration.
    """
    calls: dict[str, Counter[int]] = {}
    for line in lines:
        if match := TIMED.search(line.rstrip("\n")):
            calls.setdefault(match[1], Counter())[_rounded(float(match[2]) * 1e6)] += 1
    return {
        "syncs": {
            name: {"duration_us": [*sorted(counts)], "count": [counts[value] for value in sorted(counts)]}
            for name, counts in calls.items()
        }
    }


def _rounded(microseconds: float) -> int:
    return int(float(f"{microseconds:.3g}"))
