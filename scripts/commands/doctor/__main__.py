"""Look whether this machine can run a study, and how well it would measure; nothing is changed."""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from rich.console import Console
from rich.text import Text

from scripts import ROOT
from scripts.commands.doctor import client, load, memory, places, sources, tools
from scripts.commands.doctor import machine as doctor_machine
from scripts.commands.doctor.finding import STATES, Finding, Findings, Machine
from scripts.commands.doctor.needs import Needs
from scripts.config.study import load as load_study
from scripts.host import locks
from scripts.host.cpus import read_topology
from scripts.host.facts import read_host

STYLES = dict(zip(STATES, ("green", "cyan", "yellow", "bold red"), strict=True))
NAME_WIDTH = 26


def to_build(needs: Needs, machine: Machine) -> Findings:
    """Yield what matters for getting everything made."""
    yield from tools.check_tools(needs, machine)
    yield from tools.check_compilers(needs, machine)
    yield from sources.check(needs)
    yield from places.check_account(needs, machine)
    yield from places.check_room(needs, machine)


def to_measure(needs: Needs, machine: Machine, seen: load.Look) -> Findings:
    """Yield what matters for the figures."""
    host = read_host(machine.root)
    yield from load.check_load(seen)
    yield from memory.check_memory(needs, machine)
    yield from client.check_client(needs)
    yield from doctor_machine.check_confines(host, machine, read_topology(machine.root), needs.study.config)
    yield from doctor_machine.check_speed(host, machine)


def lines(finding: Finding) -> Iterator[Text]:
    """Yield the lines of one finding: the fact, and below it why it matters and what changes it."""
    margin = " " * (NAME_WIDTH + 12)
    yield Text.assemble(
        "  ", (f"{finding.state:8}", STYLES[finding.state]), f"  {finding.name:{NAME_WIDTH}}", finding.fact
    )
    if finding.state != "ok":
        yield Text(f"{margin}why: {finding.why}", style="dim")
        yield Text(f"{margin}change: {finding.change}")


def summary(findings: Iterable[Finding]) -> str:
    """Return the findings counted by state, in one sentence."""
    found = list(findings)
    counts = Counter(finding.state for finding in found)
    told = ", ".join(f"{counts[state]} {state}{'' if counts[state] == 1 or state == 'ok' else 's'}" for state in STATES)
    stops = "; a problem stops the study" if counts["problem"] else "; nothing here stops the study"
    return f"{told}{stops}. Nothing was changed."


def busy(holders: tuple[int, ...]) -> None:
    """Refuse to look while a study measures. Raises ValueError naming its processes."""
    who = f" (process {', '.join(map(str, holders))})" if holders else ""
    raise ValueError(
        f"a study is measuring on this machine{who}, and this look would be in its figures: try again later"
    )


def main(config: Path, console: Console, scale: str = "") -> bool:
    """Print findings on a study and this machine; return whether none of them is a problem.

    Raises ConfigError when the study has mistakes, ValueError while another study measures.
    """
    declared = yaml.safe_load(config.read_text(encoding="utf-8"))
    needs = Needs(load_study({**declared, **({"scale": scale} if scale else {})}, ROOT, str(config)))
    found, machine = [], Machine()
    with locks.shared(busy):
        # First, before our own trials are part of what is seen.
        seen = load.measure_load()
        for title, findings in (
            ("To build", to_build(needs, machine)),
            ("To measure", to_measure(needs, machine, seen)),
        ):
            console.print(Text(title, style="bold"), soft_wrap=True)
            for finding in findings:
                found.append(finding)
                for line in lines(finding):
                    console.print(line, soft_wrap=True)
    console.print(summary(found), highlight=False, soft_wrap=True)
    return all(finding.state != "problem" for finding in found)


if __name__ == "__main__":
    # What fails is a finding, told once.
    logging.disable()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("config.yaml"), help="the study's config file")
    parser.add_argument("--scale", choices=("", "full", "small"), default="", help="the size of the study")
    arguments = parser.parse_args()
    try:
        sys.exit(0 if main(arguments.config, Console(highlight=False), arguments.scale) else 1)
    except (OSError, ValueError) as error:
        sys.exit(str(error))
