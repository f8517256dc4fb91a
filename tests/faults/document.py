"""The table of faults in docs/guarantees.md; `python -m tests.faults.document` writes it anew."""

from tests.faults.registry import TESTS, faults

PAGE = TESTS.parent / "docs" / "guarantees.md"
BEGIN, END = "<!-- faults -->\n", "<!-- /faults -->"


def table() -> str:
    """Return a heading and a Markdown table for each area of faults."""
    lines, area = [], ""
    for fault in faults():
        if fault.area != area:
            lines += ["", f"### {fault.area}", "", "| fault | when | what must hold |", "|---|---|---|"]
            area = fault.area
        lines.append(f"| {_cell(fault.fault)} | {_cell(fault.when)} | {_cell(fault.holds)} |")
    return "\n".join([*lines, "", ""])


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def page() -> str:
    """Return the page with the table of today. Raises ValueError without the two marks."""
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return head + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
