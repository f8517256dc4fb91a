"""The load of a run: warm up, measure with sysbench, and read the server's counters before and after."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.lib.host import priority, usage
from scripts.measure.engine import buffer_pool, client_environment, observe, turn
from scripts.measure.engine.counter_series import with_machine
from scripts.measure.engine.run_facts import measured
from scripts.measure.engine.setting import Phases, Setting
from scripts.measure.engine.side_by_side import PARKED_WITHIN_S
from scripts.measure.loadgen import client_host, output, printed_checks, processes, run_sysbench
from scripts.measure.loadgen.gated import CountsDisagree
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers.server import Server

# The first statements of an event, and the first characters of a statement, that a record keeps.
MOST_STATEMENTS, MOST_CHARACTERS = 500, 2000
DONE_WITHIN_S = 120


def logged_statements(
    setting: Setting, server: Server, connection: Any, call: SysbenchCall, phases: Phases
) -> dict[str, dict[str, Any]]:
    """Return `statements`, those of one event, for a run's record; empty unless this run is the one to log them."""
    if not setting.place.get("log_statements"):
        return {}
    found = statements_of_one_event(server, connection, call, setting.log.with_suffix(".event.txt"))
    phases.end("log_statements")
    return {"statements": found}


def statements_of_one_event(server: Server, connection: Any, call: SysbenchCall, text: Path) -> dict[str, Any]:
    """Run one event of a load, whose measuring call is `call`; returns the statements that the server logged.

    `sent` holds the first statements in their order, `total` counts all. Raises SysbenchFailed when the event fails.
    """
    read = server.log.stat().st_size
    server.family.log_statements(connection)
    run_sysbench.run_unread(call.of_one_event(), text, timeout_s=DONE_WITHIN_S)
    with server.log.open("rb") as log:
        log.seek(read)
        every = server.family.logged_statements(connection, log.read().decode(errors="replace"))
    return {"sent": [one[:MOST_CHARACTERS] for one in every[:MOST_STATEMENTS]], "total": len(every)}


def sysbench_loads(settings: Sequence[Setting], server: Server, data: Path, phases: Phases) -> Iterator[dict[str, Any]]:
    """Run the load with the clients of each setting, one after the other; yields the facts of each window.

    Each is warmed up with a separate call. Sizes of files are taken before the warm-up and after the measuring call.
    """
    family = settings[0].family
    with contextlib.closing(server.connect()) as connection:
        variables = observe.variable_facts(family, connection, data.parent, server.sockets)
        before = observe.file_sizes(family, data, connection)
        filled = {**variables, "pool": buffer_pool.fill(settings[0].load, family, connection, before)}
        phases.end("fill")
        client_host.admit(settings[0].remote, server, connection)
        for number, setting in enumerate(settings):
            if number:
                rest(setting, phases)
            facts, call = _one_load(setting, server, connection, phases)
            after = observe.file_sizes(family, data, connection)
            phases.end("measure")
            logged = logged_statements(setting, server, connection, call, phases)
            yield {**facts, **filled, "files": {"before": before, "after": after}, **logged}
            before = after


def _one_load(setting: Setting, server: Server, connection: Any, phases: Phases) -> tuple[dict[str, Any], SysbenchCall]:
    """Warm the server up, then measure it; returns the facts of the window and the commands, and the measuring call."""
    warmup = warm_up(setting, server)
    phases.end("warmup")
    calls = setting.calls(server, _called_s(setting), seed=setting.place["repetition"])
    facts = measure_sysbench(setting, server, connection, calls)
    commands = {"server": server.command, "warmup": warmup, **processes.named_commands(calls)}
    return {**facts, "commands": commands}, calls[0]


def rest(setting: Setting, phases: Phases) -> None:
    """Leave the host idle for the study's `rest_s`."""
    if seconds := setting.load.get("rest_s"):
        time.sleep(seconds)
        phases.end("rest")


def _called_s(setting: Setting) -> int:
    # The window lies between two reports, and at the last one connections may be closing: a second on each side.
    # Several processes do not end together: one more second, so that each of them covers the window.
    return setting.measure_s + 2 + (setting.place["clients"] > processes.MOST_CLIENTS)


def measure_sysbench(
    setting: Setting, server: Server, connection: Any, calls: Sequence[SysbenchCall]
) -> dict[str, Any]:
    """Run the measuring call; returns the facts of the window, and the server's counters before and after the call."""

    def read() -> dict[str, float]:
        return with_machine(setting.family.counters(connection), server.process.pid)

    ask = read if setting.load.get("series") else None
    how = _as_printed if setting.why_printed else turn.measured
    return how(setting, server, connection, calls, ask)


def _as_printed(
    setting: Setting,
    server: Server,
    connection: Any,
    calls: Sequence[SysbenchCall],
    read: Callable[[], dict[str, float]] | None,
) -> dict[str, Any]:
    """Measure a load that no gate can hold, by what sysbench prints; see `turn.measured`."""
    samples: list[tuple[run_sysbench.Moment, usage.Sample]] = []
    proven: dict[str, Any] = {}

    def on_report(moment: run_sysbench.Moment) -> None:
        if moment.number == 1:
            priority.carry_over(server.process.pid, *moment.pids)
            proven.update(client_environment.proven(setting, moment.programs))
        if moment.number in (1, 1 + setting.measure_s):
            samples.append((moment, usage.sample_usage(server.process.pid, *moment.pids)))
            setting.at_edge(server)

    patience_s = setting.patience_s(setting.measure_s)
    before = observe.read_edge(setting.family, connection)
    with observe.sampled_counters(read) as counted:
        finished = run_load(setting, calls, setting.text, timeout_s=patience_s, on_report=on_report)
    after = observe.read_edge(setting.family, connection)
    _demand_agreement(setting, finished)
    facts = measured(finished, samples)
    begin_s = finished.moments[0].monotonic_s - finished.output.reports[0].second
    return {
        **facts,
        **client_host.used_on_client(setting.remote, server, samples),
        **observe.edge_facts(before, after),
        **output.operation_facts(setting.text),
        **proven,
        "counter_series": observe.sample_columns(counted, begin_s),
    }


def _demand_agreement(setting: Setting, finished: run_sysbench.Finished) -> None:
    try:
        text = setting.text.read_text(encoding="utf-8", errors="replace")
        printed_checks.demand_agreement(finished, text, _called_s(setting))
    except CountsDisagree as error:
        raise CountsDisagree(f"{error} (log: {setting.text})") from error


def warm_up(setting: Setting, server: Server) -> list[str]:
    """Run the workload unmeasured, with another seed than the measuring call's; returns the first command."""
    seconds = setting.load["warmup_s"]
    calls = setting.calls(server, seconds, seed=setting.place["repetition"] + 1_000_000)
    text = setting.log.with_suffix(".warmup.txt")
    if setting.why_printed:
        run_load(setting, calls, text, timeout_s=setting.patience_s(seconds))
    elif seconds:
        with setting.gated(calls, text) as load:
            load.slice(seconds, 0.0, PARKED_WITHIN_S, lambda: server.process.poll() is None)
            load.end()
    return calls[0].argv


def run_load(setting: Setting, calls: Sequence[SysbenchCall], text: Path, **how: Any) -> run_sysbench.Finished:
    """Run the calls of one load together, on the CPUs and in the environment of its setting.

    `how` holds further arguments of `processes.run_processes`.
    """
    cpus, environment = setting.cpus.client_cpus, setting.client_environment
    if setting.remote:
        environment = client_host.login_environment()
    return processes.run_processes(calls, text, cpus=cpus, environment=environment, **how)
