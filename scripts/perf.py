"""Where a server's CPU time goes: perf's samples of its call stacks, counted by stack."""

import itertools
import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.process import last_lines
from scripts.tracer import ToolFailed

FREQUENCY_HZ = 99
# Of each thread's stack, kept with a sample: servers are compiled without frame pointers, so perf unwinds by the
# unwind tables every program has. MySQL's parser alone has 10 KiB of locals.
STACK_BYTES = 16384
HEAD = re.compile(r"(?P<command>\S.*?)\s+(?P<thread>\d+)\s+(?P<event>\S+):\s*$")
FRAME = re.compile(r"\s+[0-9a-f]+ (?P<symbol>.*) \((?P<module>[^()]*|\[[^\]]*\]|.* \(deleted\))\)$")
KERNEL = "kernel"
UNKNOWN = "[unknown]"
Frame = tuple[str, str]  # function, module
Stack = tuple[Frame, ...]  # the outermost call first


def record_command(pids: Sequence[int], data: Path) -> list[str]:
    """Return the command that samples processes until it is told to stop; perf chooses the best event it may use."""
    return [
        "perf",
        "record",
        f"--freq={FREQUENCY_HZ}",
        f"--call-graph=dwarf,{STACK_BYTES}",
        "--no-buildid-cache",
        f"--pid={','.join(map(str, pids))}",
        f"--output={data}",
    ]


def script_command(data: Path) -> list[str]:
    """Return the command that writes samples as text; inlined functions stay within their callers."""
    return ["perf", "script", f"--input={data}", "--force", "--no-inline", "--fields=comm,tid,event,ip,sym,dso"]


def read(data: Path, log: Path) -> dict[str, Any]:
    """Return perf's samples as facts, see `told`. Raises ToolFailed with its last lines when there are none."""
    with log.open("a", encoding="utf-8") as errors:
        process = subprocess.Popen(
            script_command(data),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "LC_ALL": "C", "DEBUGINFOD_URLS": ""},
            text=True,
            errors="replace",
        )
        with process:
            stacks, event = counted(process.stdout)
    if process.returncode != 0 or not stacks:
        said = f"{sum(stacks.values())} samples, status {process.returncode}: {last_lines(log, 4)}"
        raise ToolFailed(f"{shlex.join(script_command(data))} gave {said}")
    return told(stacks, event)


def counted(lines: Iterable[str]) -> tuple[Counter[Stack], str]:
    """Count the stacks in the text of `perf script --fields=comm,tid,event,ip,sym,dso`, and tell the event.

    A sample is a line with command, thread and event, then a line a frame, innermost first, then an empty one. Its
    stack begins with the command's name, which servers give to kinds of threads. A sample without frames, which perf
    writes when it could read no stack, counts for its command.
    """
    found: Counter[Stack] = Counter()
    frames, command, event = [], None, ""
    for line in itertools.chain(lines, [""]):
        if not line.strip():
            if command is not None:
                found[((command, ""), *_without_repeats(reversed(frames)))] += 1
            frames, command = [], None
        elif command is not None and (frame := FRAME.match(line.rstrip("\n"))):
            frames.append(_named(frame["symbol"], frame["module"]))
        elif head := HEAD.match(line):
            command, event = head["command"], head["event"]
    return found, event


def _named(symbol: str, module: str) -> Frame:
    """Return function and module of a frame; an unknown function has its module's name."""
    place = KERNEL if module.startswith("[") and module != UNKNOWN else Path(module.removesuffix(" (deleted)")).name
    return (f"[{place}]" if symbol == UNKNOWN and place != UNKNOWN else symbol, place)


def _without_repeats(frames: Iterable[Frame]) -> Iterable[Frame]:
    """Leave out the second of two equal unknown frames: what is unknown says nothing twice."""
    last = None
    for frame in frames:
        if frame != last or not frame[0].startswith("["):
            yield frame
        last = frame


def told(stacks: Counter[Stack], event: str) -> dict[str, Any]:
    """Return facts: `event`, `frequency_hz`, `frames` (function, module), and `stacks`, counts by numbers of frames.

    The numbers of a stack stand in one text, outermost first; numbers of frames begin with 0.
    """
    frames = list(dict.fromkeys(frame for stack in stacks for frame in stack))
    numbers = {frame: str(number) for number, frame in enumerate(frames)}
    kept = {" ".join(numbers[frame] for frame in stack): count for stack, count in stacks.most_common()}
    return {"event": event, "frequency_hz": FREQUENCY_HZ, "frames": frames, "stacks": kept}
