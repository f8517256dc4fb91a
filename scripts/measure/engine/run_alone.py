"""Measure one run: clone the snapshot, start the server, warm up, measure, and stop."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.lib.host import cpus as host_cpus
from scripts.lib.host import machine_facts, outcome, storage, workplace
from scripts.lib.host.causes import of_host
from scripts.lib.host.entry import started_s
from scripts.lib.host.leftovers import hold_machine
from scripts.lib.wording import plural
from scripts.measure.engine import observe, run_load, statement_passes, warnings
from scripts.measure.engine.run_facts import planned_facts
from scripts.measure.engine.run_failures import facts_of_failure
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Phases, Setting
from scripts.measure.loadgen import client_host, run_sysbench, sysbench
from scripts.measure.loadgen.lua import script_path
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers import data_directory, process_environment
from scripts.measure.servers import options as servers_options
from scripts.measure.servers.options import server_options
from scripts.measure.servers.server import Server, ServerFailed, running

SERVER_LOG = ".server.log"


@dataclass(frozen=True)
class Level:
    """A number of clients of a load: the context of its run, sysbench's output and the log."""

    place: dict[str, Any]
    text: Path
    log: Path


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
    """Measure one run, write `text` and return its facts; see `facts_of_levels`."""
    more |= {"begin_s": begin_s, "refused": refused}
    (facts,) = facts_of_levels(recipe, [Level(place, text, log)], identity, dataset, **more)
    return facts


def facts_of_levels(
    recipe: dict,
    levels: Sequence[Level],
    identity: Path,
    dataset: Path,
    *,
    begin_s: float | None = None,
    refused: str | None = None,
    **more: Any,
) -> list[dict[str, Any]]:
    """Measure runs in one start of the server, write their texts and return their facts, one per level.

    `more` are further fields of a run's Setting. The first phase begins at `begin_s`, in seconds since 1970, or with
    this process. What is `refused` is not measured: that is the reason of its failure.
    A failure of the server or of sysbench is a result; a failure of the host or of the workflow is raised. The build,
    and the audits and checks whose records `place["judged"]` names, must not have failed.
    Raises ValueError when the snapshot or the server program is not the one described.
    """
    judged = [identity, *map(Path, levels[0].place.get("judged", []))]
    phases = Phases(begin_s or started_s())
    cpus = client_host.place_on_hosts(host_cpus.read_topology(), recipe["load"])
    remote, generator = client_host.client_host_of(recipe["load"]), sysbench.read_capabilities()
    settings = []
    for level in levels:
        place = {key: value for key, value in level.place.items() if key != "judged"}
        for file in (level.text, level.log):
            file.parent.mkdir(parents=True, exist_ok=True)
        files = identity, dataset, level.text, level.log
        settings.append(Setting(recipe, place, *files, generator, cpus, remote, **more))
    machine, built = machine_facts.read_host(), json_record.read(identity)
    known = [planned_facts(setting, machine, built) for setting in settings]
    reason = refused or outcome.first_reason(judged)
    failed = [outcome.failure_facts(reason)] * len(levels)
    found = failed if reason else measure_alone(settings, known, phases)
    for setting in (setting for setting, facts in zip(settings, found, strict=True) if outcome.has_failed(facts)):
        setting.text.touch()
    return _timed([facts | own for facts, own in zip(known, found, strict=True)], phases)


def _timed(found: list[dict[str, Any]], phases: Phases) -> list[dict[str, Any]]:
    """Return facts with their times, one run behind the other, and an equal share of the phases of their start."""
    share = {name: seconds / len(found) for name, seconds in phases.seconds.items()}
    begin_s, now_s, timed = phases.started_at, time.time(), []
    for number, facts in enumerate(found, start=1):
        times = facts.get("times", {})
        # The last level has the stop of the server; the first one that failed has all the time left.
        end_s = times["window_ended_at"] if times and number < len(found) else now_s
        timed.append({**facts, "times": {"started_at": begin_s, **times, "ended_at": end_s}, "phases_s": share})
        begin_s = end_s
    return timed


def measure_alone(settings: Sequence[Setting], known: Sequence[dict[str, Any]], phases: Phases) -> list[dict[str, Any]]:
    """Measure while no other job runs on the host; returns the outcome of each level, with the facts of an ok one.

    The first level that fails ends the start of the server, and those behind it.
    """
    first, found = settings[0], []
    if "script" in first.load:
        sysbench.demand_options(first.generator, script_path(first.load["script"]), first.load.get("options", {}))
    with hold_machine() as waited_s:
        phases.end("startup", less_s=waited_s, less_name="wait_lock")
        run_load.rest(first, phases)
        try:
            measure(settings, phases, found)
        except (ServerFailed, SysbenchFailed) as failure:
            if of_host(failure):
                raise
            # A server that does not stop cleanly takes its last level with it.
            del found[len(settings) - 1 :]
            found += _failures(settings[len(found) :], facts_of_failure(failure))
        phases.add("drain", data_directory.drain())
    for facts, planned in zip(found, known, strict=True):
        if not outcome.has_failed(facts):
            facts["warnings"] = [asdict(each) for each in warnings.warnings_of(Run.of(planned | facts))]
    return found


def _failures(settings: Sequence[Setting], first: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the facts of levels of which the first one failed, with the facts `first`."""
    failed, *behind = settings
    clients = plural(failed.place["clients"], "client")
    after = f"not measured: with {clients}, before this in the same start, {first['reason']}"
    return [first, *({**first, "reason": after} for _ in behind)]


def measure(settings: Sequence[Setting], phases: Phases, found: list[dict[str, Any]]) -> None:
    """Clone, start, load, measure at each level and stop; adds the facts of each level to `found` as it ends."""
    setting = settings[0]
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
            proven = process_environment.require(server, given)
            unread = servers_options.require_values(server, install, setting.recipe["variant"].get("options", {}))
            filled = fill(setting, server, phases)
            got = observe.supply_facts(server.process.pid)
            common = {**place, "option_file": written, **unread, **proven, **got}
            if "sql" in setting.load:
                measured = iter([statement_passes.run(setting, server, data, phases)])
            else:
                measured = run_load.sysbench_loads(settings, server, data, phases)
            for facts in measured:
                commands = {**facts["commands"], "load": filled}
                found.append({"outcome": "ok", "reason": None, **facts, **common, "commands": commands})
        slow = setting.stops_slowly
        took_s = server.stop(keep_data=False, slow=slow)
        # After a ladder, the stop follows its last level.
        found[-1]["slow_stop_s"] = took_s if slow else None
        phases.end("stop")
    phases.end("remove")


@contextlib.contextmanager
def cloned(setting: Setting, phases: Phases) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Clone the snapshot to the variant's storage and drain it; yields the clone, and the facts of the storage."""
    folder = setting.dataset.parent / "snapshot"
    data_directory.verify(folder, json_record.read(setting.dataset)["snapshot_sha256"])
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
    if command := run_sysbench.fill_anew(setting.load["tables"], flags, log):
        phases.end("load")
    return command
