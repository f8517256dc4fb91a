"""The study in full, as reports show it: every entry resolved, and the planned order of its blocks."""

from pathlib import Path
from typing import Any

from scripts.order import block_order
from scripts.plan import Plan


def describe(plan: Plan, files: list[Path]) -> dict[str, Any]:
    """Return the study with options, workloads, datasets and trainings it uses, and the text of its config files."""
    study, config = plan.study, plan.study.config
    blocks = dict.fromkeys((run.workload, run.clients, run.repetition) for run in plan.runs)
    used = {study.entries["builds"][variant["build"]].get("profile") for variant in study.variants.values()}
    datasets = {study.entries["workloads"][name]["dataset"] for name in study.workloads}
    keys = "study title question reference clients repetitions seed campaign warmup_s measure_s block_span_s placement"
    return {
        **{key: config[key] for key in keys.split()},
        "variants": {name: {**variant, "options": plan.options(name)} for name, variant in study.variants.items()},
        "workloads": {name: study.entries["workloads"][name] for name in study.workloads},
        "datasets": {name: study.entries["datasets"][name] for name in sorted(datasets)},
        "trainings": {name: study.entries["trainings"][name] for name in sorted(used - {None})},
        "config_text": "\n".join(file.read_text(encoding="utf-8") for file in files),
        "order": [[*block, block_order(study, *block)] for block in blocks],
    }
