"""Diagnose one cell: one extra run, which counts in no comparison, with one tool attached to the server."""

import contextlib
from pathlib import Path
from typing import Any

from scripts.lib.host import entry, outcome
from scripts.lib.host.cpus import read_topology
from scripts.lib.host.entry import say, say_waiting, started_s
from scripts.lib.host.locks import shared
from scripts.lib.wording import brief
from scripts.measure.engine import by_turns, run_record
from scripts.measure.engine import diagnosis as measure_diagnosis
from scripts.measure.engine.setting import Phases, setting_of
from scripts.measure.engine.tracer import ToolFailed
from scripts.measure.loadgen import client_host
from scripts.measure.servers import data_directory, families


def main(recipe: dict, place: dict, identity: Path, dataset: Path, diagnosis: Path, text: Path, log: Path) -> None:
    """Inputs: `identity` of the build, and `dataset`, both records. Outputs: `diagnosis` and `text`.

    `diagnosis` is the record of the run with the facts of the tool, `text` the output of sysbench. A tool that cannot
    be used on this machine is recorded as a failed result, as is a failure of the server.
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
    run_record.write(diagnosis, {**facts, "recipe": recipe, "tool": name}, run_record.Diagnosis)
    say(line(run_record.read_diagnosis(diagnosis)))


def diagnosed(recipe: dict, place: dict, identity: Path, dataset: Path, text: Path, log: Path) -> dict[str, Any]:
    """Run the load with the tool attached; return the facts of the run, with those of the tool as `diagnosis`."""
    name, cpus = recipe["tool"], client_host.place_on_hosts(read_topology(), recipe["load"]).client_cpus
    with (
        data_directory.workspace(None) as folder,
        contextlib.closing(measure_diagnosis.tool_of(name, folder, log.with_suffix(f".{name}.log"), cpus)) as tool,
    ):
        window = measure_diagnosis.DiagnosedWindow(tool)
        setting = setting_of(recipe_with_tool(recipe), place, identity, dataset, text, log, at_edge=window)
        refusal = outcome.first_reason([identity, *map(Path, place.get("judged", []))])
        (facts,) = by_turns.facts_of_levels([setting], Phases(started_s()), refusal)
        if outcome.has_failed(facts):
            return facts
        try:
            with shared(say_waiting):
                return {**facts, "diagnosis": tool.facts()}
        except ToolFailed as failure:
            return {**facts, **outcome.failure_facts(str(failure))}


def recipe_with_tool(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return the recipe of the run itself, with the server options that the tool needs."""
    variant = recipe["variant"]
    asked = families.of(variant["family"]).WAIT_OPTIONS if recipe["tool"] == "waits" else {}
    return {**recipe, "variant": {**variant, "options": {**variant.get("options", {}), **asked}}}


def line(made: run_record.Diagnosis) -> str:
    """Return the message to the user about a diagnosis."""
    head = f"[diagnosis {made.run_number}/{made.runs_total}] {made.variant} {made.workload} {made.clients} clients"
    if made.failed:
        why, *_ = (made.reason or "no reason was kept").splitlines()
        return f"{head}, {made.tool}: NONE, {brief(why)}"
    return f"{head}, {made.tool}: {made.window.tps:.0f} TPS beside it"


if __name__ == "__main__":
    entry.run(main, __doc__, "identity", "dataset", "diagnosis", "text", recipe=entry.JSON, place=entry.JSON)
