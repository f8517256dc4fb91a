"""Keep what finished studies measured in studies/measured.csv, and make the answers in studies/README.md of it.

Without folders only the table is made anew. Published figures come from the files in studies/published.
"""

import argparse
import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from scripts import record
from scripts.analysis import published, stats
from scripts.analysis.comparison import MATTERS
from scripts.analysis.metrics import EVERY
from scripts.analysis.runs import read_csv
from scripts.host.entry import say
from scripts.measure import record as run_record
from scripts.record import write_text
from scripts.report.words import verdict_word
from scripts.vocabulary import AA, RELINKED
from scripts.wording import interval, missing, plural, ratio

ROOT = Path(__file__).resolve().parents[2]
MEASURED, README = Path("studies/measured.csv"), Path("studies/README.md")
BEGIN, END = "<!-- answers -->", "<!-- /answers -->"
SMALL = "-small"
COMMIT = 12
# Parts of a record that take most of its size.
BULKY = ("variables", "option_file", "histogram", "engine_report", "counter_series", "series")
# Of the metrics with a ratio over all cells, those that are kept; the first that a study has is shown.
KEPT = ("tps", "cold_s", "warm_s", "p95_ms", "cpu_us_per_tx")
# The leading metrics: of a load, of timed SQL.
FIRST = KEPT[:2]
HEAD = "| study | published | measured |\n|---|---|---|\n"


@dataclass(frozen=True)
class Measured:
    """A variant and metric of a study over all its cells; `verdict` is a code, `matters` a share, both may be empty.

    `release` is that of the variant's server, `workflow` version and commit of what measured it.
    """

    study: str
    variant: str
    metric: str
    ratio: str
    low: str
    high: str
    verdict: str
    matters: str
    blocks: str
    cpu_model: str
    release: str
    workflow: str
    date: str


def of_study(folder: Path, answered: str = "") -> list[Measured]:
    """Return what a finished study measured, A/A among it, without relinks.

    `answered` is the study whose question it answers, its own unless it asks the same of another release. Raises
    ValueError naming the file that an unfinished study lacks.
    """
    for name in ("study.json", "tables/overall.csv", "tables/runs.csv"):
        if not (folder / name).is_file():
            raise ValueError(f"{folder / name}: missing, expected the folder of a finished study: results/studies/x")
    study, table = record.read(folder / "study.json"), read_csv(folder / "tables" / "overall.csv")
    runs = read_csv(folder / "tables" / "runs.csv").query("outcome == 'ok'")
    chosen = table[table["metric"].isin(KEPT) & (table["variant"] != RELINKED)].dropna(subset="ratio")
    about = {variant: _about(folder, rows) for variant, rows in runs.groupby("variant")}
    return [
        Measured(
            study=answered or study["study"],
            variant=row.variant,
            metric=row.metric,
            **{name: _number(value) for name, value in _figures(row).items()},
            verdict="" if missing(row.verdict) else row.verdict,
            matters=_number(study.get("matters", MATTERS)),
            **about[row.variant],
        )
        for row in chosen.itertuples()
    ]


def _figures(row: Any) -> dict[str, Any]:
    return {"ratio": row.ratio, "low": row.ratio_low, "high": row.ratio_high, "blocks": row.n_blocks_least}


def _number(value: Any) -> str:
    return "" if missing(value) else f"{value:.5g}"


def _about(folder: Path, runs: Any) -> dict[str, str]:
    """Return CPU, release, workflow and date of a variant's runs; paths in the tables begin at `results`."""
    found = [run_record.read(folder.resolve().parents[2] / file, without=BULKY) for file in runs["file"]]
    last_s = max(run.times.ended_at for run in found)
    return {
        "cpu_model": _each(run.host.cpu for run in found),
        "release": _each(f"{run.server.family} {run.server.release}" for run in found),
        "workflow": _each(f"{run.workflow.version} {(run.workflow.commit or '')[:COMMIT]}".strip() for run in found),
        "date": f"{datetime.fromtimestamp(last_s, UTC):%Y-%m-%d}",
    }


def _each(values: Iterable[str | None]) -> str:
    return "; ".join(dict.fromkeys(value for value in values if value))


def read(file: Path) -> list[Measured]:
    """Return the rows of measured.csv, none without the file. Raises ValueError naming a file of other columns."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    try:
        return [Measured(**row) for row in rows]
    except TypeError:
        names = ", ".join(each.name for each in fields(Measured))
        raise ValueError(f"{file}: expected the columns {names}") from None


def as_csv(rows: Iterable[Measured]) -> str:
    """Return the text of measured.csv."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [each.name for each in fields(Measured)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, rows))
    return text.getvalue()


def merged(before: list[Measured], new: list[Measured]) -> list[Measured]:
    """Return the rows of all studies by name; those of a study that was measured again are replaced."""
    again = {row.study for row in new}
    return sorted([*(row for row in before if row.study not in again), *new], key=lambda row: row.study)


