"""The load of an arm that is measured by turns: in one long slice, or freely where no gate can hold it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scripts.lib.host import priority, usage
from scripts.measure.engine import client_environment, long_slice, observe
from scripts.measure.engine.counter_series import with_machine
from scripts.measure.engine.run_facts import measured
from scripts.measure.engine.setting import Setting
from scripts.measure.engine.side_by_side import PARKED_WITHIN_S
from scripts.measure.loadgen import client_host, output, printed_checks, processes, run_sysbench
from scripts.measure.loadgen.gated import CountsDisagree
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers.server import Server


def measuring_calls(setting: Setting, server: Server) -> list[SysbenchCall]:
    """Return the calls of the measuring, of all sysbench processes."""
    return setting.calls(server, _called_s(setting), seed=setting.place["repetition"])


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
    how = _as_printed if setting.why_printed else long_slice.measured
    return how(setting, server, connection, calls, ask)


def _as_printed(
    setting: Setting,
    server: Server,
    connection: Any,
    calls: Sequence[SysbenchCall],
    read: Callable[[], dict[str, float]] | None,
) -> dict[str, Any]:
    """Measure a load that no gate can hold, by what sysbench prints; see `long_slice.measured`."""
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


def _demand_agreement(setting: Setting, finished: run_sysbench.FinishedLoad) -> None:
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


def run_load(setting: Setting, calls: Sequence[SysbenchCall], text: Path, **how: Any) -> run_sysbench.FinishedLoad:
    """Run the calls of one load together, on the CPUs and in the environment of its setting.

    `how` holds further arguments of `processes.run_processes`.
    """
    cpus, environment = setting.cpus.client_cpus, setting.client_environment
    if setting.remote:
        environment = client_host.login_environment()
    return processes.run_processes(calls, text, cpus=cpus, environment=environment, **how)
