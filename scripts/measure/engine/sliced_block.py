"""Measure a block in which all servers are up, and take turns slice by slice or statement by statement."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from operator import methodcaller
from typing import Any

from scripts.lib.host import pausing
from scripts.lib.host.causes import of_host
from scripts.lib.host.leftovers import hold_machine
from scripts.lib.vocabulary import SHORTEST_SLICE_S
from scripts.measure.engine import disk_load, rounds, side_by_side, slice_facts
from scripts.measure.engine.bench import Bench
from scripts.measure.engine.disk_load import Bound, WarmUp
from scripts.measure.engine.held import waiting
from scripts.measure.engine.run_failures import facts_of_failure
from scripts.measure.engine.running_bench import RunningBench
from scripts.measure.engine.setting import Phases, Setting
from scripts.measure.engine.side_by_side import Arm, Slice
from scripts.measure.engine.slice_facts import Rounds
from scripts.measure.engine.statements import SqlBench, take_passes
from scripts.measure.engine.warnings import drift
from scripts.measure.loadgen import sysbench
from scripts.measure.loadgen.lua import script_path
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers import data_directory
from scripts.measure.servers.server import ServerFailed

# The beginning of a slice, in which caches are filled again, is left out of throughput and latency.
SKIP_S = 0.01
LONGEST_S = 5.0
# A slice is at least this many mean transactions of the reference long.
TRANSACTIONS_OF_SLICE = 20
# Enough for each of six arms to have each place once.
FEWEST_ROUNDS = 6
WARM_SLICE_S = 0.5


@dataclass
class Taken:
    """What a block left: its slices, how they were taken, and the seconds in which an arm was measured.

    `starts` names the arms in the order in which they were cloned, started and connected, `disk_per_s` holds what the
    first sound one, the reference unless it failed, asked of a disk at warm-up. Where the block `may_turn`, a load
    `bound` by a disk has no slices.
    """

    may_turn: bool = False

    slices: list[Slice] = field(default_factory=list)
    rounds: Rounds | None = None
    orders: list[list[str]] = field(default_factory=list)
    open_s: float = 0.0
    starts: list[str] = field(default_factory=list)
    disk_per_s: dict[str, float] = field(default_factory=dict)
    bound: Bound | None = None


def measure(
    settings: dict[str, Setting], seed: str, phases: Phases, *, may_turn: bool = False
) -> tuple[dict[str, dict[str, Any]], Taken]:
    """Measure arms side by side; returns (facts by arm, each with its outcome, and what the block left).

    `settings` names the reference first; the orders of the starts and of the rounds are drawn from `seed`. A failure of
    a server or of its load is the outcome of its arm, a failure of the host is raised. When the load is `bound` by a
    disk and the block `may_turn`, warm-up is all that is done: the facts are none to keep.
    """
    for setting in settings.values():
        if "script" in setting.load:
            script = script_path(setting.load["script"])
            sysbench.demand_options(setting.generator, script, setting.load.get("options", {}))
    taken = Taken(may_turn=may_turn)
    with hold_machine() as waited_s:
        phases.end("startup", less_s=waited_s, less_name="wait_lock")
        if rest_s := max(setting.load.get("rest_s") or 0 for setting in settings.values()):
            time.sleep(rest_s)
            phases.end("rest")
        with contextlib.ExitStack() as stack:
            benches = [
                _kind(setting)(name, setting, stack.enter_context(contextlib.ExitStack()))
                for name, setting in settings.items()
            ]
            # A server is killed when the thread that started it ends, so the threads outlive the servers' clean stop.
            with ThreadPoolExecutor(len(benches)) as threads, _nothing_awaited_after_a_signal():
                _run(benches, seed, taken, phases, partial(_each, threads))
        phases.end("remove")
        phases.add("drain", data_directory.drain())
    return {bench.name: _outcome(bench) for bench in benches}, taken


def _kind(setting: Setting) -> type[Bench]:
    if setting.is_running:
        return RunningBench
    return SqlBench if "sql" in setting.load else Bench


@contextlib.contextmanager
def _nothing_awaited_after_a_signal() -> Iterator[None]:
    """Kill what the threads wait for when a signal ends the body: a load of tables takes minutes."""
    try:
        yield
    except SystemExit:
        _, *below = pausing.descendants(os.getpid())
        pausing.signal_all(below, signal.SIGKILL)
        raise


Each = Callable[[Sequence[Bench], Callable[[Bench], None]], None]


def _run(benches: list[Bench], seed: str, taken: Taken, phases: Phases, each: Each) -> None:
    # Who starts first may get other pages of memory: without a drawn order that would always be the same arm.
    mixed = random.Random(f"{seed}/starts").sample(benches, len(benches))
    taken.starts = [bench.name for bench in mixed]
    _bring_up(mixed, phases, each)
    if sound := _sound(benches):
        measure_them = _measure_passes if isinstance(sound[0], SqlBench) else _measure_rounds
        measure_them(sound, seed, taken, phases)
    phases.announce("stop the servers")
    if benches[0].setting.stops_slowly:
        _stop_slowly(_sound(benches), seed)
    else:
        each(benches, methodcaller("stop"))
    phases.end("stop")


def _stop_slowly(benches: list[Bench], seed: str) -> None:
    """Stop the servers one after the other, in a drawn order; those that wait cannot work on what they put off."""
    mixed = random.Random(f"{seed}/stops").sample(benches, len(benches))
    with waiting([bench.arm for bench in mixed]):
        for bench in mixed:
            bench.arm.release()
            _step(bench, methodcaller("stop"))


def _bring_up(benches: list[Bench], phases: Phases, each: Each) -> None:
    phases.announce(f"clone the data of {', '.join(bench.name for bench in benches)}")
    each(benches, methodcaller("clone"))
    phases.end("clone")
    phases.add("drain_clone", data_directory.drain())
    for bench in _sound(benches):
        _step(bench, methodcaller("time_storage"))
    phases.end("fsync")
    phases.announce("start the servers")
    each(benches, methodcaller("start"))
    phases.end("start")
    each(benches, methodcaller("fill_pool"))
    phases.end("fill")
    phases.announce("connect the clients")
    each(benches, methodcaller("attach_load"))
    phases.end("connect")


def _measure_rounds(benches: list[Bench], seed: str, taken: Taken, phases: Phases) -> None:
    load = benches[0].setting.load
    phases.announce(f"warm up for {load['warmup_s']:g} s each")
    number = int(-(-load["warmup_s"] // WARM_SLICE_S))
    _step(benches[0], methodcaller("watch_warm_up", number))
    if not (benches := _sound(benches)):
        return
    warm_s = _warm_up(benches, number, seed, taken)
    phases.end("warmup")
    if taken.bound and taken.may_turn:
        for bench in _sound(benches):
            _step(bench, Bench.leave_rounds)
        return
    data_directory.drain()
    for bench in _sound(benches):
        _step(bench, methodcaller("begin_rounds"))
    phases.end("drain_warmup")
    slice_s = load.get("slice_s") or fitting_slice_s(warm_s)
    number = load.get("rounds") or max(FEWEST_ROUNDS, -(-load["measure_s"] // slice_s))
    if arms := [bench.arm for bench in _sound(benches)]:
        phases.announce(f"measure {number:g} rounds of {len(arms)} slices of {slice_s:.3g} s")
        _take_rounds(arms, int(number), slice_s, seed, taken)
    phases.end("measure")
    _blame(benches)
    known = _compared([bench.name for bench in _sound(benches)], taken)
    for bench in _sound(benches):
        own = [one for one in taken.slices if one.arm == bench.name]
        beside = known.get(bench.name, {})
        _step(bench, lambda bench, own=own, beside=beside: bench.end_rounds(partial(_facts, bench, own, taken, beside)))
    phases.end("end")


def _compared(names: list[str], taken: Taken) -> dict[str, dict[str, float | None]]:
    """Return by arm the facts that rest on its rounds beside the other arms; none for an arm alone."""
    tps = slice_facts.by_round(taken.slices, names)
    if len(names) < 2 or not tps:
        return {}
    log_sd, drifts = slice_facts.log_standard_error(tps), map(drift, slice_facts.beside_others(tps).T.tolist())
    return {
        name: {"tps_log_sd": log_sd, "drift": moved, "drift_error": error}
        for name, (moved, error) in zip(names, drifts, strict=True)
    }


def _measure_passes(benches: list[SqlBench], seed: str, taken: Taken, phases: Phases) -> None:
    phases.announce(f"send the statements {benches[0].setting.load['passes']} times")
    taken.orders = take_passes(benches, seed, lambda bench, ask: None if bench.failure else _step(bench, ask))
    taken.open_s = sum(turn.open_ns for bench in benches for turn in bench.turns) / 1e9
    phases.end("measure")


def _take_rounds(arms: list[Arm], number: int, slice_s: float, seed: str, taken: Taken) -> None:
    taken.orders = list(rounds.orders([arm.name for arm in arms], number, seed))
    begin_s = time.time()
    with waiting(arms):
        taken.slices = list(side_by_side.take_rounds(arms, taken.orders, slice_s, SKIP_S))
    taken.open_s = sum(one.open_ns for one in taken.slices) / 1e9
    taken.rounds = Rounds(slice_s, SKIP_S, begin_s, time.time())


def _facts(bench: Bench, own: list[Slice], taken: Taken, beside: dict, before: Any, after: Any) -> dict:
    gate = bench.arm.load.gate
    sliced = slice_facts.sliced_facts(own, gate, taken.rounds)
    return {
        **slice_facts.window_facts(own, gate, taken.rounds),
        **bench.usage_facts(own, before, after),
        "sliced": {**sliced, **beside, "held_by": bench.arm.held_by, "waiting_cpu_s": bench.arm.waiting_cpu_s},
    }


def _warm_up(benches: list[Bench], number: int, seed: str, taken: Taken) -> float:
    """Let each arm work for `number` slices; returns the mean seconds of a transaction of the first arm.

    Notes in `taken` what that arm asked of a disk.
    """
    arms = [bench.arm for bench in benches]
    orders = list(rounds.orders([arm.name for arm in arms], number, f"{seed}/warm-up"))
    # What the first arm reports late is best waited for while the others work.
    orders[-1].sort(key=arms[0].name.__ne__)
    with waiting(arms):
        slices = list(side_by_side.take_rounds(arms, orders, WARM_SLICE_S, 0.0))
        if watch := benches[0].watch:
            _let_report(benches[0], watch)
            taken.disk_per_s, taken.bound = watch.per_s, disk_load.bound(watch.per_s)
    _blame(benches)
    last = [one for one in slices if one.arm == arms[0].name and one.tps > 0]
    return last[-1].clients / last[-1].tps if last else WARM_SLICE_S


def _let_report(bench: Bench, watch: WarmUp) -> None:
    """Let the sessions of a server that reports late have another transaction, once they may report."""
    if watch.late and watch.ended_s is not None:
        time.sleep(max(watch.ended_s + bench.setting.family.REPORTED_WITHIN_S - time.monotonic(), 0.0))
        list(side_by_side.take_rounds([bench.arm], [[bench.name]], SHORTEST_SLICE_S, 0.0))


def fitting_slice_s(transaction_s: float) -> float:
    """Return the length of a slice for a mean time of a transaction."""
    return min(max(TRANSACTIONS_OF_SLICE * transaction_s, SHORTEST_SLICE_S), LONGEST_S)


def _blame(benches: list[Bench]) -> None:
    for bench in benches:
        bench.failure = bench.failure or bench.arm.failure


def _sound(benches: Sequence[Bench]) -> list[Bench]:
    return [bench for bench in benches if bench.failure is None]


def _each(threads: ThreadPoolExecutor, benches: Sequence[Bench], step: Callable[[Bench], None]) -> None:
    """Take a step with all sound arms at the same time."""
    list(threads.map(partial(_step, step=step), _sound(benches)))


def _step(bench: Bench, step: Callable[[Bench], None]) -> None:
    try:
        step(bench)
    except (ServerFailed, SysbenchFailed) as failure:
        if of_host(failure):
            raise
        bench.failure = failure
        # The thread that started the server ends it too late for the other arms.
        bench.stack.close()


def _outcome(bench: Bench) -> dict[str, Any]:
    if bench.failure is not None:
        return facts_of_failure(bench.failure)
    return {"outcome": "ok", "reason": None, **bench.facts}
