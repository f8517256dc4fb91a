"""Check whether this machine can run a study, and how well it would measure; nothing is changed."""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from scripts.commands.arguments import study_of
from scripts.commands.console import VisibleConsole
from scripts.commands.doctor import folder_checks, load_checks, machine_checks, source_checks, tool_checks
from scripts.commands.doctor.checkup import STATES, CheckResult, CheckResults, Machine
from scripts.commands.doctor.needs import Needs
from scripts.lib.host import locks
from scripts.lib.host.cpus import read_topology
from scripts.lib.host.entry import user_command
from scripts.lib.host.machine_facts import read_host

STYLES = dict(zip(STATES, ("green", "cyan", "yellow", "bold red"), strict=True))
NAME_WIDTH = 26


def to_build(needs: Needs, machine: Machine) -> CheckResults:
    """Yield findings on fetching, compiling and disk space."""
    yield from tool_checks.check_tools(needs, machine)
    yield from tool_checks.check_compilers(needs, machine)
    yield from source_checks.check(needs)
    yield from folder_checks.check_account(needs, machine)
    yield from folder_checks.check_places(needs, machine)
    yield from folder_checks.check_limits(needs, machine)


def to_measure(needs: Needs, machine: Machine, seen: load_checks.BackgroundLoad) -> CheckResults:
    """Yield findings on everything that affects the figures."""
    host = read_host(machine.root)
    yield from load_checks.check_load(seen)
    yield from load_checks.check_leftovers()
    yield from load_checks.check_memory(machine)
    yield from tool_checks.check_client(needs)
    yield from machine_checks.check_confines(host, machine, read_topology(machine.root), needs.study.hosts)
    yield from machine_checks.check_speed(host, machine)


def lines(finding: CheckResult) -> Iterator[Text]:
    """Yield the lines of one finding: the fact, and below it why it matters and what changes it."""
    margin = " " * (NAME_WIDTH + 12)
    yield Text.assemble(
        "  ", (f"{finding.state:8}", STYLES[finding.state]), f"  {finding.name:{NAME_WIDTH}}", finding.fact
    )
    if finding.state != "ok":
        yield Text(f"{margin}why: {finding.why}", style="dim")
        yield Text(f"{margin}change: {finding.change}")


def summary(findings: Iterable[CheckResult]) -> str:
    """Return the findings counted by state, in one sentence."""
    listed = list(findings)
    counts = Counter(finding.state for finding in listed)
    plurals = {state: "" if counts[state] == 1 or state == "ok" else "s" for state in STATES}
    counted = ", ".join(f"{counts[state]} {state}{plurals[state]}" for state in STATES)
    stops = "; a problem stops the study" if counts["problem"] else "; nothing here stops the study"
    return f"{counted}{stops}. Nothing was changed."


def busy(holders: tuple[int, ...]) -> None:
    """Raise ValueError naming the processes of a study that is measuring."""
    who = f" (process {', '.join(map(str, holders))})" if holders else ""
    raise ValueError(
        f"a study is measuring on this machine{who}, and this check would disturb its figures: try again later"
    )


def main(config: Path, console: Console, scale: str = "") -> bool:
    """Print findings on a study and this machine; return whether none of them is a problem.

    Raises ConfigError naming file and line when the study has mistakes, ValueError while another study measures.
    """
    needs = Needs(study_of(config, scale))
    results, machine = [], Machine()
    with locks.shared(busy):
        # First, before our own trials add to the load.
        seen = load_checks.measure_load()
        for title, findings in (
            ("To build", to_build(needs, machine)),
            ("To measure", to_measure(needs, machine, seen)),
        ):
            console.print(Text(title, style="bold"), soft_wrap=True)
            for finding in findings:
                results.append(finding)
                for line in lines(finding):
                    console.print(line, soft_wrap=True)
    console.print(summary(results), highlight=False, soft_wrap=True)
    return all(finding.state != "problem" for finding in results)


if __name__ == "__main__":
    # Failures are findings; their log lines would repeat them.
    logging.disable()
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.doctor", description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("config.yaml"), help="the study's config file")
    parser.add_argument("--scale", choices=("", "full", "small"), default="", help="the size of the study")
    arguments = parser.parse_args()
    with user_command():
        sys.exit(0 if main(arguments.config, VisibleConsole(highlight=False), arguments.scale) else 1)
