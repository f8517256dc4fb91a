"""Measure by turns: each arm alone, in a group of one server, at all its numbers of clients."""

import time
from collections.abc import Sequence
from dataclasses import replace

from scripts.lib.wording import plural
from scripts.measure.engine import passes, run_load, warnings
from scripts.measure.engine.group import Group, Ready, held_machine, rest, started, stop
from scripts.measure.engine.observe import logged_statements
from scripts.measure.engine.own_server import Sizes
from scripts.measure.engine.run_facts import failed_run, refused_run
from scripts.measure.engine.run_record import OK, MeasuredRun, Run
from scripts.measure.engine.setting import Phases, Setting, with_context
from scripts.measure.loadgen import processes

ARM = "turn"


def runs_of_levels(settings: Sequence[Setting], phases: Phases, refusal: str | None) -> list[MeasuredRun]:
    """Measure runs in one start of a server; returns the run of each level, with its times and warnings.

    A `refusal` is why nothing is measured. A failure of the server or of sysbench is a result; a failure of the host or
    of the workflow is raised. Raises ValueError when the snapshot or the server program is not the one described.
    """
    if refusal:
        levels = [MeasuredRun(refused_run(setting.planned, refusal)) for setting in settings]
    else:
        levels = measure(settings, phases)
    for setting, level in zip(settings, levels, strict=True):
        if level.run.failed:
            setting.text.touch()
    warned = [replace(level, run=warnings.with_warnings(level.run)) for level in levels]
    return timed(warned, phases)


def timed(levels: Sequence[MeasuredRun], phases: Phases) -> list[MeasuredRun]:
    """Return runs with their times, one behind the other, and an equal share of the phases of their start."""
    share = {name: seconds / len(levels) for name, seconds in phases.seconds.items()}
    begin_s, now_s, runs = phases.started_at, time.time(), []
    for number, level in enumerate(levels, start=1):
        times = level.run.times
        # The last level has the stop of the server; the first one that failed has all the time that remains.
        end_s = times.window_ended_at if times.window_ended_at and number < len(levels) else now_s
        times = replace(times, started_at=begin_s, ended_at=end_s)
        runs.append(replace(level, run=replace(level.run, times=times, phases_s=share)))
        begin_s = end_s
    return runs


def measure(settings: Sequence[Setting], phases: Phases) -> list[MeasuredRun]:
    """Measure one arm at all levels, its numbers of clients, in one start of its server; returns the run of each.

    The first level that fails ends the start of the server, and those behind it.
    """
    first = settings[0]
    with held_machine(first, phases), started({ARM: first}, phases) as (group, ready):
        if first.load.sql:
            runs_by_arm, _ = passes.measure(group, ready, [ARM], "", phases, alone=True)
            runs = list(runs_by_arm.values())
        else:
            runs = [run for state in ready.values() for run in _levels(group, state, settings, phases)]
    if not (failure := group.failures.get(ARM)):
        return runs
    # A server that does not stop cleanly takes its last level with it.
    runs = runs[: len(settings) - 1]
    behind = [setting.planned for setting in settings[len(runs) :]]
    return [*runs, *failures(behind, failed_run(behind[0], failure))]


def _levels(group: Group, ready: Ready, settings: Sequence[Setting], phases: Phases) -> list[MeasuredRun]:
    """Measure all levels, then stop the server; returns the runs of those that were measured."""
    runs: list[Run] = []
    for setting in settings:
        if runs:
            rest(setting, phases)
        sizes = runs[-1].files.after if runs else ready.sizes
        measured = group.attempt(lambda arm, at: _level(ready, *at, phases), ARM, (setting, sizes))
        if not measured:
            return [MeasuredRun(run, ready.shared) for run in runs]
        runs += measured
    for took_s in stop(group, {ARM: ready.server}, {}, "", phases).values():
        # After a ladder, the stop follows its last level.
        runs[-1] = replace(runs[-1], slow_stop_s=took_s)
    return [MeasuredRun(run, ready.shared) for run in runs]


def _level(ready: Ready, setting: Setting, sizes: Sizes, phases: Phases) -> Run:
    """Warm up and measure with one number of clients; returns the run."""
    server = ready.own.server
    planned = with_context(replace(ready.run, outcome=OK), setting.context)
    with server.blamed():
        warmup = run_load.warm_up(setting, server)
        phases.end("warmup")
        calls = run_load.measuring_calls(setting, server)
        run = run_load.measure_sysbench(planned, setting, server, ready.own.connection, calls)
        files = ready.own.files(sizes)
        phases.end("measure")
        statements = logged_statements(setting, server, ready.own.connection, calls[0])
        if statements:
            phases.end("log_statements")
    commands = {**run.commands, "warmup": warmup, **processes.named_commands(calls)}
    return replace(run, files=files, statements=statements, commands=commands)


def failures(planned: Sequence[Run], failed: Run) -> list[MeasuredRun]:
    """Return the runs of levels of which the first one `failed`, from those `planned`."""
    clients = plural(failed.cell[2], "client")
    reason = f"not measured: with {clients}, before this in the same start, {failed.reason}"
    behind = [replace(refused_run(run, reason), failure=failed.failure) for run in planned[1:]]
    return [MeasuredRun(run) for run in (failed, *behind)]
