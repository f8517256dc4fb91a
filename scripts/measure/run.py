"""Measure one run: clone the snapshot, start the server, warm up, measure, and stop."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts import record
from scripts.host import cpus as host_cpus
from scripts.host import facts as host_facts
from scripts.host import outcome, storage, workplace
from scripts.host.entry import say_waiting, started_s
from scripts.host.locks import exclusive
from scripts.loadgen import client_host, run, sysbench
from scripts.loadgen.lua import script_path
from scripts.loadgen.output import SysbenchFailed
from scripts.measure import load, timed_sql, warnings
from scripts.measure.facts import planned_facts
from scripts.measure.record import Run
from scripts.measure.setting import Phases, Setting
from scripts.servers import data_directory, environment
from scripts.servers import options as servers_options
from scripts.servers.options import server_options
from scripts.servers.server import Server, ServerFailed, running

SERVER_LOG = ".server.log"


def facts_of(
    recipe: dict,
    place: dict,
    identity: Path,
    dataset: Path,
    text: Path,
    log: Path,
    *,
    begin_s: float | None = None,
    refused: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Measure one run, write `text` and return its facts; `more` are further fields of the run's Setting.

    The first phase begins at `begin_s`, in seconds since 1970, or with this process. A run that is `refused` is not
    measured: that is the reason of its failure.
    A failure of the server or of sysbench is a result; a failure of the host or of the workflow is raised. The build,
    and the audits and checks whose records `place["judged"]` names, must not have failed.
    Raises ValueError when the snapshot or the server program is not the one described.
    """
    judged = [identity, *map(Path, place.get("judged", []))]
    place = {key: value for key, value in place.items() if key != "judged"}
    phases = Phases(begin_s or started_s())
    log.parent.mkdir(parents=True, exist_ok=True)
    text.parent.mkdir(parents=True, exist_ok=True)
    cpus = client_host.place_on_hosts(host_cpus.read_topology(), recipe["load"])
    remote = client_host.client_host_of(recipe["load"])
    setting = Setting(recipe, place, identity, dataset, text, log, sysbench.read_capabilities(), cpus, remote, **more)
    facts = planned_facts(setting, host_facts.read_host(), record.read(identity))
    reason = refused or outcome.first_reason(judged)
    facts |= outcome.failure_facts(reason) if reason else measure_alone(setting, facts, phases)
    if outcome.has_failed(facts):
        text.touch()
    times = {"started_at": phases.started_at, **facts.get("times", {}), "ended_at": time.time()}
    return {**facts, "times": times, "phases_s": phases.seconds}


def measure_alone(setting: Setting, known: dict[str, Any], phases: Phases) -> dict[str, Any]:
    """Measure while no other job runs on the host; returns the outcome and, when it is ok, the measured facts."""
    if "script" in setting.load:
        sysbench.demand_options(setting.generator, script_path(setting.load["script"]), setting.load.get("options", {}))
    with exclusive(say_waiting) as waited_s:
        phases.end("startup", less_s=waited_s, less_name="wait_lock")
        rest(setting, phases)
        try:
            facts = {"outcome": "ok", "reason": None, **measure(setting, phases)}
            facts["warnings"] = [asdict(each) for each in warnings.warnings_of(Run.of(known | facts))]
        except (ServerFailed, SysbenchFailed) as failure:
            if outcome.of_host(failure):
                raise
            facts = outcome.failure_facts(str(failure))
        phases.add("drain", data_directory.drain())
    return facts


def rest(setting: Setting, phases: Phases) -> None:
    """Leave the host idle for the study's `rest_s`."""
    if seconds := setting.load.get("rest_s"):
        time.sleep(seconds)
        phases.end("rest")


def measure(setting: Setting, phases: Phases) -> dict[str, Any]:
    """Clone, start, load, measure and stop; returns the facts of the run."""
    install = workplace.installed(setting.identity)
    options = server_options(setting.family, setting.recipe["variant"]) | setting.network_options
    written = setting.family.option_text(setting.family.options_of_release(install, options))
    server_log = setting.log.with_suffix(SERVER_LOG)
    server_log.unlink(missing_ok=True)
    cpus, given = setting.cpus.server_cpus, setting.recipe["variant"].get("environment", {})
    with contextlib.ExitStack() as stack:
        data, place = stack.enter_context(cloned(setting, phases))
        server = stack.enter_context(
            running(setting.family, install, data, options, server_log, cpus=cpus, environment=given)
        )
        phases.end("start")
        with server.blamed():
            proven = environment.require(server, given)
            unread = servers_options.require_values(server, install, setting.recipe["variant"].get("options", {}))
            filled = fill(setting, server, phases)
            measured = timed_sql.run if "sql" in setting.load else load.run_sysbench_load
            facts = measured(setting, server, data, phases)
        server.stop(keep_data=False)
        phases.end("stop")
    phases.end("remove")
    commands = {**facts["commands"], "load": filled}
    return {**facts, **place, "commands": commands, "option_file": written, **unread, **proven}


@contextlib.contextmanager
def cloned(setting: Setting, phases: Phases) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Clone the snapshot to the variant's storage and drain it; yields the clone, and the facts of the storage."""
    folder = setting.dataset.parent / "snapshot"
    data_directory.verify(folder, record.read(setting.dataset)["snapshot_sha256"])
    with data_directory.cloned(folder, setting.place["storage"]) as data:
        data_directory.demand_page_compression(setting.load["tables"], data)
        phases.end("clone")
        phases.add("drain_clone", data_directory.drain())
        medium = storage.fsync_facts(data.parent)
        phases.end("fsync")
        cold = {"page_cache": storage.drop_cached(data)} if "sql" in setting.load else {}
        yield data, {**medium, **cold}


def fill(setting: Setting, server: Server, phases: Phases) -> list[str]:
    """Load the tables of a dataset that is made for every run anew; returns the command, empty for other datasets."""
    flags, log = server.family.sysbench_flags(server.sockets), setting.log.with_suffix(".load.txt")
    if command := run.fill_anew(setting.load["tables"], flags, log):
        phases.end("load")
    return command
