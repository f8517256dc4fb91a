"""Measure a planned block, side by side or by turns, and keep its records: those of the arms, then block.json."""

import random
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.lib import json_record
from scripts.lib.host import machine_facts, outcome
from scripts.lib.host.entry import started_s
from scripts.lib.host.machine_facts import Host
from scripts.lib.json_record import Json
from scripts.lib.parts import Part
from scripts.lib.vocabulary import BLOCK_FILE, TURNS
from scripts.measure.engine import by_turns, passes, rounds, run_record, slices, warnings
from scripts.measure.engine.disk_load import DiskBound
from scripts.measure.engine.group import held_machine, started
from scripts.measure.engine.planned import PlannedArm, PlannedBlock
from scripts.measure.engine.run_facts import failed_run, refused_run
from scripts.measure.engine.run_parts import Sliced
from scripts.measure.engine.run_record import MeasuredRun
from scripts.measure.engine.setting import Phases, Setting, setting_of
from scripts.measure.engine.side_by_side import Slice
from scripts.measure.engine.slices import Taken

Columns = dict[str, list[str | float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFacts(Part):
    """What block.json has of a block besides its arms; None is not written but for `why` and `open_share`.

    `places` and `predecessors` count how often an arm had a place, and followed another one; `slices` are columns in
    the order in which they were taken. `open_s` are the seconds in which a gate was open, `wall_s` those of the block:
    an equal share where several were measured together.
    """

    workload: str
    clients: int
    repetition: int
    method: str
    why: str | None
    started_at: float
    ended_at: float
    wall_s: float
    open_s: float
    open_share: float | None
    turned_by: str | None = None
    disk_per_s: dict[str, float] | None = None
    turns: list[str] | None = None
    restarted: bool | None = None
    phases_s: dict[str, float] | None = None
    starts: list[str] | None = None
    slices: Columns | None = None
    places: dict[str, int] | None = None
    predecessors: dict[str, int] | None = None

    def written_empty(self) -> Collection[str]:
        """Return what a block of its method has."""
        return {"why", "open_share", *(name for name, value in self.values().items() if value is not None)}


@dataclass(frozen=True)
class MeasuredBlock:
    """The runs of a block by arm, and the facts of the block itself."""

    arms: dict[str, MeasuredRun]
    facts: BlockFacts


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
        blocks = _by_turns(levels, log, levels[0].turn_s, started_s(), Sliced(method=TURNS, why=levels[0].why))
    else:
        (planned,) = levels
        blocks = [_side_by_side(planned, log)]
    return [path for level, block in zip(levels, blocks, strict=True) for path in _write(level, block)]


def _write(planned: PlannedBlock, block: MeasuredBlock) -> list[Path]:
    """Write the records of a block's arms, then the block's; returns the former."""
    folder = Path(planned.folder)
    files = {arm.name: folder / f"{arm.name}.json" for arm in planned.arms}
    for name, file in files.items():
        run_record.write(file, block.arms[name])
    arms: dict[str, Json] = {
        arm.name: {
            "digest": arm.digest,
            "outcome": block.arms[arm.name].run.outcome,
            "sha256": {end: json_record.file_sha256(folder / f"{arm.name}.{end}") for end in ("json", "txt")},
        }
        for arm in planned.arms
    }
    json_record.write_signed(folder / BLOCK_FILE, {**json_record.dump(block.facts), "arms": arms})
    return list(files.values())


def _refusal(arm: PlannedArm) -> str | None:
    """Return why an arm is not measured: it has no program, or its build, an audit or a check failed; else None."""
    return arm.refused or outcome.first_reason([Path(arm.identity), *map(Path, arm.context.judged)])


def _setting(arm: PlannedArm, folder: Path, log: Path, machine: Host, window_s: int | None = None) -> Setting:
    text = folder / f"{arm.name}.txt"
    text.touch()
    identity, dataset = Path(arm.identity), Path(arm.dataset)
    return setting_of(arm.recipe, arm.context, identity, dataset, text, log, machine, window_s=window_s)


def _by_turns(
    levels: Sequence[PlannedBlock], log: Path, window_s: int | None, begin_s: float, sliced: Sliced
) -> list[MeasuredBlock]:
    """Measure by turns, in windows of `window_s` or else as the recipe says; `sliced` is in all records.

    Each server goes through all `levels` in one start. The first turn begins at `begin_s`, in seconds since 1970.
    """
    order, now_s, arms = levels[0].turns, begin_s, [dict[str, MeasuredRun]() for _ in levels]
    for position, name in enumerate(order, start=1):
        Phases(begin_s, log).announce(f"turn {position} of {len(order)}: {name}")
        runs = _turn(levels, name, position, log, now_s, window_s)
        for of_level, measured in zip(arms, runs, strict=True):
            of_level[name] = replace(measured, run=replace(measured.run, sliced=sliced))
        now_s = time.time()
    blocks = []
    for level, of_level in zip(levels, arms, strict=True):
        open_s = sum(measured.run.window.duration_s or 0 for measured in of_level.values())
        facts = _block_facts(level, begin_s, now_s, open_s, len(levels))
        blocks.append(MeasuredBlock(of_level, replace(facts, method=TURNS, why=sliced.why, turns=order)))
    return blocks


def _turn(
    levels: Sequence[PlannedBlock], name: str, position: int, log: Path, begin_s: float, window_s: int | None
) -> list[MeasuredRun]:
    """Measure one arm at all levels; returns its run at each."""
    arms = [next(arm for arm in level.arms if arm.name == name) for level in levels]
    logs = [log.with_suffix(f".{name}.log" if len(levels) == 1 else f".{name}.{level.clients}.log") for level in levels]
    first = _setting(arms[0], Path(levels[0].folder), logs[0], machine_facts.read_host(), window_s)
    settings = [
        replace(first, context=replace(arm.context, position=position), text=Path(level.folder, f"{name}.txt"), log=log)
        for level, arm, log in zip(levels, arms, logs, strict=True)
    ]
    return by_turns.runs_of_levels(settings, Phases(begin_s), _refusal(arms[0]))


def _side_by_side(planned: PlannedBlock, log: Path) -> MeasuredBlock:
    """Measure the arms of a block together; by turns where its load proves to be bound by a disk and it may go so."""
    phases = Phases(started_s(), log)
    folder, machine = Path(planned.folder), machine_facts.read_host()
    settings = {arm.name: _setting(arm, folder, log.with_suffix(f".{arm.name}.log"), machine) for arm in planned.arms}
    refusals = {arm.name: reason for arm in planned.arms if (reason := _refusal(arm))}
    sound = {name: setting for name, setting in settings.items() if name not in refusals}
    may_turn = planned.turn_s is not None
    starts, runs, in_slices = measure_together(sound, planned.seed, phases, may_turn=may_turn) if sound else _NOTHING
    disk_per_s = {name: round(value, 3) for name, value in in_slices.disk_per_s.items()}
    if in_slices.bound and may_turn:
        return _turned(planned, log, in_slices.bound, disk_per_s, starts, phases)
    runs = runs | {name: MeasuredRun(refused_run(settings[name].planned, why)) for name, why in refusals.items()}
    ended_at, share = time.time(), {name: seconds / len(settings) for name, seconds in phases.seconds.items()}
    arms = {}
    for name in settings:
        run = runs[name].run
        sliced = replace(run.sliced, method=planned.method, disk_per_s=disk_per_s)
        times = replace(run.times, started_at=phases.started_at, ended_at=ended_at)
        run = warnings.with_warnings(replace(run, sliced=sliced))
        arms[name] = replace(runs[name], run=replace(run, times=times, phases_s=share))
    facts = _block_facts(planned, phases.started_at, ended_at, in_slices.open_s)
    return MeasuredBlock(arms, replace(_with_slices(facts, settings, starts, in_slices, phases), disk_per_s=disk_per_s))


Together = tuple[list[str], dict[str, MeasuredRun], Taken]
_NOTHING: Together = ([], {}, Taken())


def measure_together(settings: Mapping[str, Setting], seed: str, phases: Phases, *, may_turn: bool) -> Together:
    """Measure arms side by side; returns the order of their starts, the run of each, and how they were measured.

    `settings` names the reference first; the orders of the starts and of the rounds are drawn from `seed`. A failure of
    a server or of its load is the outcome of its arm, a failure of the host is raised. When the load is `bound` by a
    disk and the block `may_turn`, warm-up is all that is done, and the arms have no runs.
    """
    # Who starts first may get other pages of memory: without a drawn order that would always be the same arm.
    starts, first = random.Random(f"{seed}/starts").sample(list(settings), len(settings)), next(iter(settings.values()))
    with (
        held_machine(first, phases),
        started({name: settings[name] for name in starts}, phases) as (group, ready),
    ):
        if first.load.sql:
            runs, in_slices = passes.measure(group, ready, list(settings), seed, phases, alone=False)
        else:
            runs, in_slices = slices.measure(group, ready, list(settings), seed, phases, may_turn=may_turn)
    failures = group.failures.items()
    failed = {name: MeasuredRun(failed_run(settings[name].planned, failure)) for name, failure in failures}
    return starts, runs | failed, in_slices


def _turned(
    planned: PlannedBlock, log: Path, bound: DiskBound, disk_per_s: dict[str, float], starts: list[str], phases: Phases
) -> MeasuredBlock:
    """Measure by turns a block whose load proved to be bound by a disk; `phases` are those until then."""
    phases.announce(f"the load is {bound.text}: measure by turns")
    sliced = Sliced(method=TURNS, why=bound.text, turned_by=bound.code, disk_per_s=disk_per_s)
    (block,) = _by_turns([planned], log, planned.turn_s, time.time(), sliced)
    spent = _block_facts(planned, phases.started_at, time.time(), block.facts.open_s)
    facts = replace(
        spent, method=TURNS, why=bound.text, turned_by=bound.code, disk_per_s=disk_per_s, turns=block.facts.turns,
        phases_s=phases.seconds, starts=starts,
    )  # fmt: skip
    return replace(block, facts=facts)


def _block_facts(
    planned: PlannedBlock, started_at: float, ended_at: float, open_s: float, shared_by: int = 1
) -> BlockFacts:
    """Return what a block is and when it was measured; `shared_by` so many that were measured together."""
    wall_s = (ended_at - started_at) / shared_by
    return BlockFacts(
        workload=planned.workload,
        clients=planned.clients,
        repetition=planned.repetition,
        method=planned.method,
        why=planned.why,
        started_at=started_at,
        ended_at=ended_at,
        wall_s=wall_s,
        open_s=open_s,
        open_share=open_s / wall_s if wall_s else None,
    )


def _with_slices(
    facts: BlockFacts, settings: Mapping[str, Setting], starts: list[str], in_slices: Taken, phases: Phases
) -> BlockFacts:
    """Return the facts of a block with how its arms took their slices: their orders, counted, and the slices."""
    return replace(
        facts,
        restarted=False if any(setting.is_running for setting in settings.values()) else None,
        phases_s=phases.seconds,
        starts=starts,
        slices=_columns(in_slices.slices),
        places={f"{arm} {number}": count for (arm, number), count in sorted(rounds.places(in_slices.orders).items())},
        predecessors={
            " before ".join(pair): count for pair, count in sorted(rounds.predecessors(in_slices.orders).items())
        },
    )


def _columns(slices_taken: Sequence[Slice]) -> Columns:
    """Return the slices as columns, in the order they were taken."""
    return {
        "arm": [part.arm for part in slices_taken],
        "round": [part.round for part in slices_taken],
        "transactions": [part.transactions for part in slices_taken],
        "tps": [round(part.tps, 3) for part in slices_taken],
        "open_ms": [round(part.open_ns / 1e6, 3) for part in slices_taken],
        "cpu_ms": [None if part.cpu_ns is None else round(part.cpu_ns / 1e6, 3) for part in slices_taken],
    }
