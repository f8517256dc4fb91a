"""Measure a planned block, side by side or by turns, and keep its records: those of the arms, then block.json."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.lib.host import machine_facts, outcome
from scripts.lib.host.entry import started_s
from scripts.lib.vocabulary import BLOCK_FILE
from scripts.measure.engine import by_turns, passes, rounds, run_record, slices, warnings
from scripts.measure.engine.disk_load import DiskBound
from scripts.measure.engine.group import held_machine, started
from scripts.measure.engine.planned import TURNS, PlannedArm, PlannedBlock
from scripts.measure.engine.run_facts import planned_facts
from scripts.measure.engine.run_failures import facts_of_failure
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Phases, Setting, setting_of
from scripts.measure.engine.side_by_side import Slice
from scripts.measure.engine.slices import Taken


@dataclass(frozen=True)
class MeasuredBlock:
    """The facts of the runs of a block by arm, and those of the block itself."""

    arms: dict[str, dict[str, Any]]
    about: dict[str, Any]


def measure(levels: Sequence[PlannedBlock], log: Path) -> list[Path]:
    """Measure a block, or several that share the starts of their servers, and write their records, block.json last.

    Returns the records of the arms. What an earlier attempt left in the folders is removed first: nothing counts that
    block.json does not list.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("", encoding="utf-8")
    for folder in (Path(level.folder) for level in levels):
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.iterdir():
            file.unlink()
    if levels[0].method == TURNS:
        blocks = _by_turns(levels, log, levels[0].turn_s, started_s(), {"why": levels[0].why})
    else:
        (planned,) = levels
        blocks = [_side_by_side(planned, log)]
    return [path for level, block in zip(levels, blocks, strict=True) for path in _write(level, block)]


def _write(planned: PlannedBlock, block: MeasuredBlock) -> list[Path]:
    """Write the records of a block's arms, then the block's; returns the former."""
    folder, runs = Path(planned.folder), []
    for arm in planned.arms:
        runs.append(folder / f"{arm.name}.json")
        run_record.write(runs[-1], block.arms[arm.name])
    listed = dict(_listed(planned, block, folder))
    json_record.write_signed(folder / BLOCK_FILE, {**_names(planned), **block.about, "arms": listed})
    return runs


def _names(planned: PlannedBlock) -> dict[str, Any]:
    names = ("workload", "clients", "repetition", "method", "why")
    return {name: getattr(planned, name) for name in names}


