"""Diagnose one cell: a run as any other, beside which one tool looks into the server; it counts in no comparison."""

import contextlib
from pathlib import Path
from typing import Any

from scripts import record
from scripts.host import entry, outcome
from scripts.host.cpus import read_topology
from scripts.host.entry import say, say_waiting
from scripts.host.locks import shared
from scripts.loadgen import client_host
from scripts.measure import diagnosis as measure_diagnosis
from scripts.measure.run import facts_of
from scripts.measure.tracer import ToolFailed
from scripts.servers import data_directory, families
from scripts.wording import brief


def main(recipe: dict, place: dict, identity: Path, dataset: Path, diagnosis: Path, text: Path, log: Path) -> None:
    """Write `diagnosis`, a run's record and what the tool found, and `text`.

    That a tool cannot be used here is a result, as is a failure of the server; see measure_run for the others.
    """
    name = recipe["tool"]
    for folder in (log.parent, text.parent):
        folder.mkdir(parents=True, exist_ok=True)
    if why := measure_diagnosis.unusable(name):
        text.touch()
        known = {key: place[key] for key in ("study", "variant", "workload", "clients", "run_number", "runs_total")}
        facts = known | outcome.failure_facts(why)
    else:
        facts = diagnosed(recipe, place, identity, dataset, text, log)
    record.write_signed(diagnosis, {**facts, "recipe": recipe, "tool": name})
    say(line(name, facts))


def diagnosed(recipe: dict, place: dict, identity: Path, dataset: Path, text: Path, log: Path) -> dict[str, Any]:
    """Run the load with the tool beside it; returns the facts of the run, `diagnosis` among them."""
    name, cpus = recipe["tool"], client_host.place_on_hosts(read_topology(), recipe["load"]).client_cpus
    with (
        data_directory.workspace(None) as folder,
        contextlib.closing(measure_diagnosis.tool_of(name, folder, log.with_suffix(f".{name}.log"), cpus)) as tool,
    ):
        facts = facts_of(
            looked_into(recipe), place, identity, dataset, text, log, at_edge=measure_diagnosis.Window(tool)
        )
        if outcome.has_failed(facts):
            return facts
        try:
            with shared(say_waiting):
                return {**facts, "diagnosis": tool.facts()}
        except ToolFailed as failure:
            return {**facts, **outcome.failure_facts(str(failure))}


def looked_into(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return the recipe of the run itself: with the options that a tool asks of the server."""
    variant = recipe["variant"]
    asked = families.of(variant["family"]).WAIT_OPTIONS if recipe["tool"] == "waits" else {}
    return {**recipe, "variant": {**variant, "options": {**variant.get("options", {}), **asked}}}


def line(tool: str, facts: dict[str, Any]) -> str:
    """Return the line a diagnosis tells the user."""
    head = "[diagnosis {run_number}/{runs_total}] {variant} {workload} {clients} clients, ".format(**facts) + tool
    if outcome.has_failed(facts):
        return f"{head}: NONE, {brief(facts['reason'].splitlines()[0])}"
    return f"{head}: {facts['window']['tps']:.0f} TPS beside it"


if __name__ == "__main__":
    entry.run(main, __doc__, "identity", "dataset", "diagnosis", "text", recipe=entry.RECIPE, place=entry.RECIPE)
