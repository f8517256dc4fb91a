"""Rows of studies/measured.csv: what finished studies measured."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from scripts.lib import json_record
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.lib.visible import csv_cell, csv_text
from scripts.lib.vocabulary import AA, COLD, CONTROLS, RELINKED
from scripts.lib.wording import missing
from scripts.measure.engine import run_record
from scripts.measure.engine.run_parts import ServerFacts
from scripts.report.analysis import ladder, published
from scripts.report.analysis.run_tables import read_csv
from scripts.study.plan.listing import Listing

MEASURED = Path("studies/measured.csv")
COMMIT = 12
# Parts of a record that take most of its size.
BULKY = ("variables", "option_file", "histogram", "engine_report", "counter_series", "series")
# Of the metrics with a ratio over all cells, those that are kept; the first that a study has is shown.
KEPT = ("tps", "cold_s", "warm_s", "p95_ms", "cpu_us_per_tx")
# The leading metrics: of a load, of timed SQL.
FIRST = KEPT[:2]
# Metric of a statement against another in the same run of timed SQL: cold_s/STATEMENT / STATEMENT.
PAIR = f"{COLD}_s/"
# Metric of TPS with the most clients to that with the best client count.
MOST = "tps/"


@dataclass(frozen=True)
class MeasuredAnswer:
    """A variant and metric of a study over all its cells; `verdict` is a code, `matters` a share, both may be empty.

    A metric that begins with PAIR or MOST compares the variant with itself, by runs in place of blocks.
    `release` is product and release of the variant's server, `workflow` version and commit of what measured it.
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

    @property
    def campaign(self) -> tuple[str, str]:
        """CPU and day: within a study, rows of one campaign were measured beside the same A/A."""
        return self.cpu_model, self.date

    @property
    def arm(self) -> tuple[str, str, str, str]:
        """Study, variant, release and CPU: a later measurement of the same four replaces this one."""
        return self.study, self.variant, self.release, self.cpu_model


def of_study(folder: Path, answered: str = "") -> list[MeasuredAnswer]:
    """Return what a finished study measured, A/A among it, without relinks; last what compares a variant with itself.

    `answered` is the study whose question it answers, its own unless it asks the same of another release. Raises
    ValueError naming the file that an unfinished study lacks.
    """
    for name in ("study.json", "tables/overall.csv", "tables/runs.csv", "tables/against.csv", "tables/ladder.csv"):
        if not (folder / name).is_file():
            raise ValueError(f"{folder / name}: missing, expected the folder of a finished study: results/studies/x")
    study, table = read_study(folder / "study.json"), read_csv(folder / "tables" / "overall.csv")
    runs = read_csv(folder / "tables" / "runs.csv").query("outcome == 'ok'")
    chosen = table[table["metric"].isin(KEPT) & (table["variant"] != RELINKED)].dropna(subset="ratio")
    about = {str(variant): _about(folder, rows["file"]) for variant, rows in runs.groupby("variant")}
    name, matters = answered or study.study, _number(study.matters)
    within = _within(study, folder / "tables").assign(verdict="", matters="").rename(columns={"n_ok": "blocks"})
    over_cells = chosen.assign(verdict=chosen["verdict"].fillna(""), matters=matters, blocks=chosen["n_blocks_least"])
    columns = ["variant", "metric", "ratio", "ratio_low", "ratio_high", "verdict", "matters", "blocks"]
    rows = [row for table in (over_cells, within) for row in table[columns].itertuples(index=False, name=None)]
    return [
        MeasuredAnswer(
            name, variant, metric, _number(mean), _number(low), _number(high), verdict, limit, _number(blocks),
            **about[variant],
        )
        for variant, metric, mean, low, high, verdict, limit, blocks in rows
    ]  # fmt: skip


def _within(study: ResolvedStudy, tables: Path) -> pd.DataFrame:
    """Return what compares a variant with itself: pairs of statements, and the ladder if that was published."""
    pairs = read_csv(tables / "against.csv")
    parts = [pairs.assign(metric=PAIR + pairs["statement"].astype(str) + " / " + pairs["against"].astype(str))]
    if len(published_ladder(study)):
        parts.append(with_most_clients(read_csv(tables / "ladder.csv")))
    joined = pd.concat(parts)
    return joined[~joined["variant"].isin(CONTROLS)]


