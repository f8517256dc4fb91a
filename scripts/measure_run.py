"""Measure one run: clone the snapshot, start the server, warm up, measure, stop, and record what everyone said."""

import argparse
import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import (
    doubts,
    failures,
    families,
    host,
    placement,
    record,
    snapshot,
    sysbench,
    sysbench_run,
    sysbench_script,
    usage,
    workplace,
)
from scripts.hostlock import exclusive
from scripts.load_dataset import server_options
from scripts.phases import Phases
from scripts.process import entry, say, started_s, tell_wait
from scripts.run_facts import line, measured, planned_facts
from scripts.server import Server, ServerFailed, running
from scripts.sysbench_flags import script_path
from scripts.sysbench_output import SysbenchFailed

SERVER_LOG = ".server.log"


@dataclass(frozen=True)
class Setting:
    """What one run works with: its recipe, its place in the study, programs, CPUs and files."""

    recipe: dict[str, Any]
    place: dict[str, Any]
    identity: Path
    dataset: Path
    text: Path
    log: Path
    generator: sysbench.Capabilities
    cpus: placement.Placement

    @property
    def load(self) -> dict[str, Any]:
        """Return the workload's part of the recipe."""
        return self.recipe["load"]

    @property
    def family(self) -> families.Family:
        """Return the module that knows this server."""
        return families.of(self.recipe["variant"]["family"])

    def command(self, server: Server, seconds: int, seed: int) -> list[str]:
        """Return sysbench's command line for so many seconds of the workload."""
        tables = self.load["tables"]
        return sysbench.run_command(
            self.generator,
            script_path(self.load["script"]),
            server.family.sysbench_flags(server.sockets),
            tables["tables"],
            tables["rows"],
            self.load.get("options", {}),
            self.place["clients"],
            seconds,
            seed=seed,
        )


def main(recipe: dict, place: dict, identity: Path, dataset: Path, run: Path, text: Path, log: Path) -> None:
    """Write `run` and `text`; a failure of the server or of sysbench is a result, one of the host or of us is an error.

    `place["judged"]` names the records of audits and of the check, which must not have failed, as the build must not.
    Raises ValueError when the snapshot or the server program is not the one described.
    """
    judged = [identity, *map(Path, place.get("judged", []))]
    place = {key: value for key, value in place.items() if key != "judged"}
    phases = Phases(started_s())
    log.parent.mkdir(parents=True, exist_ok=True)
    text.parent.mkdir(parents=True, exist_ok=True)
    cpus = placement.place(placement.read_topology(), recipe["load"]["placement"])
    setting = Setting(recipe, place, identity, dataset, text, log, sysbench.read_capabilities(), cpus)
    facts = planned_facts(setting, host.read_host(), record.read(identity))
    reason = failures.first_reason(judged)
    facts |= failures.told(reason) if reason else measure_alone(setting, facts, phases)
    if failures.has_failed(facts):
        text.touch()
    times = {"started_at": phases.started_at, **facts.get("times", {}), "ended_at": time.time()}
    record.write(run, {**facts, "times": times, "phases_s": phases.seconds})
    say(line(facts))


def measure_alone(setting: Setting, known: dict[str, Any], phases: Phases) -> dict[str, Any]:
    """Measure with the host to ourselves; returns the outcome and, when it is ok, what was measured, with warnings."""
    sysbench_script.demand(setting.generator, script_path(setting.load["script"]), setting.load.get("options", {}))
    with exclusive(tell_wait) as waited_s:
        phases.end("startup", less_s=waited_s, less_name="wait_lock")
        try:
            facts = {"outcome": "ok", "reason": None, **measure(setting, phases)}
            facts["warnings"] = doubts.warnings_of(known | facts)
        except (ServerFailed, SysbenchFailed) as failure:
            if failures.of_host(failure):
                raise
            facts = failures.told(str(failure))
        phases.add("drain", snapshot.drain())
    return facts


def measure(setting: Setting, phases: Phases) -> dict[str, Any]:
    """Do what a run does between having the host and giving it back; returns its facts."""
    folder = setting.dataset.parent / "snapshot"
    snapshot.verify(folder, record.read(setting.dataset)["snapshot_sha256"])
    install = workplace.installed(setting.identity)
    options = server_options(setting.family, setting.recipe["variant"])
    written = setting.family.option_text(setting.family.options_of_release(install, options))
    server_log = setting.log.with_suffix(SERVER_LOG)
    server_log.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        data = stack.enter_context(snapshot.cloned(folder, setting.place["storage"]))
        phases.end("clone")
        phases.add("drain_clone", snapshot.drain())
        server = stack.enter_context(
            running(setting.family, install, data, options, server_log, cpus=setting.cpus.server_cpus)
        )
        phases.end("start")
        with server.blamed():
            facts = load(setting, server, phases)
        server.stop(keep_data=False)
        phases.end("stop")
    phases.end("remove")
    return {**facts, "option_file": written}


def load(setting: Setting, server: Server, phases: Phases) -> dict[str, Any]:
    """Warm the server up with a call of its own, then measure; returns the facts of the window."""
    seconds, seed = setting.load["measure_s"], setting.place["repetition"]
    # The window lies between two reports, and at the last one connections may be closing: a second on each side.
    called_s = seconds + 2
    with contextlib.closing(server.connect()) as connection:
        variables = setting.family.variables(connection)
        warmup = setting.command(server, setting.load["warmup_s"], seed=seed + 1_000_000)
        sysbench_run.run(
            warmup,
            setting.log.with_suffix(".warmup.txt"),
            timeout_s=patience_s(setting, "warmup_s"),
            cpus=setting.cpus.client_cpus,
        )
        phases.end("warmup")
        before, samples = setting.family.counters(connection), []

        def on_report(moment: sysbench_run.Moment) -> None:
            if moment.number in (1, 1 + seconds):
                samples.append((moment, usage.sample(server.process.pid, moment.pid)))

        command = setting.command(server, called_s, seed=seed)
        finished = sysbench_run.run(
            command,
            setting.text,
            timeout_s=patience_s(setting, "measure_s"),
            on_report=on_report,
            cpus=setting.cpus.client_cpus,
        )
        after = setting.family.counters(connection)
    phases.end("measure")
    return {
        **measured(finished, samples),
        "commands": {"server": server.command, "warmup": warmup, "measure": command},
        "variables": variables,
        "counters": {name: {"before": before[name], "after": after[name]} for name in before if name in after},
    }


def patience_s(setting: Setting, key: str) -> float:
    """Return after how many seconds a sysbench call that should take `key` seconds is given up."""
    return 2 * setting.load[key] + 120


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", type=json.loads, required=True)
    parser.add_argument("--place", type=json.loads, required=True)
    for name in ("identity", "dataset", "run", "text", "log"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    with entry(arguments.log):
        main(**vars(arguments))
