"""Edits of our own code that change nothing of what it does."""

from tests.workflow.renaming import refactored
from tests.workflow.stubbed import Stubbed

COMMENT = "# another comment\n"
OF_BUILDS = ["audit_build", "compare_answers", "prove_builds"]
OF_REPORT = ["describe_study", "collect_runs", "compare_variants", "export_tables", "plot_figures", "render_report"]
COMMENTED = [
    "Snakefile",
    "Makefile",
    "rules/*",
    "catalog/*",
    "envs/*",
    "profiles/*/*",
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


def all_modules(study: Stubbed) -> None:
    """Refactor every module of ours, those of costly steps among them."""
    for file in (study.root / "scripts").rglob("*.py"):
        file.write_text(refactored(file.read_text()))
