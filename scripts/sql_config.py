"""What timed SQL asks of a config: a file that can be read, one connection, a server just started; and no window."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts import sqlscript
from scripts.config_mistakes import Mistake, suggestion
from scripts.config_schema import Schema

# What a study without any load of sysbench need not say, and what it then means.
NO_WINDOW = {"warmup_s": 0, "measure_s": 0}


def fitted(schema: Schema, config: dict[str, Any], entries: dict[str, Any]) -> Schema:
    """Return the schema of a config, which demands the seconds of a window unless all its loads are timed SQL."""
    named = config.get("workloads")
    loads = [entries["workloads"].get(name, {}) for name in named] if isinstance(named, dict) else []
    if loads and all(isinstance(load, dict) and "sql" in load for load in loads):
        return schema
    return {**schema, "required": [*schema["required"], *NO_WINDOW]}


def of_workload(path: tuple, workload: dict[str, Any], root: Path) -> Iterator[Mistake]:
    """Find what is wrong with a workload of timed SQL by itself, its file included, or what only timed SQL has."""
    if "sql" not in workload:
        if "passes" in workload:
            yield Mistake((*path, "passes"), f"{workload['passes']!r}, expected none: only timed SQL has passes")
        return
    for key in ("script", "options"):
        if key in workload:
            yield Mistake((*path, key), f"{workload[key]!r} beside `sql`, expected a script of sysbench's or timed SQL")
    file = sqlscript.path_of(root, workload["sql"])
    if not file.is_file():
        ours = [one.name for one in (root / "workloads").glob("*.sql")]
        where = "is no file of workloads/" if file.is_relative_to(root) else "is no file"
        yield Mistake((*path, "sql"), f"{workload['sql']!r} {where}{suggestion(workload['sql'], ours)}")
        return
    try:
        sqlscript.read(file)
    except ValueError as error:
        yield Mistake((*path, "sql"), str(error))


def of_study(config: dict[str, Any], entries: dict[str, Any]) -> Iterator[Mistake]:
    """Find what does not go together with timed SQL; `entries` are the whole and sound ones."""
    timed = {name: load for name, load in entries["workloads"].items() if "sql" in load}
    used = [name for name in config.get("workloads", {}) if name in timed]
    if used and config.get("clients", [1]) != [1]:
        text = f"{config['clients']}, expected [1]: {used[0]!r} is timed SQL, sent by one connection"
        yield Mistake(("clients",), text)
    for name in used:
        dataset = timed[name]["dataset"]
        if entries["datasets"].get(dataset, {}).get("fresh"):
            text = f"{dataset!r} is loaded anew before every run, expected a dataset with a snapshot"
            yield Mistake(("workloads", name, "dataset"), f"{text}: the first pass is cold, on a server just started")
    for training, declared in entries["trainings"].items():
        for place, name in enumerate(declared["workloads"]):
            if name in timed:
                text = f"{name!r} is timed SQL, expected a load of sysbench's"
                yield Mistake(("trainings", training, "workloads", place), text)
