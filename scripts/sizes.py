"""How many bytes what is due fetches, copies and keeps: as last time, else as stated here and in the catalog."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts import source_kinds
from scripts.due import Due, Thing
from scripts.durations import Durations
from scripts.run_time import kept_rows, rows_of

MIB = 2**20
LOCAL = ("file", "directory", "installed")
RUN_KIB = 50


@dataclass(frozen=True)
class Stated:
    """MiB of a family where no record tells: an unpacked source with its archive, a build tree, an install tree, an
    empty data directory and its logs at their longest; bytes of a sysbench row with its index.

    Measured: MariaDB 10.11 (400 000 rows made 197 MiB), PostgreSQL 15 (200 000 rows 152 MiB); MySQL's are larger and
    estimated from MariaDB's.
    """

    source_mib: float
    build_mib: float
    install_mib: float
    empty_mib: float
    logs_mib: float
    row_bytes: float


FAMILIES = {
    "mariadb": Stated(750, 1500, 60, 100, 512, 250),
    "mysql": Stated(2500, 4000, 150, 200, 1024, 250),
    "postgresql": Stated(210, 300, 20, 100, 4096, 260),
}


@dataclass(frozen=True)
class Size:
    """MiB, `None` where unknown, and whether they come from a record here rather than from what is stated."""

    mib: float | None
    measured: bool

    @property
    def least_mib(self) -> float:
        """Return what is certain of it: an estimate may be wrong by half."""
        return (self.mib or 0) / (1 if self.measured else 2)


def amount(mib: float) -> str:
    """Return a size in the unit a person would use."""
    return f"{mib:.0f} MiB" if mib < 10 * 1024 else f"{mib / 1024:.0f} GiB"


def total_mib(parts: Iterable[Size]) -> float:
    """Return the sum of what is known."""
    return sum(part.mib or 0 for part in parts)


class Sizes:
    """Sizes of what is due."""

    def __init__(self, due: Due, durations: Durations) -> None:
        self.due = due
        self.listing = due.listing
        self.plan = due.paths.plan
        self.durations = durations

    def stated(self, server: str) -> Stated:
        """Return what is stated of a server's family."""
        return FAMILIES[self.plan.family(server)]

    def fetched(self, thing: Thing) -> Size:
        """Return what fetching a server's sources transfers: nothing when they are on disk, else as the catalog says,
        else what an earlier fetch brought.
        """
        entry = self.plan.study.entries["servers"][thing.server]
        if source_kinds.kind_of(entry["sources"][0]) in LOCAL:
            return Size(0, measured=True)
        if "archive_mib" in entry:
            return Size(entry["archive_mib"], measured=False)
        names = [file["name"] for file in (self.listing.record(thing.record) or {}).get("files", [])]
        files = [Path(thing.folder, "downloads", name) for name in names]
        if files and all(file.is_file() for file in files):
            return Size(sum(file.stat().st_size for file in files) / MIB, measured=True)
        return Size(None, measured=False)

    def snapshot(self, folder: str) -> Size:
        """Return a dataset's snapshot: as its record tells, else as rows and an empty data directory make it."""
        known = self.listing.record(f"{folder}/dataset.json")
        if known:
            return Size(known["bytes"] / MIB, measured=True)
        server, name, _, data = self.due.paths.datasets[folder]
        stated = self.stated(server)
        return Size(stated.empty_mib + kept_rows(self.plan.tables(name, data)) * stated.row_bytes / MIB, measured=False)

    def installed(self, thing: Thing) -> Size:
        """Return a build's install tree: as large as the last of its kind here, else as stated."""
        kind = self.plan.stages.of(thing.name).kind
        known = [facts for facts in self.durations.facts(thing.server) if facts["stage"] == kind]
        if known:
            return Size(known[0]["install_bytes"] / MIB, measured=True)
        return Size(self.stated(thing.server).install_mib, measured=False)

    def copied(self) -> Size:
        """Return what cloning snapshots copies over all runs and trainings that are due."""
        paths = self.due.paths
        runs = [
            Size(size.mib * len(due), size.measured)
            for group, due in self.due.groups.items()
            if (size := self.snapshot(paths.dataset(*group))).mib
        ]
        trained = [
            self.snapshot(folder)
            for thing in self.due.of("profile")
            for folder in paths.training_datasets(thing.server, thing.name)
        ]
        parts = [*runs, *trained]
        return Size(total_mib(parts), all(part.measured for part in parts))

    def clone_mib(self, variant: str, workload: str) -> tuple[float, float]:
        """Return the least and the most a run's data directory takes: a snapshot; with the server's longest logs."""
        paths = self.due.paths
        size, study = self.snapshot(paths.dataset(variant, workload)), paths.plan.study
        stated = self.stated(study.variants[variant]["server"])
        dataset = self.plan.tables(study.entries["workloads"][workload]["dataset"], self.plan.data(variant))
        loaded_mib = (rows_of(dataset) - kept_rows(dataset)) * stated.row_bytes / MIB
        return size.least_mib + loaded_mib / 2, size.mib + loaded_mib + stated.logs_mib

    def storage(self, variant: str) -> str | None:
        """Return the folder of a variant's storage, None for the cache."""
        study = self.due.paths.plan.study
        name = study.variants[variant].get("storage")
        return study.config["storage"][name] if name else None

    def kept(self) -> dict[str, Size]:
        """Return what stays under results/, by what it is."""
        sources = [Size(self.stated(thing.server).source_mib, measured=False) for thing in self.due.of("source")]
        builds = [self.installed(thing) for thing in self.due.of("build")]
        snapshots = [self.snapshot(thing.folder) for thing in self.due.of("dataset")]
        parts = {"sources": sources, "builds": builds, "snapshots": snapshots}
        runs = Size(len(self.due.runs) * RUN_KIB / 1024, measured=True)
        summed = {name: Size(total_mib(of), all(part.measured for part in of)) for name, of in parts.items()}
        return {**summed, "runs": runs}
