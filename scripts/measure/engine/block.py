"""Measure a planned block, side by side or by turns, and keep its records: those of the arms, then block.json."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.build.sources.kinds import RUNNING
from scripts.lib import json_record
from scripts.lib.host import cpus as host_cpus
from scripts.lib.host import machine_facts, outcome
from scripts.lib.host.entry import started_s
from scripts.lib.vocabulary import BLOCK_FILE
from scripts.measure.engine import rounds, run_alone, run_record, sliced_block, warnings
from scripts.measure.engine.planned import TURNS, PlannedArm, PlannedBlock
from scripts.measure.engine.run_facts import planned_facts
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Phases, Setting
from scripts.measure.loadgen import client_host, sysbench


def measured(levels: Sequence[PlannedBlock], log: Path) -> list[Path]:
    """Measure a block, or several that share the starts of their servers, and write their records, block.json last.

    Returns the records of the arms. What an earlier attempt left in the folders is removed first: nothing counts that
    block.json does not list.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("", encoding="utf-8")
    for block in map(_record_of, levels):
        block.parent.mkdir(parents=True, exist_ok=True)
        for left in block.parent.iterdir():
            left.unlink()
    if levels[0].method == TURNS:
        found = _by_turns(levels, log, window_s=levels[0].turn_s)
    else:
        found = [_together(*levels, _record_of(*levels), log)]
    return [path for level, kept in zip(levels, found, strict=True) for path in _written(level, *kept)]


def _record_of(planned: PlannedBlock) -> Path:
    return Path(planned.folder, BLOCK_FILE)


def _written(planned: PlannedBlock, facts: dict[str, dict], about: dict[str, Any]) -> list[Path]:
    """Write the records of a block's arms, then the block's; returns the former."""
    block, runs = _record_of(planned), []
    for arm in planned.arms:
        runs.append(block.with_name(f"{arm.name}.json"))
        run_record.write(runs[-1], facts[arm.name])
    json_record.write_signed(block, {**_names(planned), **about, "arms": dict(_listed(planned, facts, block))})
    return runs


def _names(planned: PlannedBlock) -> dict[str, Any]:
    names = ("workload", "clients", "repetition", "method", "why")
    return {name: getattr(planned, name) for name in names}


