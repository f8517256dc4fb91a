"""Try every fault and print the table: fault, when, what must hold, held or not. Run by `make faults`.

The tests run in the two calls of the whole suite, by several workers where each has servers and locks of its own.
"""

import contextlib
import os
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests import isolated, suite
from tests.faults.registry import TESTS, Fault, faults, files

WIDTHS = {"fault": 43, "when": 16, "must hold": 43, "held": 12}
Test = tuple[str, str]


class Outcomes:
    """What came of each test: a plugin of pytest that keeps `failed`, `skipped` or `passed` for each of its cases."""

    def __init__(self) -> None:
        self.of: dict[Test, set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of one phase of one case."""
        if report.when == "call" or report.outcome != "passed":
            file, _, name = report.nodeid.partition("::")
            self.of[file.rsplit("/", 1)[-1].removesuffix(".py"), name.partition("[")[0]].add(report.outcome)


def nodes(tried: Iterable[Fault]) -> list[str]:
    """Return pytest's names of the tests of all faults, each once."""
    known = files()
    pairs = dict.fromkeys(pair for fault in tried for pair in fault.tests)
    return [f"{known[module]}::{function}" for module, function in pairs]


def held(fault: Fault, outcomes: dict[Test, set[str]]) -> str:
    """Return whether what must hold held: `yes`, `NO`, or `not tried` when a test of it could not run here."""
    found = [outcomes.get(pair) or {"skipped"} for pair in fault.tests]
    if any("failed" in each for each in found):
        return "NO"
    return "yes" if all("passed" in each for each in found) else "not tried"


def rows(tried: Iterable[Fault], outcomes: dict[Test, set[str]]) -> list[str]:
    """Return the lines of the table, a heading for each area."""
    lines, area = [_row(WIDTHS), _row("-" * width for width in WIDTHS.values())], ""
    for fault in tried:
        lines += [f"{fault.area}:"] if fault.area != area else []
        area = fault.area
        cells = (fault.fault, fault.when, fault.holds, held(fault, outcomes))
        wrapped = [textwrap.wrap(text, width) for text, width in zip(cells, WIDTHS.values(), strict=True)]
        height = max(map(len, wrapped))
        lines += [_row(part[place] if place < len(part) else "" for part in wrapped) for place in range(height)]
    return lines


def _row(cells: Iterable[str]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS.values(), strict=True)).rstrip()


def main(arguments: list[str]) -> int:
    """Try every fault, with further arguments for pytest; returns 0 when everything held, else 1."""
    # Before pytest imports the modules of tests, which look at it.
    os.environ["FAULTS"] = "whole"
    outcomes, tried, apart = Outcomes(), faults(), isolated.possible()
    asked = ["--rootdir", str(TESTS.parent), *arguments, *nodes(tried)]
    with isolated.prepared() if apart else contextlib.nullcontext({}) as own:
        os.environ.update(own)
        calls = suite.calls(fast=False, apart=apart)
        status = suite.status_of([pytest.main([*options, *asked], plugins=[outcomes]) for options in calls])
    verdicts = [held(fault, outcomes.of) for fault in tried]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in ("yes", "NO", "not tried"))
    print("\n".join(["", *rows(tried, outcomes.of), "", f"{len(tried)} faults, held: {counted}"]))
    return int(status != pytest.ExitCode.OK or "NO" in verdicts)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
