"""Measure one run: clone the snapshot, start the server, warm up, measure, stop, and record what everyone said."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts import (
    client_host,
    doubts,
    failures,
    filling,
    fsync,
    host,
    job,
    options_taken,
    page_cache,
    page_compression,
    placement,
    record,
    snapshot,
    sql_run,
    sysbench,
    sysbench_load,
    sysbench_script,
    workplace,
)
from scripts.hostlock import exclusive
from scripts.load_dataset import server_options
from scripts.phases import Phases
from scripts.process import say, started_s, tell_wait
from scripts.run_facts import line, planned_facts
from scripts.run_setting import Setting
from scripts.server import Server, ServerFailed, running
from scripts.sysbench_flags import script_path
from scripts.sysbench_output import SysbenchFailed

SERVER_LOG = ".server.log"


def main(recipe: dict, place: dict, identity: Path, dataset: Path, run: Path, text: Path, log: Path) -> None:
    """Write `run` and `text`, and tell the user what came of it."""
    facts = facts_of(recipe, place, identity, dataset, text, log)
    record.write(run, facts)
    say(line(facts))


def facts_of(
    recipe: dict, place: dict, identity: Path, dataset: Path, text: Path, log: Path, **more: Any
) -> dict[str, Any]:
    """Measure one run, write `text` and return its facts; `more` goes to the run's setting.

    A failure of the server or of sysbench is a result, one of the host or of us is an error. `place["judged"]` names
    the records of audits and of the check, which must not have failed, as the build must not.
    Raises ValueError when the snapshot or the server program is not the one described.
    """
    judged = [identity, *map(Path, place.get("judged", []))]
    place = {key: value for key, value in place.items() if key != "judged"}
    phases = Phases(started_s())
    log.parent.mkdir(parents=True, exist_ok=True)
    text.parent.mkdir(parents=True, exist_ok=True)
    cpus, there = client_host.place(placement.read_topology(), recipe["load"]), client_host.find(recipe["load"])
    setting = Setting(recipe, place, identity, dataset, text, log, sysbench.read_capabilities(), cpus, there, **more)
    facts = planned_facts(setting, host.read_host(), record.read(identity))
    reason = failures.first_reason(judged)
    facts |= failures.told(reason) if reason else measure_alone(setting, facts, phases)
    if failures.has_failed(facts):
        text.touch()
    times = {"started_at": phases.started_at, **facts.get("times", {}), "ended_at": time.time()}
    return {**facts, "times": times, "phases_s": phases.seconds}


def measure_alone(setting: Setting, known: dict[str, Any], phases: Phases) -> dict[str, Any]:
    """Measure with the host to ourselves; returns the outcome and, when it is ok, what was measured, with warnings."""
    if "script" in setting.load:
        sysbench_script.demand(setting.generator, script_path(setting.load["script"]), setting.load.get("options", {}))
    with exclusive(tell_wait) as waited_s:
        phases.end("startup", less_s=waited_s, less_name="wait_lock")
        rest(setting, phases)
        try:
            facts = {"outcome": "ok", "reason": None, **measure(setting, phases)}
            facts["warnings"] = doubts.warnings_of(known | facts)
        except (ServerFailed, SysbenchFailed) as failure:
            if failures.of_host(failure):
                raise
            facts = failures.told(str(failure))
        phases.add("drain", snapshot.drain())
    return facts


def rest(setting: Setting, phases: Phases) -> None:
    """Leave the host alone for as long as the study says, with nobody else on it."""
    if seconds := setting.load.get("rest_s"):
        time.sleep(seconds)
        phases.end("rest")


def measure(setting: Setting, phases: Phases) -> dict[str, Any]:
    """Do what a run does between having the host and giving it back; returns its facts."""
    install = workplace.installed(setting.identity)
    options = server_options(setting.family, setting.recipe["variant"]) | setting.network_options
    written = setting.family.option_text(setting.family.options_of_release(install, options))
    server_log = setting.log.with_suffix(SERVER_LOG)
    server_log.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        data, place = stack.enter_context(cloned(setting, phases))
        server = stack.enter_context(
            running(setting.family, install, data, options, server_log, cpus=setting.cpus.server_cpus)
        )
        phases.end("start")
        with server.blamed():
            unread = options_taken.demand(server, install, setting.recipe["variant"].get("options", {}))
            filled = fill(setting, server, phases)
            facts = (sql_run if "sql" in setting.load else sysbench_load).run(setting, server, data, phases)
        server.stop(keep_data=False)
        phases.end("stop")
    phases.end("remove")
    commands = {**facts["commands"], "load": filled}
    return {**facts, **place, "commands": commands, "option_file": written, **unread}


@contextlib.contextmanager
def cloned(setting: Setting, phases: Phases) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Have a clone of the snapshot where the variant's storage is, drained; yields it, and the facts of that place."""
    folder = setting.dataset.parent / "snapshot"
    snapshot.verify(folder, record.read(setting.dataset)["snapshot_sha256"])
    with snapshot.cloned(folder, setting.place["storage"]) as data:
        page_compression.demand(setting.load["tables"], data)
        phases.end("clone")
        phases.add("drain_clone", snapshot.drain())
        medium = fsync.facts(data.parent)
        phases.end("fsync")
        cold = {"page_cache": page_cache.empty(data)} if "sql" in setting.load else {}
        yield data, {**medium, **cold}


def fill(setting: Setting, server: Server, phases: Phases) -> list[str]:
    """Load the tables of a dataset that is made anew for every run; returns the command, nothing for a clone's."""
    flags, log = server.family.sysbench_flags(server.sockets), setting.log.with_suffix(".load.txt")
    if command := filling.fill_anew(setting.load["tables"], flags, log):
        phases.end("load")
    return command


if __name__ == "__main__":
    job.run(main, __doc__, "identity", "dataset", "run", "text", recipe=job.RECIPE, place=job.RECIPE)
