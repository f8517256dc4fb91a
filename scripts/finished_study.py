"""A finished study as it lies on disk: what was declared, its tables, and the records of its runs and builds."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.comparison import AA
from scripts.record import canonical, read
from scripts.tables import fact, read_csv

TABLES = ("runs", "comparisons")


@dataclass(frozen=True)
class Finished:
    """A study with its tables by name, the records of its ok runs, and facts of builds by (server, build)."""

    folder: Path
    study: dict[str, Any]
    tables: dict[str, pd.DataFrame]
    records: list[dict[str, Any]]
    builds: dict[tuple[str, str], dict[str, Any]]

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.study["study"]

    @property
    def imported(self) -> bool:
        """Whether it was made of logs, whose runs nobody can pair."""
        return bool(self.study.get("imported"))

    @property
    def variants(self) -> list[str]:
        """The names of the variants, the reference among them, without A/A."""
        return [name for name in self.study["variants"] if name != AA]

    def found(self, where: str, **wanted: Any) -> frozenset[str]:
        """Return the values at a dotted path of the ok runs with these facts, as canonical JSON."""
        chosen = (run for run in self.records if all(run.get(key) == value for key, value in wanted.items()))
        return frozenset(canonical(fact(run, where)) for run in chosen)


def load(path: Path) -> Finished:
    """Read a study's folder, or a results folder that has one finished study.

    Raises ValueError naming the folder and what it lacks, or the studies to choose from.
    """
    folder = _study_folder(path)
    lacking = [
        name for name in ("study.json", *(f"tables/{name}.csv" for name in TABLES)) if not (folder / name).is_file()
    ]
    if lacking:
        raise ValueError(f"{folder}: no {' and no '.join(lacking)}; expected a finished study, with a report")
    tables = {name: read_csv(folder / "tables" / f"{name}.csv") for name in TABLES}
    records = list(_records(folder, tables["runs"]))
    return Finished(folder, read(folder / "study.json"), tables, records, _builds(folder, records))


def _study_folder(path: Path) -> Path:
    if not path.is_dir():
        raise ValueError(f"{path}: no such folder; expected that of a study, such as results/studies/quick")
    if (path / "study.json").is_file() or not (path / "studies").is_dir():
        return path
    known = sorted(file.parent.parent for file in (path / "studies").glob("*/tables/runs.csv"))
    if len(known) != 1:
        names = ", ".join(map(str, known)) or "none"
        raise ValueError(f"{path}: expected one finished study or the folder of one; found {names}")
    return known[0]


def _records(folder: Path, runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for file in runs.loc[runs["outcome"] == "ok", "file"]:
        inside = folder / "runs" / str(file).rpartition("/runs/")[2]
        if not inside.is_file():
            raise ValueError(f"{inside}: no such file, but {folder / 'tables/runs.csv'} has a row for this run")
        yield read(inside)


def _builds(folder: Path, records: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for run in records:
        server, build, digest = (fact(run, f"recipe.variant.{key}") for key in ("server", "build", "build_digest"))
        file = folder.parent.parent / "builds" / str(server) / f"{build}-{digest}" / "facts.json"
        if (server, build) not in found and file.is_file():
            found[server, build] = read(file)
    return found
