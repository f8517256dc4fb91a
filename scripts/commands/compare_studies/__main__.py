"""Compare two finished studies side by side: their differences, and their values cell by cell."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from scripts.commands.compare_studies import studies
from scripts.commands.compare_studies.cells import Cells, headline, sentences, shared_cells, side_table
from scripts.commands.compare_studies.figure import speedup_charts
from scripts.commands.compare_studies.studies import FinishedStudy, StudyChange, load_finished
from scripts.lib.host.entry import WrongCall, say, user_command
from scripts.lib.json_record import write_text
from scripts.report.analysis.metrics import METRICS
from scripts.report.page.document import (
    AnswerBox,
    Figures,
    Fold,
    Head,
    Heading,
    Page,
    Partial,
    Prose,
    Section,
    Table,
    table_row,
    word_heads,
)
from scripts.report.page.render import render_markdown, render_page

COMPARISONS = Path("results/comparisons")
FORBIDS = "What forbids a speedup"
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
    compared = compare(first, second)
    write_text(folder / "summary.md", render_markdown("comparison.md.j2", {"compared": compared}))
    write_text(folder / "report.html", render_page(page_of(compared)))
    say(f"[compare] {folder / 'report.html'}")


@dataclass(frozen=True)
class ComparedStudies:
    """Two studies side by side; `tables` is by the title of a table, `changes` by the kind of what differs."""

    a: FinishedStudy
    b: FinishedStudy
    headline: str
    sentences: list[str]
    refusals: Table
    tables: dict[str, Table]
    changes: dict[str, Table]
    figures: list[Markup]


def compare(a: FinishedStudy, b: FinishedStudy) -> ComparedStudies:
    """Return two studies side by side. Raises ValueError if they have no variant in common."""
    variants = [name for name in a.variants if name in b.variants]
    if not variants:
        variants_text = f"{a.folder} has {', '.join(a.variants)}; {b.folder} has {', '.join(b.variants)}"
        raise ValueError(f"no variant in common: {variants_text}")
    shared = {name: shared_cells(a, b, name) for name in variants}
    refusals = studies.refusals(a, b, shared)
    cells = Cells(a, b, shared, refusals)
    metrics = [METRICS[name] for name in SHOWN] if any(shared.values()) else []
    changes = {
        "When": studies.time_changes(a, b),
        "Releases and builds": studies.build_changes(a, b),
        "Config": studies.config_changes(a, b),
    }
    return ComparedStudies(
        a,
        b,
        headline=headline(cells),
        sentences=sentences(cells),
        refusals=_changes_table(a, b, "differs", refusals.named()),
        tables={metric.heading: side_table(cells, metric) for metric in metrics},
        changes={title: _changes_table(a, b, "", listed) for title, listed in changes.items()},
        figures=[Markup(chart) for chart in speedup_charts(cells)],
    )


def _changes_table(a: FinishedStudy, b: FinishedStudy, what: str, changes: list[StudyChange]) -> Table:
    heads = (Head(what), *word_heads(f"A: {a.name}", f"B: {b.name}"))
    return Table(heads, tuple(table_row(change.what, change.a, change.b) for change in changes), style="sided")


REFUSALS_TEXT = (
    "With any of these different or unknown, a ratio of B to A includes their effect as well as that of the server."
)
CAPTION = (
    "Ratio of each variant to the reference of its own study, over the cells that both have. Thick: mean with its 95 % "
    "interval; small: each cell."
)


def page_of(compared: ComparedStudies) -> Page:
    """Return the page of two studies."""
    title = f"{compared.a.name} and {compared.b.name}"
    sides = [_side_text(letter, study) for letter, study in (("A", compared.a), ("B", compared.b))]
    figures = [Figures(compared.figures, "answer", CAPTION)] if compared.figures else []
    in_words = Fold(
        "In sentences, variant by variant", [AnswerBox([*map(Prose, compared.sentences)])], is_open=not figures
    )
    header = [Heading(title, 1), Prose(compared.headline, "headline"), *sides, *figures, in_words]
    changes = [
        block
        for kind, table in compared.changes.items()
        for block in (Heading(kind), table if table else Prose("Nothing."))
    ]
    refusals = Section("refusals", FORBIDS, [Prose(REFUSALS_TEXT), compared.refusals], FORBIDS)
    folds = [Fold(name, [table], is_open=number == 0) for number, (name, table) in enumerate(compared.tables.items())]
    sections = [
        *([refusals] if compared.refusals else []),
        *([Section("cells", "Cell by cell", folds, "Cell by cell")] if folds else []),
        Section("changes", "What changed", changes, "What changed"),
        Section("method", "How it was done", [Partial("comparison_method", {})], "How it was done"),
    ]
    return Page(title, header, sections, {}, has_script=False)


def _side_text(letter: str, study: FinishedStudy) -> Prose:
    source = " from imported logs" if study.imported else ""
    text = (
        f", {study.study.title}. {len(study.records)} runs{source}, measured {studies.date_changes(study)}. "
        f"Reference {study.study.reference}; variants {', '.join(study.variants)}; workloads "
        f"{', '.join(study.study.workloads)}; clients {', '.join(map(str, study.study.clients))}."
    )
    return Prose(Markup("<b>{}: {}</b>{}").format(letter, study.name, text), "quiet")


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
