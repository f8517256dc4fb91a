"""Edits of our own code that change nothing of what it does."""

from collections.abc import Callable

from scripts.workflow import code_digest
from tests.workflow.renaming import refactored
from tests.workflow.stubbed import Stubbed

COMMENT = "# another comment\n"
CHEAP = [
    "audit_build",
    "compare_answers",
    "prove_builds",
    "describe_study",
    "collect_runs",
    "compare_variants",
    "export_tables",
    "plot_figures",
    "render_report",
]
COMMENTED = [
    "Snakefile",
    "Makefile",
    "rules/*",
    "catalog/*",
    "envs/*",
    "profiles/*/*",
    "scripts/build/compilation/compiler/*",
]


def comments(study: Stubbed) -> None:
    """Add a comment to everything that is neither Python nor part of the page."""
    for pattern in COMMENTED:
        for file in study.root.glob(pattern):
            file.write_text(file.read_text() + COMMENT)


def white_space(study: Stubbed) -> None:
    """Put another space into the shell command of every rule."""
    for file in (study.root / "rules").glob("*.smk"):
        file.write_text(file.read_text().replace(" \\\n", "  \\\n"))


def costly_modules(study: Stubbed) -> None:
    """Refactor every module that no cheap step uses."""
    cheap = {name for script in CHEAP for name in code_digest.files_of(f"jobs.{script}")}
    refactor(study, lambda name: name not in cheap)


def all_modules(study: Stubbed) -> None:
    refactor(study, lambda name: True)


def refactor(study: Stubbed, chosen: Callable[[str], bool]) -> None:
    """Refactor the modules of ours whose names, relative to the package, are chosen."""
    folder = study.root / "scripts"
    files = [file for file in folder.rglob("*.py") if chosen(str(file.relative_to(folder)))]
    costly = ("jobs/measure_block.py", "build/compilation/bolt.py", "study/plan/recipes.py")
    assert {folder / name for name in costly} <= set(files)
    for file in files:
        file.write_text(refactored(file.read_text()))
