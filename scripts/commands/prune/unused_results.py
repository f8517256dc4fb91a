"""Results that no config names: their size on disk, and the time that making them again would take."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from scripts.lib import json_record
from scripts.lib.vocabulary import BLOCK_FILE
from scripts.measure.engine.run_record import RECORD_FOLDERS, VARIABLES_FOLDER
from scripts.measure.servers.data_directory import allocated_bytes
from scripts.study.plan.diagnosis_plan import Diagnoses
from scripts.study.plan.earlier_layout import RUNS_FOLDER
from scripts.study.plan.schedule import Schedule

KINDS = ("sources", "builds", "checks", "profiles", "datasets", "packages", "studies")
# record -> the key with the seconds that making it took
SECONDS = {"facts.json": "wall_s", "profile.json": "wall_s", "dataset.json": "load_s"}
DIGEST = "[0-9a-f]" * 12


@dataclass
class Named:
    """Schedule that configs name: exact paths, patterns, and folders of runs whose whole content is known."""

    exact: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    run_folders: set[str] = field(default_factory=set)

    def keeps(self, path: str) -> bool:
        """Return whether a config names a path."""
        return path in self.exact or any(fnmatchcase(path, pattern) for pattern in self.patterns)

    def holders(self) -> set[str]:
        """Return the folders that contain a named path."""
        return {str(parent) for path in self.exact | self.patterns for parent in Path(path).parents}


@dataclass(frozen=True)
class UnusedResult:
    """A path that no config names: bytes on disk, seconds of work (None: unknown), number of runs in it."""

    path: Path
    bytes: int
    work_s: float | None
    runs: int = 0


def name_planned(named: Named, paths: Schedule) -> None:
    """Add the paths of a study, with their digests. Raises ValueError if the study cannot be planned here."""
    builds = {**paths.builds, **paths.stages}
    named.exact |= {str(Path(paths.source(server)).parent) for server, _ in builds.values()}
    named.exact |= {*builds, *paths.profiles, *paths.datasets}
    named.exact |= {paths.answers(*pair) for pair in builds.values()}
    named.patterns |= {
        f"results/packages/{server}-*-{Path(folder).name}.tar.gz" for folder, (server, _) in builds.items()
    }
    named.exact |= {paths.study, *(str(Path(run).parent) for run in paths.runs)}
    diagnoses = Diagnoses(paths)
    named.exact |= {str(Path(path).parent) for path in diagnoses.of_paths}
    named.run_folders |= {f"{paths.study}/blocks", diagnoses.folder}


def name_by_name(named: Named, paths: Schedule) -> None:
    """Add all paths with a name that the study uses, whatever their digest."""
    plan = paths.plan
    entries = plan.study.declared
    declared = {arm.built for arm in plan.study.arms.values()}
    declared |= {(server, plan.loader(server)) for server, _ in declared}
    builds = declared | {(server, stage) for server, build in declared for stage in plan.stages.behind(build)}
    trainings = {(server, used.training) for server, build in builds if (used := plan.stages.profile(build))}
    loads = {(server, load) for server, name in trainings for load in entries.trainings[name].workloads}
    loads |= {(server, load) for server, _ in declared for load in plan.study.workloads}
    datasets = {(server, entries.workloads[load].dataset) for server, load in loads}
    named.exact.add(paths.study)
    named.patterns |= {f"results/sources/{server}-{DIGEST}" for server, _ in declared}
    named.patterns |= {f"results/{kind}/{s}/{build}-{DIGEST}" for kind in ("builds", "checks") for s, build in builds}
    named.patterns |= {f"results/profiles/{server}/{training}-{DIGEST}" for server, training in trainings}
    named.patterns |= {f"results/datasets/{server}/{dataset}-{DIGEST}" for server, dataset in datasets}
    named.patterns |= {f"results/packages/{server}-*-{build}-{DIGEST}.tar.gz" for server, build in builds}


def studies_never_removed() -> list[Path]:
    """Return the folders of studies with runs that no recipe of today would measure again.

    They are those of the layout before blocks, and those of imported logs.
    """
    return sorted(runs.parent for runs in Path("results/studies").glob(f"*/{RUNS_FOLDER}") if runs.is_dir())


def unnamed(named: Named) -> list[UnusedResult]:
    """Return everything under results/ that no config names."""
    roots = [*(f"results/{kind}" for kind in KINDS), *sorted(named.run_folders)]
    holders = named.holders()
    leftovers = [weighed(path) for root in roots if Path(root).is_dir() for path in _below(Path(root), named, holders)]
    return leftovers + unused_variables({leftover.path for leftover in leftovers})


def unused_variables(removed: set[Path]) -> list[UnusedResult]:
    """Return the shared files of server variables that no record of a run names, apart from those in `removed`."""
    unused = []
    for folder in sorted(Path("results/studies").glob(f"*/{VARIABLES_FOLDER}")):
        records = [file for name in RECORD_FOLDERS for file in (folder.parent / name).rglob("*.json")]
        remaining = [file for file in records if removed.isdisjoint(file.parents)]
        if folder.parent in removed or (used := _shared_variables(remaining)) is None:
            continue
        unused += [weighed(file) for file in sorted(folder.glob("*.json")) if file.stem not in used]
    return unused


def _shared_variables(records: Iterable[Path]) -> set[str | None] | None:
    """Return the names of the files of shared variables of these records, None when a record cannot be read."""
    try:
        return {json_record.read(file).get("shared_variables") for file in records}
    except ValueError:
        return None  # it may name any file, so all are kept


def _below(folder: Path, named: Named, holders: set[str]) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if named.keeps(str(entry)):
            continue
        if str(entry) in holders:
            yield from _below(entry, named, holders)
        elif _ours(entry):
            yield entry


def _ours(entry: Path) -> bool:
    """Return whether the workflow may have made an entry, a folder or a package; other files are the user's."""
    if entry.is_symlink() or entry.name.startswith("."):
        return False
    return entry.is_dir() or entry.name.endswith(".tar.gz")


def weighed(path: Path) -> UnusedResult:
    """Return a path with its size on disk and the time its content took to make."""
    if not path.is_dir():
        return UnusedResult(path, path.lstat().st_blocks * 512, 0.0)
    seconds = [_seconds(file, key) for name, key in SECONDS.items() for file in _shallow(path, name)]
    known_s = [value for value in seconds if value is not None]
    work_s = sum(known_s) if len(known_s) == len(seconds) else None
    runs = sum(map(_is_run, path.rglob("*.json"))) if "studies" in path.parts else 0
    return UnusedResult(path, allocated_bytes(path), work_s, runs)


def _is_run(file: Path) -> bool:
    """Return whether a file is the record of a run: of an arm of a block, of before blocks, or of imported logs."""
    return (file.name != BLOCK_FILE and "blocks" in file.parts) or file.stem.isdigit()


def _shallow(folder: Path, name: str) -> Iterable[Path]:
    return [*folder.glob(name), *folder.glob(f"*/{name}")]


def _seconds(file: Path, key: str) -> float | None:
    try:
        seconds: float | None = json_record.read(file).get(key, 0.0)
    except ValueError:
        return None
    return seconds