def published_ladder(study: ResolvedStudy) -> pd.DataFrame:
    """Return the published ladders of a study that has no published ratio between variants."""
    rows = published.frame(study)
    return ladder.published_table(rows[:0] if len(published.ratios(study, rows, "tps")) else rows)


def with_most_clients(rungs: pd.DataFrame) -> pd.DataFrame:
    """Return the last row of each ladder, its share as `ratio`."""
    last = rungs.sort_values("clients", kind="stable").drop_duplicates(["variant", "workload"], keep="last")
    names = last["workload"].astype(str) + ", " + last["clients"].astype(str) + " clients / best"
    return last.rename(columns=lambda name: name.replace("share", "ratio")).assign(metric=MOST + names)


def _number(value: float | None) -> str:
    return "" if missing(value) else f"{value:.5g}"


def _about(folder: Path, files: Iterable[str]) -> dict[str, str]:
    """Return CPU, release, workflow and date of a variant's runs; paths in the tables begin at `results`."""
    results = folder.resolve().parents[1]
    records = [run_record.read(results.parent / file, without=BULKY) for file in files]
    last_s = max(run.times.ended_at for run in records if run.times.ended_at is not None)
    return {
        "cpu_model": together(run.host.cpu for run in records),
        "release": together(f"{_product(results, run.server)} {run.server.release}" for run in records),
        "workflow": together(
            f"{run.workflow.version} {(run.workflow.commit or '')[:COMMIT]}".strip() for run in records
        ),
        "date": f"{datetime.fromtimestamp(last_s, UTC):%Y-%m-%d}",
    }


def _product(results: Path, server: ServerFacts) -> str | None:
    """Return the product that the server's sources state, its family without them: a fork is of another's family."""
    folders = Listing().versions(str(results / "sources"), str(server.name))
    return json_record.read(Path(folders[0]) / "source.json")["product"] if folders else server.family


def together(values: Iterable[str | None]) -> str:
    """Return the different texts among the values in one, without those that are missing."""
    return "; ".join(dict.fromkeys(value for value in values if value))


def read(file: Path) -> list[MeasuredAnswer]:
    """Return the rows of measured.csv, none without the file. Raises ValueError naming a file of other columns."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    try:
        return [MeasuredAnswer(**{name: csv_text(cell) for name, cell in row.items()}) for row in rows]
    except TypeError:
        names = ", ".join(column.name for column in fields(MeasuredAnswer))
        raise ValueError(f"{file}: expected the columns {names}") from None


def as_csv(rows: Iterable[MeasuredAnswer]) -> str:
    """Return the text of measured.csv."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [column.name for column in fields(MeasuredAnswer)], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(text) for name, text in asdict(row).items()} for row in rows)
    return text.getvalue()


def merged(before: list[MeasuredAnswer], new: list[MeasuredAnswer], keeps_others: bool = False) -> list[MeasuredAnswer]:
    """Return the rows of all studies by name; those of a study that was measured again are replaced.

    With `keeps_others`, variants of it that were not measured again on the same CPU with the same release keep their
    rows, and those of the A/A of their campaign.
    """
    again = {row.study for row in new}
    rows = [row for row in before if row.study not in again]
    if keeps_others:
        rows += _left([row for row in before if row.study in again], new)
    return sorted([*rows, *new], key=lambda row: row.study)


def _left(before: list[MeasuredAnswer], new: list[MeasuredAnswer]) -> list[MeasuredAnswer]:
    """Return the earlier rows of arms that are not among the new ones, and of A/A in campaigns with these alone."""
    new_arms = {row.arm for row in new}
    old = [row for row in before if row.variant != AA and row.arm not in new_arms]
    campaigns = {(row.study, row.campaign) for row in old} - {(row.study, row.campaign) for row in new}
    return [row for row in before if row in old or (row.variant == AA and (row.study, row.campaign) in campaigns)]
