"""A checkout of its own whose costly steps are stubs, and a study of four variants for it."""

import compileall
import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workflow.running import CHECKOUT, Answer, snakemake

STUBS = Path(__file__).parent / "stubs"
# What jobs import.
IMPORTED = ("scripts/", "tests/made/", "tests/workflow/stubs/")
STUDY: dict[str, Any] = {
    "study": "default",
    "title": "A study of stubs",
    "question": "Does the workflow do what it says?",
    "variants": {
        "baseline": {"server": "postgresql-15", "build": "baseline"},
        "pgo": {"server": "postgresql-15", "build": "pgo"},
        "other": {"server": "mariadb-10.11", "build": "pgo"},
    },
    "reference": "baseline",
    "workloads": {"simple_select": None, "oltp": None},
    "clients": [8],
    "repetitions": 5,
    "warmup_s": 1,
    "measure_s": 3,
    "placement": "automatic",
    "seed": 1,
    "campaign": 1,
    "relinked": False,
}


@dataclass(frozen=True)
class Event:
    """One job as its own process saw it, seconds since the epoch: Python's start, tied to Snakemake, the end."""

    module: str
    words: str
    begin_s: float
    work_s: float | None
    end_s: float | None


@dataclass(frozen=True)
class Stubbed:
    """A copied checkout; it is its own working directory, as for most users."""

    root: Path

    @property
    def journal(self) -> Path:
        return self.root / "journal.tsv"

    def configure(self, **changes: Any) -> None:
        """Write config.yaml: the study above with some of its keys replaced."""
        (self.root / "config.yaml").write_text(yaml.safe_dump({**STUDY, **changes}, sort_keys=False))

    def run(self, *arguments: str | Path, **more: str) -> Answer:
        return snakemake(self.root, *arguments, root=self.root, STUB_JOURNAL=str(self.journal), **more)

    def plan(self) -> Answer:
        """Return the answer of a dry run of the whole study."""
        answer = self.run("--dry-run", "results/report.html")
        assert answer.status == 0, answer.text
        return answer

    def events(self) -> list[Event]:
        """Return the jobs in the order they began."""
        noted: dict[str, dict[str, float]] = {"begin": {}, "work": {}, "end": {}}
        said = {}
        for line in self.journal.read_text().splitlines() if self.journal.exists() else []:
            edge, process, at, words = line.split("\t")
            noted[edge][process], said[process] = float(at), words
        return [
            Event(_module(said[process]), said[process], at, noted["work"].get(process), noted["end"].get(process))
            for process, at in sorted(noted["begin"].items(), key=lambda pair: pair[1])
        ]

    def read(self) -> dict[str, set[str]]:
        """Return rule -> the results that its jobs read."""
        found: dict[str, set[str]] = {}
        for line in self.journal.with_name(f"{self.journal.name}.read").read_text().splitlines():
            rule, path = line.split("\t")
            found.setdefault(rule, set()).add(path)
        return found

    def declared(self) -> dict[str, set[str]]:
        """Return rule -> the inputs of its jobs, as Snakemake recorded them."""
        found: dict[str, set[str]] = {}
        for file in (self.root / "results" / ".snakemake").iterdir():
            job = json.loads(file.read_text())
            found.setdefault(job["rule"], set()).update(job["input"])
        return found


def _module(words: str) -> str:
    parts = words.split()
    return parts[1].removeprefix("scripts.jobs.") if parts[:1] == ["-m"] else "script"


def copied(target: Path) -> Stubbed:
    """Copy what git knows of the checkout, and what it would add; sitecustomize.py lets jobs find the stubs first.

    Bytecode comes along: jobs of tests write none, so that each of them would compile all it imports.
    """
    for folder in IMPORTED:
        compileall.compile_dir(CHECKOUT / folder, quiet=2)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (CHECKOUT / name).is_file():
            _copy(name, target)
            if name.startswith(IMPORTED) and name.endswith(".py"):
                _copy(importlib.util.cache_from_source(name), target)
    shutil.copy2(STUBS / "sitecustomize.py", target)
    made = Stubbed(target)
    made.configure()
    return made


def _copy(name: str, target: Path) -> None:
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(CHECKOUT / name, target / name)


def finished(factory: pytest.TempPathFactory, name: str) -> Stubbed:
    """Return a copy of the study of stubs with relinks, brought to its report; all workers share the original."""
    base = factory.getbasetemp()
    original = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "finished-study"
    with original.with_name("finished-study.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (original / "results" / "report.html").exists():
            original.mkdir(exist_ok=True)
            made = copied(original)
            made.configure(relinked=True)
            answer = made.run("--cores", "2", "results/report.html")
            assert answer.status == 0, answer.text
    target = factory.mktemp(name)
    subprocess.run(["cp", "--archive", f"{original}/.", target], check=True)
    return Stubbed(target)
