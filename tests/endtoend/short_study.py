"""The quick study shortened: it is made once, and what came of it is read from its files."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from tests.endtoend.watching import PLACES, Seen, leftovers, wait_until_gone, watched
from tests.workflow.running import CHECKOUT, command_line, environment

SHORT = {
    "study": "short",
    # Compiled in half the time of -O2; gcc writes and reads profiles all the same.
    "builds": {"baseline": {"flags": "-O0"}, "pgo": {"flags": "-O0"}},
    # A library of contrib, which builds have because it is named here.
    "options": {"synchronous_commit": False, "shared_preload_libraries": "pg_stat_statements"},
    "repetitions": 2,
    "warmup_s": 1,
    "measure_s": 3,
    "datasets": {"sbtest": {"tables": 4, "rows": 10000}},
    "trainings": {
        "mixed": {"workloads": ["simple_select", "index_update", "oltp"], "clients": 4, "seconds": 2, "load": True}
    },
}
PROGRAMS = ["postgres", "sysbench"]
# In the results of the study above, whose reference, dataset and source it takes: what is left to compile is one build.
BY_CLANG = {
    **{key: SHORT[key] for key in ("options", "repetitions", "warmup_s", "measure_s", "datasets", "trainings")},
    "study": "by-clang",
    "title": "Thin LTO and BOLT by clang",
    "question": "Do thin LTO and BOLT work with clang?",
    "variants": {name: {"server": "postgresql-15", "build": name} for name in ("baseline", "clang_lto_bolt")},
    "reference": "baseline",
    "builds": {
        "baseline": SHORT["builds"]["baseline"],
        "clang_lto_bolt": {"toolchain": "clang-16", "flags": "-O1", "lto": True, "bolt": "mixed"},
    },
    "workloads": {"simple_select": None},
    "clients": [8],
    "placement": "automatic",
    "seed": 1,
    "campaign": 1,
    "relinked": False,
}
NEEDED = ("clang-16", "ld.lld-16", "llvm-ar-16", "llvm-bolt-16")


@dataclass(frozen=True)
class Study:
    """A finished study and what was seen of it while it ran."""

    folder: Path
    config: Path
    seen: dict[str, Seen]
    left: set[Path]
    running: list

    @property
    def home(self) -> Path:
        return self.folder / "results" / "studies" / self.config.stem

    def read(self, name: str) -> dict:
        return json.loads((self.home / name).read_text())

    def table(self, name: str) -> pd.DataFrame:
        return pd.read_csv(self.home / "tables" / f"{name}.csv")

    def blocks(self) -> list[dict]:
        """Return the records of all blocks by their start, each with its own path."""
        found = [{**json.loads(file.read_text()), "path": file} for file in (self.home / "blocks").rglob("block.json")]
        return sorted(found, key=lambda block: block["started_at"])

    def runs(self) -> list[dict]:
        """Return the records of all runs by their start, each with its own path."""
        files = [block["path"].with_name(f"{arm}.json") for block in self.blocks() for arm in block["arms"]]
        found = [{**json.loads(file.read_text()), "path": file} for file in files]
        return sorted(found, key=lambda run: run["times"]["started_at"])

    def build(self, name: str, record: str = "facts") -> dict:
        (file,) = (self.folder / "results" / "builds" / "postgresql-15").glob(f"{name}-*/{record}.json")
        return json.loads(file.read_text())

    def check(self, name: str) -> dict:
        (file,) = (self.folder / "results" / "checks" / "postgresql-15").glob(f"{name}-*/check.json")
        return json.loads(file.read_text())

    def jobs(self) -> list[tuple[str, float, float]]:
        """Return (rule, start, end) of every job as Snakemake recorded them, in seconds since the epoch."""
        found = {}
        for file in (self.folder / ".snakemake" / "metadata").rglob("*"):
            facts = json.loads(file.read_text()) if file.is_file() else {}
            if facts.get("endtime"):
                found[facts["rule"], tuple(facts["log"])] = (facts["rule"], facts["starttime"], facts["endtime"])
        return sorted(found.values(), key=lambda job: job[1])


def short() -> dict:
    """Return the config of the quick study shortened."""
    quick = yaml.safe_load((CHECKOUT / "studies" / "quick.yaml").read_text())
    return {**quick, **SHORT}


def made(folder: Path) -> Study:
    """Make the whole study in an empty folder, and watch it."""
    return _made(folder, short())


def made_by_clang(study: Study) -> Study:
    """Make the study of a build by clang in the folder of a finished one."""
    return _made(study.folder, BY_CLANG)


def _made(folder: Path, study: dict) -> Study:
    config = folder / f"{study['study']}.yaml"
    config.write_text(yaml.safe_dump(study, sort_keys=False))
    before, places = leftovers(), (str(folder), *PLACES)
    with watched(PROGRAMS, places) as seen, config.with_suffix(".log").open("w") as log:
        done = subprocess.run(
            command_line(folder, "--cores", "all", "--configfile", config),
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    assert done.returncode == 0, "\n".join(config.with_suffix(".log").read_text().splitlines()[-60:])
    return Study(folder, config, seen, leftovers() - before, wait_until_gone(PROGRAMS, places))
