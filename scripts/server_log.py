"""What a server said since its last start: why it ended, its last lines, and which options it did not take."""

from collections.abc import Iterator
from pathlib import Path

from scripts.families import Family

FIRST_COMPLAINTS, LAST_LINES = 5, 15


def opening(command: str) -> str:
    """Return the line that a server's log begins with at each start."""
    return f"$ {command}\n"


def since_start(log: Path) -> list[str]:
    """Return the lines since the last start, an empty list when there is no log."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return ("\n" + text).rpartition("\n$ ")[2].splitlines()[1:]


def story(program: Path, what: str, log: Path, family: Family) -> str:
    """Tell what became of a server: `what`, its first complaint, its log; then its complaints and its last lines.

    Servers that stop in an orderly way say more after their complaint than fits into the last lines.
    """
    lines = since_start(log)
    found = [(line, told) for line in lines if (told := family.COMPLAINT.search(line))]
    why = next(filter(None, found[0][1].groups()), "").replace(f"{program}: ", "") if found else ""
    last = lines[-LAST_LINES:] or ["(it said nothing)"]
    earlier = [line for line, _ in found[:FIRST_COMPLAINTS] if line not in last]
    head = f"{program.name} {what}{': ' if why else ''}{why}; its last lines (log: {log}):"
    return "\n".join([head, *earlier, *last])


def not_taken(log: Path, family: Family) -> Iterator[tuple[str, str]]:
    """Yield (option, the server's words) of each option that the server runs without, or with another value."""
    for line in since_start(log):
        if told := family.NOT_TAKEN.search(line):
            words, *names = told.groups()
            yield next(filter(None, names)).replace("-", "_"), words
