"""Diagnose one cell: a run as any other, beside which one tool looks into the server; it counts in no comparison."""

import contextlib
from pathlib import Path
from typing import Any

from scripts import client_host, diagnosing, failures, families, job, record, snapshot
from scripts.hostlock import shared
from scripts.measure_run import facts_of
from scripts.process import say, tell_wait
from scripts.topology import read_topology
from scripts.tracer import ToolFailed
from scripts.wording import brief


def main(recipe: dict, place: dict, identity: Path, dataset: Path, diagnosis: Path, text: Path, log: Path) -> None:
    """Write `diagnosis`, a run's record and what the tool found, and `text`.

    That a tool cannot be used here is a result, as is a failure of the server; see measure_run for the others.
    """
    name = recipe["tool"]
    for folder in (log.parent, text.parent):
        folder.mkdir(parents=True, exist_ok=True)
    if why := diagnosing.unusable(name):
        text.touch()
        known = {key: place[key] for key in ("study", "variant", "workload", "clients", "run_number", "runs_total")}
        facts = known | failures.told(why)
    else:
        facts = diagnosed(recipe, place, identity, dataset, text, log)
    record.write(diagnosis, {**facts, "recipe": recipe, "tool": name})
    say(line(name, facts))


def diagnosed(recipe: dict, place: dict, identity: Path, dataset: Path, text: Path, log: Path) -> dict[str, Any]:
    """Run the load with the tool beside it; returns the facts of the run, `diagnosis` among them."""
    name, cpus = recipe["tool"], client_host.place(read_topology(), recipe["load"]).client_cpus
    with (
        snapshot.workspace(None) as folder,
        contextlib.closing(diagnosing.tool(name, folder, log.with_suffix(f".{name}.log"), cpus)) as tool,
    ):
        facts = facts_of(looked_into(recipe), place, identity, dataset, text, log, at_edge=diagnosing.Window(tool))
        if failures.has_failed(facts):
            return facts
        try:
            with shared(tell_wait):
                return {**facts, "diagnosis": tool.facts()}
        except ToolFailed as failure:
            return {**facts, **failures.told(str(failure))}


def looked_into(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return the recipe of the run itself: with the options that a tool asks of the server."""
    variant = recipe["variant"]
    asked = families.of(variant["family"]).WAITS.OPTIONS if recipe["tool"] == "waits" else {}
    return {**recipe, "variant": {**variant, "options": {**variant.get("options", {}), **asked}}}


def line(tool: str, facts: dict[str, Any]) -> str:
    """Return the line a diagnosis tells the user."""
    head = "[diagnosis {run_number}/{runs_total}] {variant} {workload} {clients} clients, ".format(**facts) + tool
    if failures.has_failed(facts):
        return f"{head}: NONE, {brief(facts['reason'].splitlines()[0])}"
    return f"{head}: {facts['window']['tps']:.0f} TPS beside it"


if __name__ == "__main__":
    job.run(main, __doc__, "identity", "dataset", "diagnosis", "text", recipe=job.RECIPE, place=job.RECIPE)
