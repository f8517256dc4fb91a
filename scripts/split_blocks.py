"""Blocks of which some runs are there and others are to be measured, too far apart to be compared."""

import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from scripts.due import Due
from scripts.order import Run

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
Block = tuple[str, int, int]


@dataclass(frozen=True)
class Split:
    """`blocks` would be split of `total` by new runs of `variants`, of which `added` were never measured here.

    `other_boot`: the runs that are there are of another boot; else they lie too far back.
    """

    blocks: tuple[Block, ...]
    total: int
    variants: tuple[str, ...]
    added: tuple[str, ...]
    other_boot: bool


def find(due: Due, preparing_s: float, run_s: float, now_s: float | None = None, boot_id: str | None = None) -> Split:
    """Return the blocks that measuring what is due would split.

    A block is split when its last run would end later than `block_span_s` after its first one began, each taking
    `run_s` and the first due one starting `preparing_s` from now; or when a run that is there is of another boot.
    """
    begin_s = (time.time() if now_s is None else now_s) + preparing_s
    ends_s: dict[Block, float] = {}
    for number, run in enumerate(due.runs.values(), start=1):
        ends_s[block(run)] = begin_s + number * run_s
    there = existing(due, set(ends_s))
    first_s = {key: min(map(_modified_s, paths.values())) - run_s for key, paths in there.items()}
    span_s = due.paths.plan.study.config["block_span_s"]
    late = {key for key, started_s in first_s.items() if ends_s[key] - started_s > span_s}
    boots = other_boots(due, {key: there[key] for key in there.keys() - late}, boot_id or BOOT_ID.read_text().strip())
    split = late | boots
    fresh = {run.variant for run in due.runs.values() if block(run) in split}
    variants = tuple(name for name in due.paths.plan.study.variants if name in fresh)
    added = tuple(name for name in variants if not due.listing.versions(f"{due.paths.study}/runs", name))
    total = len({block(run) for run in due.paths.runs.values()})
    return Split(tuple(sorted(split)), total, variants, added, bool(boots))


def block(run: Run) -> Block:
    """Return the block of a run."""
    return run.workload, run.clients, run.repetition


def existing(due: Due, blocks: set[Block]) -> dict[Block, dict[str, str]]:
    """Return block -> variant -> path of the runs that are there and stay, of these blocks."""
    found: dict[Block, dict[str, str]] = defaultdict(dict)
    for path, run in due.paths.runs.items():
        if block(run) in blocks and path not in due.runs:
            found[block(run)][run.variant] = path
    return dict(found)


def other_boots(due: Due, there: dict[Block, dict[str, str]], boot_id: str) -> set[Block]:
    """Return the blocks with runs of a variant whose record is of another boot; one record of each variant is read."""
    sampled = {variant: path for paths in there.values() for variant, path in paths.items()}
    known = {variant: due.listing.record(path) or {} for variant, path in sampled.items()}
    other = {variant for variant, facts in known.items() if facts.get("host", {}).get("boot_id", boot_id) != boot_id}
    return {key for key, paths in there.items() if other & paths.keys()}


def _modified_s(path: str) -> float:
    return Path(path).stat().st_mtime
