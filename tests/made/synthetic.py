"""Made-up but believable result trees: the runs of a study, and the records they belong to."""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.build.sources.declared import SourceIdentity
from scripts.lib.build_records import Check, Failable
from scripts.lib.parts import Part
from scripts.measure.engine.run_record import Run
from tests.made import records as made_records
from tests.made.run import WORKLOADS, Asked, failed, one_run, variant


@dataclass(frozen=True)
class Plan:
    """What to make up. `speedup` holds the true factor of each variant on the four workloads' own gains."""

    study: str = "made_up"
    variants: dict[str, float] = field(default_factory=lambda: {"baseline": 0.0, "pgo": 1.0, "aa": 0.0})
    workloads: tuple[str, ...] = tuple(WORKLOADS)
    clients: tuple[int, ...] = (8,)
    repetitions: int = 5
    seed: int = 7
    noise: float = 0.02
    drift: float = 0.03
    title: str = "MariaDB 10.11, plain and profile-guided"
    failures: frozenset[tuple] = frozenset()
    reboot_before_run: int | None = None


def study(plan: Plan) -> dict[str, Any]:
    """Return study.json with a seeded block order, repetition outermost."""
    shuffle = random.Random(plan.seed)
    order = []
    for repetition in range(1, plan.repetitions + 1):
        for workload in plan.workloads:
            for clients in plan.clients:
                drawn = list(plan.variants)
                shuffle.shuffle(drawn)
                order.append([workload, clients, repetition, drawn])
    return {
        "format": 1,
        "study": plan.study,
        "title": plan.title,
        "question": "How much does a profile-guided build gain under the four published loads?",
        "reference": next(iter(plan.variants)),
        "variants": {name: variant(name) for name in plan.variants},
        "workloads": {
            name: {"script": WORKLOADS[name][0], "options": WORKLOADS[name][2], "dataset": "sbtest"}
            for name in plan.workloads
        },
        "datasets": {"sbtest": {"tables": 4, "rows": 100000}},
        "clients": list(plan.clients),
        "repetitions": plan.repetitions,
        "seed": plan.seed,
        "campaign": 1,
        "warmup_s": 3,
        "measure_s": 6,
        "trainings": {"mixed": {"workloads": ["simple_select", "oltp"], "clients": 4, "seconds": 20}},
        **made_records.declared({variant(name)["build"] for name in plan.variants}),
        "config_text": f"study: {plan.study}\n# <b>what the user wrote</b>\nclients: {list(plan.clients)}\n",
        "order": order,
    }


def runs(plan: Plan) -> list[dict[str, Any]]:
    """Return the raw facts of every planned run, in the order they were measured."""
    chance = random.Random(plan.seed + 1)
    made, level, now = [], 0.0, 1_760_000_000.0
    for workload, clients, repetition, drawn in study(plan)["order"]:
        level += chance.gauss(0, plan.drift)
        for position, name in enumerate(drawn, start=1):
            cell = (plan.study, name, workload, clients, repetition)
            facts = one_run(Asked(*cell, plan.variants[name], level, plan.noise, now), chance)
            now = facts["times"]["ended_at"] + 0.08
            facts |= {"position": position, "run_number": len(made) + 1}
            if plan.reboot_before_run is not None and facts["run_number"] >= plan.reboot_before_run:
                facts["host"] = {**facts["host"], "boot_id": "boot-2"}
            made.append(failed(facts) if cell[1:] in plan.failures else facts)
    return [{**facts, "runs_total": len(made)} for facts in made]


@dataclass(frozen=True)
class Tree:
    """Where a made-up study was written."""

    study: Path
    runs_list: Path
    tables: Path
    figures: Path
    facts: list[Path]
    audits: list[Path]
    checks: list[Path]
    proofs: list[Path]
    profiles: list[Path]
    sources: list[Path]
    datasets: list[Path]
    diagnoses: list[Path]


# What a made-up record can hold: the fields of the class that reads what the jobs write.
PARTS: dict[str, type[Part]] = {"runs": Run, "sources": SourceIdentity}
CHECK_KEYS = {"format", *Check().values()} - Failable().values().keys()


def demand_real(kind: str, record: dict[str, Any]) -> None:
    """Raise ValueError naming the keys by which a made-up record differs from those that jobs write."""
    unknown = [key for key in PARTS[kind].unknown_keys(record) if key != "record.format"] if kind in PARTS else []
    if kind == "checks":
        unknown = sorted(record.keys() ^ CHECK_KEYS)
    if unknown:
        raise ValueError(f"{kind}: {', '.join(unknown)}: not as jobs write them")


def _json(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def write_tree(plan: Plan, root: Path, made: list[dict[str, Any]] | None = None) -> Tree:
    """Write the whole tree below `root`; `made` replaces the runs of the plan."""
    home = root / "studies" / plan.study
    paths = []
    for facts in runs(plan) if made is None else made:
        demand_real("runs", facts)
        folder = home / "runs" / facts["variant"] / facts["workload"] / str(facts["clients"])
        file = folder / f"{facts['repetition']}.json"
        # A repetition has several blocks, and with them several runs of the reference, where variants were added.
        paths.append(_json(folder / f"{facts['repetition']}-{len(paths)}.json" if file in paths else file, facts))
    listing = home / "runs.txt"
    listing.write_text("".join(f"{path}\n" for path in paths))
    records = made_records.of_builds(dict.fromkeys(variant(name)["build"] for name in plan.variants))
    for kind, of_kind in {**records, **made_records.others()}.items():
        for record in of_kind:
            demand_real(kind, record)
    written = {
        kind: [_json(root / kind / f"{number}.json", record) for number, record in enumerate(of_kind)]
        for kind, of_kind in {**records, **made_records.others()}.items()
    }
    return Tree(_json(home / "study.json", study(plan)), listing, home / "tables", home / "figures", **written)
