"""Compare two finished studies side by side: their differences, and their values cell by cell."""

import argparse
from pathlib import Path
from typing import Any

from markupsafe import Markup

from scripts.commands.compare_studies import studies
from scripts.commands.compare_studies.cells import Cells, headline, sentences, shared_cells, side_table
from scripts.commands.compare_studies.figure import speedup_charts
from scripts.commands.compare_studies.studies import FinishedStudy, load_finished
from scripts.lib.host.entry import WrongCall, say, user_command
from scripts.lib.json_record import write_text
from scripts.report.analysis.metrics import METRICS
from scripts.report.page.render import render

COMPARISONS = Path("results/comparisons")
SHOWN = ("tps", "p95_ms", "cpu_us_per_tx")


def main(a: Path, b: Path) -> None:
    """Write report.html and summary.md of two studies into results/comparisons/<a>-<b>/.

    Raises ValueError naming a folder without a finished study, or if the two have no variant in common, WrongCall for
    two names of one folder.
    """
    first, second = load_finished(a), load_finished(b)
    if first.folder.resolve() == second.folder.resolve():
        raise WrongCall(f"A={a} and B={b}: both are {first.folder.resolve()}, expected two studies")
    folder = COMPARISONS / f"{first.name}-{second.name}"
    values = comparison_view(first, second)
    write_text(folder / "summary.md", render("comparison.md.j2", values))
    write_text(folder / "report.html", render("comparison.html.j2", values))
    say(f"[compare] {folder / 'report.html'}")


def comparison_view(a: FinishedStudy, b: FinishedStudy) -> dict[str, Any]:
    """Return the values for the templates, unescaped. Raises ValueError if the two have no variant in common."""
    variants = [name for name in a.variants if name in b.variants]
    if not variants:
        variants_text = f"{a.folder} has {', '.join(a.variants)}; {b.folder} has {', '.join(b.variants)}"
        raise ValueError(f"no variant in common: {variants_text}")
    shared = {name: shared_cells(a, b, name) for name in variants}
    refusals = studies.refusals(a, b, shared)
    cells = Cells(a, b, shared, refusals)
    return {
        "a": _side(a),
        "b": _side(b),
        "headline": headline(cells),
        "figures": [Markup(chart) for chart in speedup_charts(cells)],
        "sentences": sentences(cells),
        "refusals": refusals.named(),
        "changes": [
            ("When", studies.time_changes(a, b)),
            ("Releases and builds", studies.build_changes(a, b)),
            ("Config", studies.config_changes(a, b)),
        ],
        "tables": [side_table(cells, METRICS[name]) for name in SHOWN] if any(shared.values()) else [],
    }


def _side(study: FinishedStudy) -> dict[str, Any]:
    return {
        "name": study.name,
        "title": study.study["title"],
        "reference": study.study["reference"],
        "measured": studies.date_changes(study),
        "runs": len(study.records),
        "variants": study.variants,
        "workloads": list(study.study["workloads"]),
        "clients": study.study["clients"],
        "imported": study.imported,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.compare_studies", description=__doc__)
    for side in ("a", "b"):
        parser.add_argument(
            f"--{side}", type=Path, required=True, help="folder of a study, or a results folder with one"
        )
    return parser.parse_args()


if __name__ == "__main__":
    with user_command():
        main(**vars(_arguments()))
