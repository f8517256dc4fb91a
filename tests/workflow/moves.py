"""What happens to a finished study that nobody edits: other cores and compilers, results moved and copied."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.workflow.edited_study import ARCHIVE, CONTENT, TARGET, configure, sources
from tests.workflow.running import Answer, snakemake
from tests.workflow.stubbed import Stubbed

BUILDS = {"pgo": {"profile": "mixed", "flags": "-O3"}}


def other_cores(study: Stubbed) -> Answer:
    return study.run("--dry-run", "--cores", "7", TARGET)


def compiler_updated(study: Stubbed) -> Answer:
    """Let another release of gcc-12 be the first on PATH, also on our own."""
    folder, real = study.root.parent / "updated", shutil.which("gcc-12")
    folder.mkdir()
    told = 'case "$*" in *-dumpfullversion*) echo 12.9.0 ;;'
    (folder / "gcc-12").write_text(f'#!/bin/sh\n{told} *) exec {real} "$@" ;; esac\n')
    (folder / "gcc-12").chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return study.run("--dry-run", TARGET)


def sources_touched(study: Stubbed) -> None:
    for file in sources(study).rglob("*"):
        os.utime(file)


@contextlib.contextmanager
def cloned(study: Stubbed) -> Iterator[Stubbed]:
    """Give a fresh clone into which the results were copied so that what was made first got the newest date."""
    clone = study.root.parent / "clone"
    shutil.copytree(study.root, clone, ignore=shutil.ignore_patterns("journal.tsv"))
    shutil.rmtree(clone / ".snakemake")
    first_ns = study.root.stat().st_ctime_ns
    for file in clone.rglob("*"):
        os.utime(file, ns=(first_ns, 2 * first_ns - file.stat().st_mtime_ns))
    try:
        yield Stubbed(clone)
    finally:
        shutil.rmtree(clone)


def results_copied(study: Stubbed) -> Answer:
    with cloned(study) as clone:
        return clone.plan()


@contextlib.contextmanager
def moved(place: Path, there: Path) -> Iterator[None]:
    """Move a folder for a while."""
    there.parent.mkdir(exist_ok=True)
    place.rename(there)
    try:
        yield
    finally:
        there.rename(place)


def checkout_moved(study: Stubbed) -> Answer:
    there = study.root.with_name("moved")
    with moved(study.root, there):
        return Stubbed(there).plan()


def results_linked(study: Stubbed) -> Answer:
    """Plan after the results were moved to another disk, with a link in their place."""
    results, disk = study.root / "results", study.root.parent / "disk"
    with moved(results, disk):
        results.symlink_to(disk)
        try:
            return study.plan()
        finally:
            results.unlink()


def results_elsewhere(study: Stubbed) -> Answer:
    """Plan after the results were moved to where `-d` says."""
    there = study.root.parent / "there"
    with moved(study.root / "results", there / "results"):
        return snakemake(there, "--dry-run", TARGET, root=study.root)


def made_and_taken_back(study: Stubbed) -> Answer:
    """Plan the finished study after one with another source, build, option and number was made under its name."""
    results, kept = study.root / "results", study.root.parent / "kept"
    shutil.copytree(results, kept)
    try:
        (sources(study) / ARCHIVE).write_text("another archive\n")
        configure(study, builds=BUILDS, repetitions=1, options={"work_mem": "8MB"})
        made = study.run("--cores", "2", TARGET)
        assert made.status == 0, made.text
        assert {"fetch_source", "build_server", "train_server", "load_dataset", "measure_block"} <= set(made.costly)
        (sources(study) / ARCHIVE).write_text(CONTENT[ARCHIVE])
        configure(study)
        return study.plan()
    finally:
        shutil.rmtree(results)
        kept.rename(results)
