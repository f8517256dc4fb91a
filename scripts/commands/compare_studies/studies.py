"""Differences between two finished studies, and those that rule out calling a ratio of the two a speedup."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

import pandas as pd

from scripts.lib.host.entry import WrongCall
from scripts.lib.json_record import Json, canonical, dump, part, read
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.lib.vocabulary import CONTROLS, RUN
from scripts.lib.wording import NOTHING
from scripts.measure.engine.run_record import RECORD_FOLDERS, Run
from scripts.measure.engine.run_record import read as read_run
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page.machine_section import HOST_ROWS

TABLES = ("runs", "comparisons")
RESULTS = Path("results/studies")
# What tells a run from every other one: two runs never have the same times and figures.
IDENTITY = (*RUN, "started_at", "ended_at", "tps", "p95_ms", "latency_mean_ms")
ValueOf = Callable[[Run], Json]


@dataclass(frozen=True, eq=False)
class FinishedStudy:
    """A study with its tables by name, the records of its ok runs, and facts of builds by (server, build).

    It is its own key: what is computed of it is kept by the functions that compute it.
    """

    folder: Path
    study: ResolvedStudy
    tables: dict[str, pd.DataFrame]
    records: list[Run]
    builds: dict[tuple[str, str], dict[str, Json]]

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.study.study

    @property
    def imported(self) -> bool:
        """Whether it was imported from logs, whose runs cannot be paired."""
        return self.study.is_imported

    @property
    def variants(self) -> list[str]:
        """The names of the variants, the reference among them, without A/A."""
        return [name for name in self.study.variants if name not in CONTROLS]

    def values_of(self, value_of: ValueOf, **fields: str) -> frozenset[str]:
        """Return, as canonical JSON, a value of each ok run that has these fields."""
        chosen = (run for run in self.records if all(getattr(run, key) == value for key, value in fields.items()))
        return frozenset(canonical(value_of(run)) for run in chosen)


def load_finished(path: Path) -> FinishedStudy:
    """Return the finished study in a study's folder, or in a results folder that has only one.

    Raises ValueError naming the folder and its missing files, WrongCall naming the studies to choose from.
    """
    folder = _study_folder(path)
    lacking = [
        name for name in ("study.json", *(f"tables/{name}.csv" for name in TABLES)) if not (folder / name).is_file()
    ]
    if lacking:
        raise ValueError(f"{folder}: no {' and no '.join(lacking)}; expected a finished study, with a report")
    tables = {name: read_csv(folder / "tables" / f"{name}.csv") for name in TABLES}
    records = list(_records(folder, tables["runs"]))
    return FinishedStudy(folder, read_study(folder / "study.json"), tables, records, _builds(folder, records))


def runs_of_both(a: FinishedStudy, b: FinishedStudy) -> int:
    """Return how many ok runs of A are in B too: copies of one record, whatever folder or name they lie under."""
    sides = [study.tables["runs"].query("outcome == 'ok'").reindex(columns=IDENTITY) for study in (a, b)]
    rows = [set(side.astype(object).where(side.notna(), None).itertuples(index=False, name=None)) for side in sides]
    return len(rows[0] & rows[1])


def _study_folder(path: Path) -> Path:
    if not path.is_dir():
        named = RESULTS / path
        hint = f"; did you mean {named}?" if len(path.parts) == 1 and named.is_dir() else ""
        raise WrongCall(f"{path}: no such folder; expected that of a study, such as results/studies/quick{hint}")
    if (path / "study.json").is_file() or not (path / "studies").is_dir():
        return path
    studies = sorted(file.parent.parent for file in (path / "studies").glob("*/tables/runs.csv"))
    if len(studies) != 1:
        names = ", ".join(map(str, studies)) or "none"
        raise WrongCall(f"{path}: expected one finished study or the folder of one; found {names}")
    return studies[0]


def _records(folder: Path, runs: pd.DataFrame) -> Iterator[Run]:
    for file in runs.loc[runs["outcome"] == "ok", "file"]:
        inside = folder / within_study(Path(file))
        if not inside.is_file():
            raise ValueError(f"{inside}: no such file, but {folder / 'tables/runs.csv'} has a row for this run")
        yield read_run(inside)


def within_study(file: Path) -> Path:
    """Return the path of a run's record below its study's folder, which may have been moved since."""
    depth = next((depth for depth, name in enumerate(file.parts) if name in RECORD_FOLDERS), 0)
    return Path(*file.parts[depth:])


def _builds(folder: Path, records: list[Run]) -> dict[tuple[str, str], dict[str, Json]]:
    facts: dict[tuple[str, str], dict[str, Json]] = {}
    for run in records:
        recipe = part(run.recipe, "variant")
        server, build, digest = (str(recipe.get(key)) for key in ("server", "build", "build_digest"))
        file = folder.parent.parent / "builds" / server / f"{build}-{digest}" / "facts.json"
        if (server, build) not in facts and file.is_file():
            facts[server, build] = read(file)
    return facts


NOT_COMPARED = ("study", "title", "question", "config_text", "order", "published", "imported")
UNKNOWN = "unknown"


def _of_load(name: str) -> ValueOf:
    return lambda run: part(run.recipe, "load").get(name)


# What is compared, and the function that takes its value from a run.
EVERYWHERE: dict[str, ValueOf] = {
    "host": attrgetter("host.machine_id"),
    **{f"host, {HOST_ROWS[name]}": attrgetter(f"host.{name}") for name in HOST_ROWS if name != "hostname"},
    "sysbench": attrgetter("sysbench.version"),
    "sysbench program": attrgetter("sysbench.sha256"),
    "seconds of warm-up": _of_load("warmup_s"),
    "seconds of measuring": _of_load("measure_s"),
    "placement, server": attrgetter("placement.server_cpus"),
    "placement, sysbench": attrgetter("placement.client_cpus"),
}
OF_WORKLOAD: dict[str, ValueOf] = {
    "script": _of_load("script"),
    "dataset": _of_load("tables"),
    "workload options": _of_load("options"),
}
OF_VARIANT: dict[str, ValueOf] = {
    "server options": lambda run: part(run.recipe, "variant").get("options"),
    "storage": attrgetter("storage"),
}
# A sysbench log never contains these; an unknown value counts as a difference.
MUST_BE_KNOWN = {"host", "sysbench", "seconds of warm-up", "dataset", "server options", "placement, server"}
FLAGS = {"flags, common": "common", "flags, profile": "profile", "flags, LTO": "lto", "flags, link": "link"}


@dataclass(frozen=True)
class StudyChange:
    """One difference: the property, and its value in each study as text."""

    what: str
    a: str
    b: str


def config_changes(a: FinishedStudy, b: FinishedStudy) -> list[StudyChange]:
    """Return the differences of the two resolved configs, leaf by leaf; a missing branch is one difference."""
    configs = [dump(side.study) for side in (a, b)]
    sides = [{key: value for key, value in config.items() if key not in NOT_COMPARED} for config in configs]
    return list(_leaves(sides[0], sides[1], ""))


def _leaves(a: Json, b: Json, at: str) -> Iterator[StudyChange]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from _leaves(a.get(key), b.get(key), f"{at}.{key}" if at else str(key))
    elif a != b:
        yield StudyChange(at, *(NOTHING if value is None else _text(value) for value in (a, b)))


def _text(value: Json) -> str:
    match value:
        case None:
            return UNKNOWN
        case bool():
            return "on" if value else "off"
        case list():
            return " ".join(map(_text, value)) or "none"
        case dict():
            return ", ".join(f"{key} {_text(inner)}" for key, inner in value.items()) or "none"
    return str(value)


@dataclass(frozen=True)
class Refusals:
    """Differences that rule out calling B over A a speedup: in every cell, by variant, and by workload."""

    everywhere: list[StudyChange]
    of_variant: dict[str, list[StudyChange]]
    of_workload: dict[str, list[StudyChange]]

    def load(self, variant: str, workload: str) -> list[StudyChange]:
        """Return the differences in load, server options and storage."""
        return [*self.of_workload.get(workload, []), *self.of_variant[variant]]

    def of(self, variant: str, workload: str) -> list[StudyChange]:
        """Return all differences of a cell."""
        return [*self.everywhere, *self.load(variant, workload)]

    def kinds(self) -> list[str]:
        """Return the kinds of the differences, one word each: all differences of a host are `host`."""
        local = [
            change for part in (self.of_workload, self.of_variant) for changes in part.values() for change in changes
        ]
        return list(dict.fromkeys(change.what.partition(",")[0] for change in [*self.everywhere, *local]))

    def named(self) -> list[StudyChange]:
        """Return every difference once; those of a variant or workload with its name in front."""
        local = [
            (name, change) for part in (self.of_workload, self.of_variant) for name in part for change in part[name]
        ]
        return [*self.everywhere, *(replace(change, what=f"{name}: {change.what}") for name, change in local)]


def refusals(a: FinishedStudy, b: FinishedStudy, shared: dict[str, list[tuple[str, int]]]) -> Refusals:
    """Return the differences of host, sysbench and settings; `shared` holds the shared cells by variant."""
    workloads = dict.fromkeys(workload for cells in shared.values() for workload, _ in cells)
    return Refusals(
        _settings(a, b, EVERYWHERE),
        {name: _settings(a, b, OF_VARIANT, variant=name) for name in shared},
        {name: _settings(a, b, OF_WORKLOAD, workload=name) for name in workloads},
    )


def _settings(a: FinishedStudy, b: FinishedStudy, values: dict[str, ValueOf], **fields: str) -> list[StudyChange]:
    values_of_both = {
        what: (a.values_of(value_of, **fields), b.values_of(value_of, **fields)) for what, value_of in values.items()
    }
    return [
        StudyChange(what, _several(in_a), _several(in_b))
        for what, (in_a, in_b) in values_of_both.items()
        if in_a != in_b or (what in MUST_BE_KNOWN and "null" in in_a)
    ]


def _several(values: frozenset[str]) -> str:
    return "; ".join(sorted(_text(json.loads(value)) for value in values)) or UNKNOWN


def build_changes(a: FinishedStudy, b: FinishedStudy) -> list[StudyChange]:
    """Return the differences of builds and of server releases, for the variants of both studies."""
    shared = [name for name in a.variants if name in b.variants]
    in_a, in_b = (
        {f"{name}: {key}": text for name in shared for key, text in _build_text(study, name).items()}
        for study in (a, b)
    )
    return [StudyChange(key, in_a[key], in_b[key]) for key in in_a if in_a[key] != in_b[key]]


def _build_text(study: FinishedStudy, variant: str) -> dict[str, str]:
    arm = study.study.variants[variant]
    facts = study.builds.get((arm.server, arm.build), {})
    return {
        "server": _text(arm.server),
        "build": _text(arm.build),
        "release": _several(study.values_of(attrgetter("server.release"), variant=variant)),
        "build-id": _several(study.values_of(attrgetter("server.build_id"), variant=variant)),
        "compiler": _text(part(facts, "toolchain").get("version")),
        **{what: _text(part(facts, "flags").get(kind)) for what, kind in FLAGS.items()},
    }


def time_changes(a: FinishedStudy, b: FinishedStudy) -> list[StudyChange]:
    """Return the dates of measuring, and the boots if they differ."""
    boots = [_several(study.values_of(attrgetter("host.boot_id"))) for study in (a, b)]
    return [
        StudyChange("measured", *map(date_changes, (a, b))),
        *([StudyChange("boot", *boots)] if boots[0] != boots[1] else []),
    ]


def date_changes(study: FinishedStudy) -> str:
    """Return the time of measuring, from the first start to the last end, as text."""
    runs = study.tables["runs"]
    ends = (pd.to_datetime(runs["started_at"].min(), unit="s"), pd.to_datetime(runs["ended_at"].max(), unit="s"))
    return UNKNOWN if any(map(pd.isna, ends)) else f"{ends[0]:%Y-%m-%d %H:%M} to {ends[1]:%Y-%m-%d %H:%M} UTC"
