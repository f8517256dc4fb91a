"""Measure a group of servers in slices: the clients of one of them are let through their gate, round by round."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scripts.lib.vocabulary import SHORTEST_SLICE_S
from scripts.measure.engine import disk_load, observe, rounds, slice_facts
from scripts.measure.engine.disk_load import DiskBound, WarmUp
from scripts.measure.engine.group import Group, Ready, ServerUnderTest, measured_runs, stop
from scripts.measure.engine.observe import CounterSeries, Edge
from scripts.measure.engine.own_server import UsageSince
from scripts.measure.engine.run_facts import operations
from scripts.measure.engine.run_parts import Sliced
from scripts.measure.engine.run_record import MeasuredRun, Run
from scripts.measure.engine.setting import Phases
from scripts.measure.engine.side_by_side import Slice, SlicedArm, take_slice, waiting
from scripts.measure.engine.slice_facts import Rounds
from scripts.measure.engine.warnings import drift
from scripts.measure.loadgen import processes
from scripts.measure.loadgen.slice_gate import Sent
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import data_directory

# The beginning of a slice, in which caches are filled again, is left out of throughput and latency.
SKIP_S = 0.01
LONGEST_S = 5.0
# A slice is at least this many mean transactions of the reference long.
TRANSACTIONS_OF_SLICE = 20
# Enough for each of six arms to have each place once.
FEWEST_ROUNDS = 6
WARM_SLICE_S = 0.5


@dataclass(frozen=True)
class Taken:
    """How a group was measured: its slices in their order, the orders of the arms, the seconds in which one was open.

    `disk_per_s` is what the first sound arm, the reference unless it failed, asked of a disk at warm-up. Where a block
    may go by turns, a load `bound` by a disk has no slices.
    """

    slices: Sequence[Slice] = ()
    orders: Sequence[Sequence[str]] = ()
    open_s: float = 0.0
    disk_per_s: Mapping[str, float] = field(default_factory=dict)
    bound: DiskBound | None = None


@dataclass(frozen=True)
class Connected:
    """An arm whose clients are connected, and held at their gate; `run` is its record so far."""

    ready: Ready
    arm: SlicedArm
    call: SysbenchCall
    run: Run

    @property
    def server(self) -> ServerUnderTest:
        """The server of the arm."""
        return self.ready.server


@dataclass(frozen=True)
class WarmArm:
    """An arm after its warm-up: what its server had counted, and sysbench sent, before the first round.

    `usage_since` adds the resources used from then on to a run.
    """

    connected: Connected
    edge: Edge
    sent: Sent
    usage_since: UsageSince
    series: CounterSeries


@dataclass(frozen=True)
class WarmUpResult:
    """What the warm-up of a group showed of its first arm."""

    transaction_s: float
    disk_per_s: Mapping[str, float]
    bound: DiskBound | None


def measure(
    group: Group, ready: Mapping[str, Ready], names: Sequence[str], seed: str, phases: Phases, *, may_turn: bool
) -> tuple[dict[str, MeasuredRun], Taken]:
    """Warm up, measure in slices and stop the servers; returns the runs of the sound arms, and how they were measured.

    `names` are those of the arms, the reference first. Failed arms are among the failures of the group. When the load
    is `bound` by a disk and the block `may_turn`, warm-up is all that is done, and there are no runs.
    """
    phases.announce("connect the clients")
    connected = group.together(lambda arm, state: _connect(group, arm, state), ready)
    phases.end("connect")
    ordered = {arm: connected[arm] for arm in names if arm in connected}
    runs, rounds_taken = _measured(group, ordered, seed, phases, may_turn=may_turn)
    holds = {arm: state.arm.hold for arm, state in ordered.items()}
    stops = stop(group, {arm: state.server for arm, state in ready.items()}, holds, seed, phases)
    return measured_runs(runs, stops, ready), rounds_taken


def _connect(group: Group, arm: str, ready: Ready) -> Connected:
    server, setting = ready.server, ready.server.setting
    with server.server.blamed():
        calls = server.calls(setting.measure_s, seed=setting.context.repetition)
        load = group.stack(arm).enter_context(server.connected(calls))
        run = server.with_clients(ready.run, load)
    commands = {**run.commands, **processes.named_commands(calls)}
    return Connected(
        ready, SlicedArm(arm, server.server, server.hold(), load), calls[0], replace(run, commands=commands)
    )


def _measured(
    group: Group, connected: Mapping[str, Connected], seed: str, phases: Phases, *, may_turn: bool
) -> tuple[dict[str, Run], Taken]:
    if not connected:
        return {}, Taken()
    if not (warm := _warm_up(group, connected, seed, phases)):
        return {}, Taken()
    if warm.bound and may_turn:
        group.in_turn(lambda arm, state: _end_load(state), connected)
        return {}, Taken(disk_per_s=warm.disk_per_s, bound=warm.bound)
    data_directory.drain()
    begun = group.in_turn(lambda arm, state: _begin(state), connected)
    phases.end("drain_warmup")
    slices, orders, about = _take_all_rounds(group, begun, warm, seed, phases)
    compared = _compared(list(group.sound(begun)), slices)
    runs = group.in_turn(lambda arm, state: _end(arm, state, slices, about, compared.get(arm, Sliced())), begun)
    phases.end("end")
    return runs, Taken(slices, orders, slice_facts.open_s(slices), warm.disk_per_s, warm.bound)


def _warm_up(group: Group, connected: Mapping[str, Connected], seed: str, phases: Phases) -> WarmUpResult | None:
    """Let each arm work for the slices of its warm-up; returns what the first one showed, None when all failed."""
    first, state = next(iter(connected.items()))
    warmup_s = state.server.setting.load.warmup_s or 0
    phases.announce(f"warm up for {warmup_s:g} s each")
    number = int(-(-warmup_s // WARM_SLICE_S))
    watched = group.attempt(lambda arm, server: server.watch_disk(number), first, state.server)
    watches = [watch for watches_of_server in watched for watch in watches_of_server]
    arms = {arm: state.arm for arm, state in group.sound(connected).items()}
    if not arms:
        return None
    if watches:
        arms[first].after_slice = watches[0].after_slice
    orders = list(rounds.orders(list(arms), number, f"{seed}/warm-up"))
    # What the first arm reports late is best waited for while the others work.
    orders[-1].sort(key=next(iter(arms)).__ne__)
    with waiting([arm.hold for arm in arms.values()]):
        slices = list(take_rounds(group, arms, orders, WARM_SLICE_S, 0.0))
        for watch in watches:
            _let_report(group, arms[first], watch, state.server.family.REPORTED_WITHIN_S)
    phases.end("warmup")
    per_s = watches[0].per_s if watches else {}
    last = [part for part in slices if part.arm == next(iter(arms)) and part.tps > 0]
    transaction_s = last[-1].clients / last[-1].tps if last else WARM_SLICE_S
    return WarmUpResult(transaction_s, per_s, disk_load.bound(per_s))


def _let_report(group: Group, arm: SlicedArm, watch: WarmUp, within_s: float) -> None:
    """Let the sessions of a server that reports late have another transaction, once they may report."""
    if watch.late and watch.ended_s is not None:
        time.sleep(max(watch.ended_s + within_s - time.monotonic(), 0.0))
        list(take_rounds(group, {arm.name: arm}, [[arm.name]], SHORTEST_SLICE_S, 0.0))


def take_rounds(
    group: Group, arms: Mapping[str, SlicedArm], orders: Sequence[Sequence[str]], slice_s: float, skip_s: float
) -> Iterator[Slice]:
    """Yield the slices of all rounds, in the given orders of the arms; an arm that fails has no further slice."""
    for number, order in enumerate(orders):
        for position, name in enumerate(order):
            if name not in group.failures:
                yield from group.attempt(
                    lambda name, at: take_slice(arms[name], at[0], at[1], slice_s, skip_s), name, (number, position)
                )


def _begin(connected: Connected) -> WarmArm:
    """Read the server's counters and resources after warm-up, and forget what the gate counted so far."""
    server, arm, series = connected.server, connected.arm, CounterSeries()
    with server.server.blamed():
        edge = server.edge()
    arm.load.gate.forget()
    arm.after_slice = lambda open_ns: None
    if server.setting.load.series:
        arm.before_slice, arm.after_slice = series.before_slice, series.after_slice_of(server.counters)
    with server.server.blamed():
        arm.load.demand_alive()
        return WarmArm(connected, edge, arm.load.gate.sent, server.meter(arm.load), series)