def table(root: Path, rows: list[Measured]) -> str:
    """Return the table of answers: one row per study of the checkout that has published or measured figures."""
    lines = []
    for file in sorted((root / "studies").glob("*.yaml")):
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
        said, own = published_text(root, config), [row for row in rows if of_config(row.study) == file.stem]
        if said or own:
            lines.append(f"| `{file.stem}` | {said} | {measured_text(own)} |\n")
    return f"{HEAD}{''.join(lines)}\n{same_text(rows)}\n"


def same_text(rows: list[Measured]) -> str:
    """Return how often the reference measured a second time differs from itself, by the first metric of each study."""
    ends = [(float(row.low), float(row.high)) for row in rows if row.variant == AA and row.metric in FIRST and row.low]
    missed = sum(not low <= 1 <= high for low, high in ends)
    return (
        f"A/A, the reference measured a second time: the 95 % interval over all cells leaves out 1 in {missed} of "
        f"{plural(len(ends), 'study', 'studies')}."
    )


def of_config(study: str) -> str:
    """Return the name of a study's config, which a small scale does not change."""
    return study.removesuffix(SMALL)


def published_text(root: Path, config: dict[str, Any]) -> str:
    """Return the published ratios of a study; empty where it names no file."""
    if not config.get("published"):
        return ""
    known = published.read(root / config["published"])
    study = {"reference": config["reference"], "published": known}
    rows = published.frame(study)
    for metric in KEPT[:3]:
        found = published.ratios(study, rows, metric) if len(rows) else rows
        if len(found):
            return f"{_label(metric)} to `{published.base_of(study, rows)}`: {_published_arms(found)}"
    return "in words" if known.get("findings") else f"{plural(len(rows), 'figure')}, no ratio between variants"


def _published_arms(found: Any) -> str:
    arms = found.groupby("variant", sort=False)["ratio"].agg(mean=stats.geometric_mean, cells="count")
    cells = _each(plural(count, "cell") for count in arms["cells"])
    return f"{'; '.join(f'`{row.Index}` {ratio(row.mean)} ×' for row in arms.itertuples())} ({cells})"


def _label(metric: str) -> str:
    return "TPS" if metric == KEPT[0] else EVERY[metric].label.lower()


def measured_text(rows: list[Measured]) -> str:
    """Return what a study measured, at each scale, of the first metric that it has."""
    return "<br>".join(_scale_text(name, rows) for name in dict.fromkeys(row.study for row in rows)) or "not yet"


def _scale_text(study: str, rows: list[Measured]) -> str:
    own = [row for row in rows if row.study == study and row.variant != AA]
    metric = next(name for name in KEPT if any(row.metric == name for row in own))
    shown = [row for row in own if row.metric == metric]
    arms = "; ".join(map(_arm_text, shown))
    scale = "small scale" if study.endswith(SMALL) else "full scale"
    blocks = f"{_each(row.blocks for row in shown)} blocks a cell"
    releases = {row.release for row in shown}
    server = f"{releases.pop()}; " if len(releases) == 1 else ""
    where = f"{_each(row.cpu_model for row in shown)}, {_each(row.date for row in shown)}"
    return f"{scale}, {_label(metric)}: {arms} ({blocks}; {server}{where})"


def _arm_text(row: Measured) -> str:
    known = interval(float(row.low), float(row.high)) if row.low else "no interval"
    word = f", {verdict_word(EVERY[row.metric], row.verdict, float(row.matters))}" if row.verdict else ""
    return f"`{row.variant}` {ratio(float(row.ratio))} × ({known}){word}"


def with_table(text: str, answers: str) -> str:
    """Return a README with the table between its marks. Raises ValueError unless each mark stands there once."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"{README}: expected one line {BEGIN} and, below it, one line {END}")
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n{answers}{END}{rest.partition(END)[2]}"


def main(root: Path, folders: list[Path], answered: str = "") -> None:
    """Take finished studies in, under their own names or as answers of one study, and write both files of a checkout.

    Raises ValueError for an `answered` that is not a study of the checkout.
    """
    known = root / "studies"
    if answered and not (known / f"{of_config(answered)}.yaml").is_file():
        raise ValueError(f"--answers {answered}: expected a study of {known}, with {SMALL} for its small scale")
    rows = merged(read(root / MEASURED), [row for folder in folders for row in of_study(folder, answered)])
    write_text(root / MEASURED, as_csv(rows))
    readme = root / README
    write_text(readme, with_table(readme.read_text(encoding="utf-8"), table(root, rows)))
    say(f"{MEASURED}: {plural(len(rows), 'row')} of {len({row.study for row in rows})} studies")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.answers", description=__doc__)
    parser.add_argument("studies", type=Path, nargs="*", help="folders of finished studies, results/studies/x")
    parser.add_argument(
        "--answers", default="", metavar="x-small", help="the study whose question they answer with another release"
    )
    given = parser.parse_args()
    main(ROOT, given.studies, given.answers)
