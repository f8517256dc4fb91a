"""What processes have used so far, with their descendants, those that have ended included."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import psutil


@dataclass(frozen=True)
class ProcessTimes:
    """What a process and its descendants have used, those already ended and waited for included.

    Context switches are those of the threads alive now, of so many `processes`. None: the system does not let us read
    it.
    """

    processes: int
    user_s: float
    system_s: float
    context_switches: int | None
    read_bytes: int | None
    write_bytes: int | None


def process_times(pid: int) -> ProcessTimes:
    """Add up a process, its descendants, and what they have waited for (proc_pid_stat(5), cutime and cstime).

    A process that ends while we look would be counted twice or not at all, so the look is repeated until the ended
    ones' time stands still.
    """
    main = psutil.Process(pid)
    for _ in range(5):
        before = main.cpu_times()
        family = [main, *main.children(recursive=True)]
        times = [found for process in family if (found := _cpu_times(process))]
        after = main.cpu_times()
        if (before.children_user, before.children_system) == (after.children_user, after.children_system):
            break
    return ProcessTimes(
        processes=len(times),
        user_s=sum(each.user + each.children_user for each in times),
        system_s=sum(each.system + each.children_system for each in times),
        context_switches=_sum(_context_switches(process.pid) for process in family),
        read_bytes=_sum(_io_bytes(process.pid, "read_bytes") for process in family),
        write_bytes=_sum(_io_bytes(process.pid, "write_bytes") for process in family),
    )


def together(every: Sequence[ProcessTimes]) -> ProcessTimes:
    """Return what several processes have used in all."""
    names = [each.name for each in fields(ProcessTimes)]
    return ProcessTimes(**{name: _sum(getattr(times, name) for times in every) for name in names})


def _cpu_times(process: psutil.Process):
    try:
        return process.cpu_times()
    except psutil.NoSuchProcess:
        return None


def _context_switches(pid: int) -> int | None:
    # The counters in /proc/PID/status are the first thread's alone.
    texts = [_proc_text(status) for status in Path(f"/proc/{pid}/task").glob("*/status")]
    if None in texts:
        return None
    return sum(int(count) for text in texts for count in re.findall(r"voluntary_ctxt_switches:\t(\d+)", text))


def _io_bytes(pid: int, name: str) -> int | None:
    # The bytes of ended and waited-for children are in their parent's count already.
    text = _proc_text(Path(f"/proc/{pid}/io"))
    if text is None:
        return None
    match = re.search(rf"^{name}: (\d+)$", text, re.MULTILINE)
    return int(match[1]) if match else 0


def _proc_text(path: Path) -> str | None:
    """Return a file of /proc: empty when its process has ended, None when it may not be read."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    except OSError:
        return None


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(known)
