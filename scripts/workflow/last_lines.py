"""The last lines on the terminal: the answer of a finished study, from its summary."""

import html
import re
from pathlib import Path

ESCAPED = re.compile(r"\\([\\`*_|\[\]#~$+=.)-])")
END = re.compile(r"^\\\* ")  # the legend of the table closes what is shown
FIELDS = re.compile(r"(?<!\\)\|")


def last_lines(summary: Path) -> str:
    """Return title, answer, doubts, machine and table of a summary as plain text; empty without a summary."""
    if not summary.is_file():
        return ""
    lines = summary.read_text(encoding="utf-8").splitlines()
    end = next((number for number, line in enumerate(lines) if END.match(line)), -1)
    shown = [line for line in lines[: end + 1] if not line.startswith("|---")]
    table = [[_plain(field).strip() for field in FIELDS.split(line)[1:-1]] for line in shown if line.startswith("|")]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)] if table else []
    rows = iter(table)
    texts = [_aligned(next(rows), widths) if line.startswith("|") else _plain(line) for line in shown]
    return "\n".join(["", *texts, "", f"Report: {summary.with_name('report.html')}", ""])


def _plain(line: str) -> str:
    return html.unescape(ESCAPED.sub(r"\1", line.removeprefix("## ")))


def _aligned(fields: list[str], widths: list[int]) -> str:
    return "  ".join(field.ljust(width) for field, width in zip(fields, widths, strict=True)).rstrip()
