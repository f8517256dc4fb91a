"""Diagnose one cell: one extra run, which counts in no comparison, with one tool attached to the server."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

from scripts.lib.host import entry, machine_facts, outcome
from scripts.lib.host.cpus import read_topology
from scripts.lib.host.entry import say, say_waiting, started_s
from scripts.lib.host.locks import shared
from scripts.lib.json_record import Json
from scripts.lib.recipe_models import DiagnosisRecipe, RunRecipe
from scripts.lib.wording import brief
from scripts.measure.engine import by_turns, run_record
from scripts.measure.engine import diagnosis as measure_diagnosis
from scripts.measure.engine.planned import RunContext
from scripts.measure.engine.run_facts import refused_run
from scripts.measure.engine.run_record import Diagnosis, MeasuredRun, Run
from scripts.measure.engine.setting import Phases, setting_of, with_context
from scripts.measure.engine.tracer import ToolFailed
from scripts.measure.loadgen import client_host, lua
from scripts.measure.servers import data_directory, families


def main(
    recipe: DiagnosisRecipe,
    place: RunContext,
    identity: Path,
    dataset: Path,
    diagnosis: Path,
    text: Path,
    scripts: dict[str, str],
    log: Path,
) -> None:
    """Inputs: `identity` of the build, and `dataset`, both records. Outputs: `diagnosis` and `text`.

    `diagnosis` is the record of the run with the facts of the tool, `text` the output of sysbench. A tool that cannot
    be used on this machine is recorded as a failed result, as is a failure of the server.
    """
    lua.find_outside_scripts(scripts)
    for folder in (log.parent, text.parent):
        folder.mkdir(parents=True, exist_ok=True)
    if why := measure_diagnosis.unusable(recipe.tool):
        text.touch()
        facts: dict[str, Json] = {}
        measured = MeasuredRun(refused_run(with_context(Run(), place), why))
    else:
        measured, facts = diagnosed(recipe, place, identity, dataset, text, log)
    values = {**measured.run.values(), "recipe": recipe.dump(), "tool": recipe.tool, "diagnosis": facts}
    run_record.write(diagnosis, replace(measured, run=Diagnosis(**values)))
    say(line(run_record.read_diagnosis(diagnosis)))


def diagnosed(
    recipe: DiagnosisRecipe, context: RunContext, identity: Path, dataset: Path, text: Path, log: Path
) -> tuple[MeasuredRun, dict[str, Json]]:
    """Run the load with the tool attached; return the run, and what the tool found, nothing of a run that failed."""
    name, load = recipe.tool, recipe.load
    cpus = client_host.place_on_hosts(read_topology(), load.placement, load.client).client_cpus
    with (
        data_directory.workspace(None) as folder,
        contextlib.closing(measure_diagnosis.tool_of(name, folder, log.with_suffix(f".{name}.log"), cpus)) as tool,
    ):
        window, machine = measure_diagnosis.DiagnosedWindow(tool), machine_facts.read_host()
        run_recipe = recipe_with_tool(recipe)
        setting = setting_of(run_recipe, context, identity, dataset, text, log, machine, at_edge=window)
        refusal = outcome.first_reason([identity, *map(Path, context.judged)])
        (measured,) = by_turns.runs_of_levels([setting], Phases(started_s()), refusal)
        if measured.run.failed:
            return measured, {}
        try:
            with shared(say_waiting):
                return measured, tool.facts()
        except ToolFailed as failure:
            return replace(measured, run=refused_run(measured.run, str(failure))), {}


def recipe_with_tool(recipe: DiagnosisRecipe) -> RunRecipe:
    """Return the recipe of the run itself, with the server options that the tool needs."""
    variant = recipe.variant
    needed = families.of(variant.family).WAIT_OPTIONS if recipe.tool == "waits" else {}
    return RunRecipe(variant=replace(variant, options={**variant.options, **needed}), load=recipe.load)


def line(run: Diagnosis) -> str:
    """Return the message to the user about a diagnosis."""
    head = f"[diagnosis {run.run_number}/{run.runs_total}] {run.variant} {run.workload} {run.clients} clients"
    if run.failed:
        why, *_ = (run.reason or "no reason was kept").splitlines()
        return f"{head}, {run.tool}: NONE, {brief(why)}"
    return f"{head}, {run.tool}: {run.window.tps:.0f} TPS beside it"


if __name__ == "__main__":
    others: dict[str, entry.Option] = {
        "recipe": entry.recipe(DiagnosisRecipe),
        "place": {"type": lambda text: RunContext.of(json.loads(text)), "required": True},
        "scripts": entry.SCRIPTS,
    }
    entry.run(main, __doc__, "identity", "dataset", "diagnosis", "text", **others)
