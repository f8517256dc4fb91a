"""Measure by turns: each arm alone, in a group of one server, at all its numbers of clients."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from scripts.lib import json_record
from scripts.lib.host import machine_facts, outcome
from scripts.lib.wording import plural
from scripts.measure.engine import passes, run_load, warnings
from scripts.measure.engine.group import Group, Ready, held_machine, rest, started, stop
from scripts.measure.engine.one_event import logged_statements
from scripts.measure.engine.run_facts import planned_facts
from scripts.measure.engine.run_failures import facts_of_failure
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Phases, Setting
from scripts.measure.loadgen import processes

ARM = "turn"


def facts_of_levels(settings: Sequence[Setting], phases: Phases, refusal: str | None) -> list[dict[str, Any]]:
    """Measure runs in one start of a server; returns the facts of each level, with their times and warnings.

    A `refusal` is why nothing is measured. A failure of the server or of sysbench is a result; a failure of the host or
    of the workflow is raised. Raises ValueError when the snapshot or the server program is not the one described.
    """
    machine, built = machine_facts.read_host(), json_record.read(settings[0].identity)
    planned = [planned_facts(setting, machine, built) for setting in settings]
    runs = [outcome.failure_facts(refusal)] * len(settings) if refusal else measure(settings, phases)
    whole = [{**known, **run} for known, run in zip(planned, runs, strict=True)]
    for setting, facts in zip(settings, whole, strict=True):
        if outcome.has_failed(facts):
            setting.text.touch()
        else:
            facts["warnings"] = [warning.values() for warning in warnings.warnings_of(Run.of(facts))]
    return timed(whole, phases)


def timed(runs: Sequence[dict[str, Any]], phases: Phases) -> list[dict[str, Any]]:
    """Return facts with their times, one run behind the other, and an equal share of the phases of their start."""
    share = {name: seconds / len(runs) for name, seconds in phases.seconds.items()}
    begin_s, now_s, made = phases.started_at, time.time(), []
    for number, facts in enumerate(runs, start=1):
        times = facts.get("times", {})
        # The last level has the stop of the server; the first one that failed has all the time left.
        end_s = times["window_ended_at"] if times and number < len(runs) else now_s
        made.append({**facts, "times": {"started_at": begin_s, **times, "ended_at": end_s}, "phases_s": share})
        begin_s = end_s
    return made


def measure(settings: Sequence[Setting], phases: Phases) -> list[dict[str, Any]]:
    """Measure one arm at all levels, its numbers of clients, in one start of its server; returns the facts of each.

    The first level that fails ends the start of the server, and those behind it.
    """
    first = settings[0]
    with held_machine(first, phases), started({ARM: first}, phases) as (group, ready):
        if "sql" in first.load:
            facts, _ = passes.measure(group, ready, [ARM], "", phases, alone=True)
            runs = list(facts.values())
        else:
            runs = [run for state in ready.values() for run in _levels(group, state, settings, phases)]
    ok = [{"outcome": "ok", "reason": None, **run} for run in runs]
    if not (failure := group.failures.get(ARM)):
        return ok
    # A server that does not stop cleanly takes its last level with it.
    ok = ok[: len(settings) - 1]
    return [*ok, *failures(settings[len(ok) :], facts_of_failure(failure))]


def _levels(group: Group, ready: Ready, settings: Sequence[Setting], phases: Phases) -> list[dict[str, Any]]:
    """Measure all levels, then stop the server; returns the facts of those that were measured."""
    runs: list[dict[str, Any]] = []
    for setting in settings:
        if runs:
            rest(setting, phases)
        sizes = runs[-1]["files"]["after"] if runs else ready.sizes
        measured = group.attempt(lambda arm, at: _level(ready, *at, phases), ARM, (setting, sizes))
        if not measured:
            return runs
        runs += measured
    stopped = stop(group, {ARM: ready.server}, {}, "", phases)
    # After a ladder, the stop follows its last level.
    return [*runs[:-1], {**runs[-1], **stopped.get(ARM, {})}]


def _level(ready: Ready, setting: Setting, sizes: Mapping[str, Any], phases: Phases) -> dict[str, Any]:
    """Warm up and measure with one number of clients; returns the facts."""
    own = ready.own
    with own.server.blamed():
        warmup = run_load.warm_up(setting, own.server)
        phases.end("warmup")
        calls = run_load.measuring_calls(setting, own.server)
        facts = run_load.measure_sysbench(setting, own.server, own.connection, calls)
        files = own.file_facts(sizes)
        phases.end("measure")
        logged = logged_statements(setting, own.server, own.connection, calls[0])
        if logged:
            phases.end("log_statements")
    commands = {**ready.commands, "warmup": warmup, **processes.named_commands(calls)}
    return {**ready.facts, **facts, **files, **logged, "commands": commands}


def failures(settings: Sequence[Setting], first: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the facts of levels of which the first one failed, with the facts `first`."""
    failed, *behind = settings
    clients = plural(failed.place["clients"], "client")
    after = f"not measured: with {clients}, before this in the same start, {first['reason']}"
    return [dict(first), *({**first, "reason": after} for _ in behind)]