def _listed(planned: PlannedBlock, facts: dict[str, dict], block: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for arm in planned.arms:
        sums = {end: json_record.file_sha256(block.with_name(f"{arm.name}.{end}")) for end in ("json", "txt")}
        yield arm.name, {"digest": arm.digest, "outcome": facts[arm.name]["outcome"], "sha256": sums}


def _setting(arm: PlannedArm, block: Path, log: Path) -> Setting:
    text, own_log = block.with_name(f"{arm.name}.txt"), log.with_suffix(f".{arm.name}.log")
    text.touch()
    place = {key: value for key, value in arm.place.items() if key != "judged"}
    load = arm.recipe["load"]
    topology, remote = host_cpus.read_topology(), client_host.client_host_of(load)
    running = json_record.read(Path(arm.identity)).get(RUNNING)
    cpus = host_cpus.client_alone(topology) if running else client_host.place_on_hosts(topology, load)
    generator = sysbench.read_capabilities()
    return Setting(arm.recipe, place, Path(arm.identity), Path(arm.dataset), text, own_log, generator, cpus, remote)


def _judgement(arm: PlannedArm) -> str | None:
    return arm.refused or outcome.first_reason([Path(arm.identity), *map(Path, arm.place.get("judged", []))])


Kept = tuple[dict[str, dict], dict[str, Any]]


def _by_turns(
    levels: Sequence[PlannedBlock], log: Path, why: dict[str, Any] | None = None, window_s: int | None = None
) -> list[Kept]:
    """Measure by turns, in windows of `window_s` or else as the recipe says.

    `why` so is known to the plan, or what a warm-up showed. Each server goes through all `levels` in one start.
    """
    planned = levels[0]
    said = {"method": TURNS, "why": planned.why, **(why or {})}
    begin_s, found = time.time() if why else started_s(), [{} for _ in levels]
    for position, name in enumerate(planned.turns, start=1):
        Phases(begin_s, log).announce(f"turn {position} of {len(planned.turns)}: {name}")
        now_s = time.time() if position > 1 else begin_s
        for kept, facts in zip(found, _turn(levels, name, position, log, now_s, window_s), strict=True):
            kept[name] = {**facts, "sliced": said}
    ended_s = time.time()
    return [(kept, _spent(begin_s, ended_s, _open_s(kept), len(levels)) | said | {"turns": planned.turns})
            for kept in found]  # fmt: skip


def _turn(
    levels: Sequence[PlannedBlock], name: str, position: int, log: Path, begin_s: float, window_s: int | None
) -> list[dict[str, Any]]:
    """Measure one arm at all levels; returns its facts at each."""
    arms = [next(arm for arm in level.arms if arm.name == name) for level in levels]
    parts = [
        run_alone.Level(
            {**arm.place, "position": position},
            _record_of(level).with_name(f"{name}.txt"),
            log.with_suffix(f".{name}.log" if len(levels) == 1 else f".{name}.{level.clients}.log"),
        )
        for level, arm in zip(levels, arms, strict=True)
    ]
    how = {"begin_s": begin_s, "refused": arms[0].refused, "window_s": window_s}
    return run_alone.facts_of_levels(arms[0].recipe, parts, Path(arms[0].identity), Path(arms[0].dataset), **how)


def _open_s(facts: dict[str, dict]) -> float:
    return sum((one.get("window") or {}).get("duration_s") or 0 for one in facts.values())


def _together(planned: PlannedBlock, block: Path, log: Path) -> Kept:
    phases = Phases(started_s(), log)
    settings = {arm.name: _setting(arm, block, log) for arm in planned.arms}
    machine, arms = machine_facts.read_host(), {arm.name: arm for arm in planned.arms}
    known = {name: planned_facts(one, machine, json_record.read(one.identity)) for name, one in settings.items()}
    judged = {name: reason for name, arm in arms.items() if (reason := _judgement(arm))}
    sound = {name: setting for name, setting in settings.items() if name not in judged}
    may_turn, found, taken = planned.turn_s is not None, {}, sliced_block.Taken()
    if sound:
        found, taken = sliced_block.measure(sound, planned.seed, phases, may_turn=may_turn)
    if taken.bound and may_turn:
        return _turned(planned, log, taken, phases)
    found |= {name: outcome.failure_facts(reason) for name, reason in judged.items()}
    ended_at, share = time.time(), {name: seconds / len(arms) for name, seconds in phases.seconds.items()}
    for name, facts in found.items():
        sliced = {"method": planned.method, **_asked(taken), **facts.get("sliced", {})}
        whole = known[name] | facts | {"sliced": sliced}
        times = {"started_at": phases.started_at, **facts.get("times", {}), "ended_at": ended_at}
        if not outcome.has_failed(facts):
            whole["warnings"] = [each.values() for each in warnings.warnings_of(Run.of(whole))]
        found[name] = {**whole, "times": times, "phases_s": share}
    places = {f"{arm} {place}": count for (arm, place), count in sorted(rounds.places(taken.orders).items())}
    before = {" before ".join(pair): count for pair, count in sorted(rounds.predecessors(taken.orders).items())}
    kept_on = {"restarted": False} if any(one.is_running for one in settings.values()) else {}
    about = {**kept_on, "phases_s": phases.seconds, "starts": taken.starts, "slices": _slices(taken), "places": places}
    about["predecessors"] = before
    return found, _spent(phases.started_at, ended_at, taken.open_s) | _asked(taken) | about


def _turned(planned: PlannedBlock, log: Path, taken: sliced_block.Taken, phases: Phases) -> Kept:
    """Measure by turns a block whose load proved to be bound by a disk; `phases` are those until then."""
    phases.announce(f"the load is {taken.bound.text}: measure by turns")
    why = {"why": taken.bound.text, "turned_by": taken.bound.code, **_asked(taken)}
    ((found, about),) = _by_turns([planned], log, why, planned.turn_s)
    spent = _spent(phases.started_at, time.time(), about["open_s"])
    return found, about | spent | {"phases_s": phases.seconds, "starts": taken.starts}


def _asked(taken: sliced_block.Taken) -> dict[str, dict[str, float]]:
    return {"disk_per_s": {name: round(value, 3) for name, value in taken.disk_per_s.items()}}


def _spent(started_at: float, ended_at: float, open_s: float, shared_by: int = 1) -> dict[str, Any]:
    """Return when a block was measured, and its seconds: an equal share where several were measured together."""
    wall_s = (ended_at - started_at) / shared_by
    return {"started_at": started_at, "ended_at": ended_at, "wall_s": wall_s, "open_s": open_s,
            "open_share": open_s / wall_s if wall_s else None}  # fmt: skip


def _slices(taken: sliced_block.Taken) -> dict[str, list]:
    """Return the slices as columns, in the order they were taken."""
    columns: dict[str, Callable] = {
        "arm": lambda one: one.arm,
        "round": lambda one: one.round,
        "transactions": lambda one: one.transactions,
        "tps": lambda one: round(one.tps, 3),
        "open_ms": lambda one: round(one.open_ns / 1e6, 3),
        "cpu_ms": lambda one: None if one.cpu_ns is None else round(one.cpu_ns / 1e6, 3),
    }
    return {name: [value(one) for one in taken.slices] for name, value in columns.items()}