def _listed(planned: PlannedBlock, block: MeasuredBlock, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for arm in planned.arms:
        sums = {end: json_record.file_sha256(folder / f"{arm.name}.{end}") for end in ("json", "txt")}
        yield arm.name, {"digest": arm.digest, "outcome": block.arms[arm.name]["outcome"], "sha256": sums}


def _refusal(arm: PlannedArm) -> str | None:
    """Return why an arm is not measured: it has no program, or its build, an audit or a check failed; else None."""
    return arm.refused or outcome.first_reason([Path(arm.identity), *map(Path, arm.place.get("judged", []))])


def _setting(arm: PlannedArm, folder: Path, log: Path, window_s: int | None = None) -> Setting:
    text = folder / f"{arm.name}.txt"
    text.touch()
    return setting_of(arm.recipe, arm.place, Path(arm.identity), Path(arm.dataset), text, log, window_s=window_s)


def _by_turns(
    levels: Sequence[PlannedBlock], log: Path, window_s: int | None, begin_s: float, why: Mapping[str, Any]
) -> list[MeasuredBlock]:
    """Measure by turns, in windows of `window_s` or else as the recipe says; `why` so is kept in all records.

    Each server goes through all `levels` in one start. The first turn begins at `begin_s`, in seconds since 1970.
    """
    order, said = levels[0].turns, {"method": TURNS, **why}
    now_s, arms = begin_s, [dict[str, dict[str, Any]]() for _ in levels]
    for position, name in enumerate(order, start=1):
        Phases(begin_s, log).announce(f"turn {position} of {len(order)}: {name}")
        runs = _turn(levels, name, position, log, now_s, window_s)
        for facts_of, facts in zip(arms, runs, strict=True):
            facts_of[name] = {**facts, "sliced": said}
        now_s = time.time()
    return [
        MeasuredBlock(facts, _spent(begin_s, now_s, _open_s(facts), len(levels)) | said | {"turns": order})
        for facts in arms
    ]


def _turn(
    levels: Sequence[PlannedBlock], name: str, position: int, log: Path, begin_s: float, window_s: int | None
) -> list[dict[str, Any]]:
    """Measure one arm at all levels; returns its facts at each."""
    arms = [next(arm for arm in level.arms if arm.name == name) for level in levels]
    logs = [log.with_suffix(f".{name}.log" if len(levels) == 1 else f".{name}.{level.clients}.log") for level in levels]
    first = _setting(arms[0], Path(levels[0].folder), logs[0], window_s)
    settings = [
        replace(first, text=Path(level.folder, f"{name}.txt"), log=own_log).at(arm.place, position=position)
        for level, arm, own_log in zip(levels, arms, logs, strict=True)
    ]
    return by_turns.facts_of_levels(settings, Phases(begin_s), _refusal(arms[0]))


def _open_s(arms: Mapping[str, Mapping[str, Any]]) -> float:
    return sum((facts.get("window") or {}).get("duration_s") or 0 for facts in arms.values())


def _side_by_side(planned: PlannedBlock, log: Path) -> MeasuredBlock:
    """Measure the arms of a block together; by turns where its load proves to be bound by a disk and it may go so."""
    phases = Phases(started_s(), log)
    folder, machine = Path(planned.folder), machine_facts.read_host()
    settings = {arm.name: _setting(arm, folder, log.with_suffix(f".{arm.name}.log")) for arm in planned.arms}
    refusals = {arm.name: reason for arm in planned.arms if (reason := _refusal(arm))}
    sound = {name: setting for name, setting in settings.items() if name not in refusals}
    may_turn = planned.turn_s is not None
    starts, facts, taken = measure_together(sound, planned.seed, phases, may_turn=may_turn) if sound else _NOTHING
    if taken.bound and may_turn:
        return _turned(planned, log, taken.bound, _asked(taken), starts, phases)
    facts = facts | {name: outcome.failure_facts(reason) for name, reason in refusals.items()}
    ended_at, share = time.time(), {name: seconds / len(settings) for name, seconds in phases.seconds.items()}
    of_block = {"method": planned.method, **_asked(taken)}
    arms = {}
    for name, setting in settings.items():
        known = planned_facts(setting, machine, json_record.read(setting.identity))
        run = {**known, **facts[name], "sliced": {**of_block, **facts[name].get("sliced", {})}}
        times = {"started_at": phases.started_at, **facts[name].get("times", {}), "ended_at": ended_at}
        arms[name] = {**run, **_warned(run), "times": times, "phases_s": share}
    spent = _spent(phases.started_at, ended_at, taken.open_s)
    return MeasuredBlock(arms, spent | _asked(taken) | _about(settings, starts, taken, phases))


def _warned(facts: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the warnings about a run; nothing for one that failed."""
    if outcome.has_failed(facts):
        return {}
    return {"warnings": [warning.values() for warning in warnings.warnings_of(Run.of(facts))]}


Together = tuple[list[str], dict[str, dict[str, Any]], Taken]
_NOTHING: Together = ([], {}, Taken())


def measure_together(settings: Mapping[str, Setting], seed: str, phases: Phases, *, may_turn: bool) -> Together:
    """Measure arms side by side; returns the order of their starts, the facts of each, and how they were measured.

    `settings` names the reference first; the orders of the starts and of the rounds are drawn from `seed`. A failure of
    a server or of its load is the outcome of its arm, a failure of the host is raised. When the load is `bound` by a
    disk and the block `may_turn`, warm-up is all that is done, and the arms have no facts.
    """
    # Who starts first may get other pages of memory: without a drawn order that would always be the same arm.
    starts, first = random.Random(f"{seed}/starts").sample(list(settings), len(settings)), next(iter(settings.values()))
    with (
        held_machine(first, phases),
        started({name: settings[name] for name in starts}, phases) as (group, ready),
    ):
        if "sql" in first.load:
            facts, taken = passes.measure(group, ready, list(settings), seed, phases, alone=False)
        else:
            facts, taken = slices.measure(group, ready, list(settings), seed, phases, may_turn=may_turn)
    failed = {name: facts_of_failure(failure) for name, failure in group.failures.items()}
    ok = {name: {"outcome": "ok", "reason": None, **measured} for name, measured in facts.items()}
    return starts, ok | failed, taken


def _turned(
    planned: PlannedBlock, log: Path, bound: DiskBound, asked: dict[str, Any], starts: list[str], phases: Phases
) -> MeasuredBlock:
    """Measure by turns a block whose load proved to be bound by a disk; `phases` are those until then."""
    phases.announce(f"the load is {bound.text}: measure by turns")
    why = {"why": bound.text, "turned_by": bound.code, **asked}
    (block,) = _by_turns([planned], log, planned.turn_s, time.time(), why)
    spent = _spent(phases.started_at, time.time(), block.about["open_s"])
    return replace(block, about={**block.about, **spent, "phases_s": phases.seconds, "starts": starts})


def _asked(taken: Taken) -> dict[str, dict[str, float]]:
    return {"disk_per_s": {name: round(value, 3) for name, value in taken.disk_per_s.items()}}


def _spent(started_at: float, ended_at: float, open_s: float, shared_by: int = 1) -> dict[str, Any]:
    """Return when a block was measured, and its seconds: an equal share where several were measured together."""
    wall_s = (ended_at - started_at) / shared_by
    return {"started_at": started_at, "ended_at": ended_at, "wall_s": wall_s, "open_s": open_s,
            "open_share": open_s / wall_s if wall_s else None}  # fmt: skip


def _about(settings: Mapping[str, Setting], starts: list[str], taken: Taken, phases: Phases) -> dict[str, Any]:
    """Return how the arms of a block took their slices: their orders, counted, and the slices as columns."""
    places = {f"{arm} {place}": count for (arm, place), count in sorted(rounds.places(taken.orders).items())}
    before = {" before ".join(pair): count for pair, count in sorted(rounds.predecessors(taken.orders).items())}
    kept_on = {"restarted": False} if any(setting.is_running for setting in settings.values()) else {}
    about = {**kept_on, "phases_s": phases.seconds, "starts": starts, "slices": _columns(taken.slices)}
    return {**about, "places": places, "predecessors": before}


def _columns(taken: Sequence[Slice]) -> dict[str, list]:
    """Return the slices as columns, in the order they were taken."""
    columns: dict[str, Callable[[Slice], Any]] = {
        "arm": lambda one: one.arm,
        "round": lambda one: one.round,
        "transactions": lambda one: one.transactions,
        "tps": lambda one: round(one.tps, 3),
        "open_ms": lambda one: round(one.open_ns / 1e6, 3),
        "cpu_ms": lambda one: None if one.cpu_ns is None else round(one.cpu_ns / 1e6, 3),
    }
    return {name: [value(one) for one in taken] for name, value in columns.items()}