def _take_all_rounds(
    group: Group, begun: Mapping[str, WarmArm], warm: WarmUpResult, seed: str, phases: Phases
) -> tuple[list[Slice], list[list[str]], Rounds]:
    """Return the slices of all rounds, the orders of the arms in them, and how they were taken."""
    arms = {arm: state.connected.arm for arm, state in begun.items()}
    if not arms:
        phases.end("measure")
        return [], [], Rounds(0.0, SKIP_S, time.time(), time.time())
    setting = next(iter(begun.values())).connected.server.setting
    load = setting.load
    slice_s = load.slice_s or fitting_slice_s(warm.transaction_s)
    number = int(load.rounds or max(FEWEST_ROUNDS, -(-setting.measure_s // slice_s)))
    phases.announce(f"measure {number} rounds of {len(arms)} slices of {slice_s:.3g} s")
    orders, begin_s = list(rounds.orders(list(arms), number, seed)), time.time()
    with waiting([arm.hold for arm in arms.values()]):
        slices = list(take_rounds(group, arms, orders, slice_s, SKIP_S))
    about = Rounds(slice_s, SKIP_S, begin_s, time.time())
    phases.end("measure")
    return slices, orders, about


def fitting_slice_s(transaction_s: float) -> float:
    """Return the length of a slice for a mean time of a transaction."""
    return min(max(TRANSACTIONS_OF_SLICE * transaction_s, SHORTEST_SLICE_S), LONGEST_S)


def _compared(names: list[str], slices: Sequence[Slice]) -> dict[str, Sliced]:
    """Return by arm what rests on its rounds beside the other arms; none for an arm alone."""
    tps = slice_facts.by_round(slices, names)
    if len(names) < 2 or not tps:
        return {}
    log_sd, drifts = slice_facts.log_standard_error(tps), map(drift, slice_facts.beside_others(tps).T.tolist())
    return {
        name: Sliced(tps_log_sd=log_sd, drift=moved, drift_error=error)
        for name, (moved, error) in zip(names, drifts, strict=True)
    }


def _end(arm: str, begun: WarmArm, slices: Sequence[Slice], about: Rounds, compared: Sliced) -> Run:
    """End the load of an arm; returns the run with its rounds."""
    connected, server = begun.connected, begun.connected.server
    slices_of_arm = [part for part in slices if part.arm == arm]
    run = _with_usage(begun, slices_of_arm, about, compared)
    latency = slice_facts.latency_of(connected.arm.load.gate)
    with server.server.blamed():
        edge = server.edge()
        sent = connected.arm.load.gate.sent.since(begun.sent)
        _end_load(connected)
        run = replace(
            slice_facts.sliced_run(run, slices_of_arm, latency, about, sent),
            counters=observe.counter_edges(begun.edge, edge),
            engine_report=observe.reports(begun.edge, edge),
            files=server.files(connected.ready.sizes),
            statements=server.statements(connected.call),
        )
    series = observe.counter_columns(begun.series.seconds, begun.series.readings)
    return replace(run, operations=operations(server.setting.text), counter_series=series)


def _with_usage(begun: WarmArm, slices: Sequence[Slice], about: Rounds, compared: Sliced) -> Run:
    """Return the run with the resources that an arm used, and how it was measured."""
    arm, gate = begun.connected.arm, begun.connected.arm.load.gate
    with arm.server.blamed():
        arm.load.demand_alive()
        run = begun.usage_since(begun.connected.run, slices)
    sliced = slice_facts.with_slices(compared, slices, gate, about)
    return replace(run, sliced=replace(sliced, held_by=arm.hold.held_by, waiting_cpu_s=arm.hold.waiting_cpu_s))


def _end_load(connected: Connected) -> None:
    with connected.server.server.blamed():
        connected.arm.load.end()
