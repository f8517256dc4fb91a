"""Published figures: the tidy file that holds them, and their ratios beside the measured ones."""

import csv
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from scripts.lib.resolved_study import PublishedFigure, PublishedFigures, PublishedFinding, ResolvedStudy
from scripts.lib.vocabulary import CELL, WORKLOAD_CLIENTS
from scripts.lib.wording import listing
from scripts.report.analysis import stats
from scripts.report.analysis.comparison import over_workloads
from scripts.report.analysis.metrics import MEASURED
from scripts.report.analysis.table_rows import OverallRow

COLUMNS = ["metric", "variant", "workload", "clients", "value"]
# A file may also give each value with its unit, as printed; the units of metrics are those of their names.
WITH_UNITS = [*COLUMNS, "unit"]
IN_BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
IN_MS = {"us": 0.001, "ms": 1, "s": 1000}
# Where words were published instead of figures.
FINDINGS = ["variant", "workload", "clients", "finding"]
# Sizes of data directories, in bytes, have the names of the columns of tables/files.csv.
SIZES = tuple(f"{edge}_{kind}_bytes" for edge in ("before", "after") for kind in ("allocated", "apparent"))
# Times of fsync on a published variant's storage, in ms.
OF_STORAGE = {"fsync_min_ms": "shortest", "fsync_max_ms": "longest"}
SOURCE = "# source:"


def read(path: Path) -> PublishedFigures:
    """Return what a CSV file has of published figures: their source, and rows or findings.

    The file begins with lines `# source: ...`, then the header. Values are in the units of the metrics of the same name
    in `metrics`, or in those of a last column `unit`. There, a quantity that no metric measures is named freely; its
    row keeps its value as printed, and its unit. A file of findings has statements without figures. Raises ValueError
    naming file, line, column, value and what was expected.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    begin = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    source = " ".join(line.removeprefix(SOURCE).strip() for line in lines[:begin] if line.startswith(SOURCE))
    if not source:
        raise ValueError(f"{path}: line 1: expected `{SOURCE} where the figures come from`")
    head = lines[begin].split(",") if begin < len(lines) else []
    numbered = enumerate(csv.reader(lines[begin + 1 :]), start=begin + 2)
    if head == FINDINGS:
        return PublishedFigures(source, findings=[_finding(fields, path, number) for number, fields in numbered])
    if head not in (COLUMNS, WITH_UNITS):
        columns = lines[begin] if begin < len(lines) else "nothing"
        raise ValueError(f"{path}: line {begin + 1}: columns are {columns!r}, expected {','.join(COLUMNS)!r}")
    rows = [_row(fields, head, f"{path}: line {number}") for number, fields in numbered if fields]
    if not rows:
        raise ValueError(f"{path}: line {begin + 2}: no figure; expected one a line")
    return PublishedFigures(source, rows)


def _finding(fields: list[str], path: Path, number: int) -> PublishedFinding:
    if len(fields) != len(FINDINGS) or not all(field.strip() for field in fields):
        columns = ",".join(FINDINGS)
        raise ValueError(f"{path}: line {number}: expected {len(FINDINGS)} fields, none empty: {columns}")
    return PublishedFinding(*map(str.strip, fields))


def _row(fields: list[str], columns: list[str], where: str) -> PublishedFigure:
    if len(fields) != len(columns):
        raise ValueError(f"{where}: {len(fields)} fields, expected {len(columns)}: {', '.join(columns)}")
    texts = dict(zip(columns, map(str.strip, fields), strict=True))
    for column in COLUMNS[:3]:
        if not texts[column]:
            raise ValueError(f"{where}: column {column} is empty, expected a name")
    names = (texts["metric"], texts["variant"], texts["workload"])
    complaint = f"{where}: column value is {texts['value']!r}, expected a number"
    if (unit := texts.get("unit")) is not None and not is_known(texts["metric"]):
        value = _number(texts["value"], float, complaint)
        return PublishedFigure(*names, _clients(texts["clients"], where), value, unit)
    value = _positive(texts["value"], float, complaint) * _factor(texts["metric"], unit, where)
    return PublishedFigure(*names, _clients(texts["clients"], where), value)


def is_known(metric: str) -> bool:
    """Return whether a published quantity has the name and the unit of one of ours."""
    return metric.partition("/")[0] in (*MEASURED, *SIZES, *OF_STORAGE)


def _clients(text: str, where: str) -> int:
    return int(_positive(text, int, f"{where}: column clients is {text!r}, expected a whole number"))


def _factor(metric: str, unit: str | None, where: str) -> float:
    """Return what a value in `unit` is multiplied by to have the unit of a metric."""
    name = metric.partition("/")[0]
    factors = IN_BYTES if name.endswith("_bytes") else IN_MS if name.endswith("_ms") else {}
    if not unit:
        return 1
    if factors and unit not in factors:
        raise ValueError(f"{where}: column unit is {unit!r}, expected one of {', '.join(factors)}")
    return factors.get(unit, 1)


def _number(text: str, kind: type[float], complaint: str) -> float:
    try:
        return kind(text)
    except ValueError as error:
        raise ValueError(complaint) from error


def _positive(text: str, kind: type[float], complaint: str) -> float:
    value = _number(text, kind, complaint)
    if not 0 < value < float("inf"):
        raise ValueError(f"{complaint} above zero")
    return value


def frame(study: ResolvedStudy) -> pd.DataFrame:
    """Return the published rows of a study as a frame; empty when it names none."""
    return pd.DataFrame(study.published.rows, columns=COLUMNS)


def base_of(study: ResolvedStudy, rows: pd.DataFrame) -> str | None:
    """Return the published variant to compare with: the one named like the reference, else the first."""
    names = list(dict.fromkeys(rows["variant"]))
    return study.reference if study.reference in names else next(iter(names), None)


def ratios(study: ResolvedStudy, rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return published ratios of one metric: variant, workload, clients, ratio to the published base variant."""
    chosen = rows[rows["metric"] == metric]
    base = chosen[chosen["variant"] == base_of(study, rows)]
    pairs = chosen.merge(base, on=list(WORKLOAD_CLIENTS), suffixes=("", "_base"))
    pairs = pairs[pairs["variant"] != pairs["variant_base"]]
    return pairs.assign(ratio=pairs["value"] / pairs["value_base"])[[*CELL, "ratio"]]


def statement_seconds(rows: pd.DataFrame, workload: str, cache: str) -> dict[str, dict[str, float]]:
    """Return published variant -> statement -> seconds: the figures with a metric like `cold_s/STATEMENT`."""
    head = f"{cache}_s/"
    seconds: dict[str, dict[str, float]] = {}
    for row in rows[(rows["workload"] == workload) & rows["metric"].str.startswith(head)].itertuples():
        seconds.setdefault(row.variant, {})[row.metric.removeprefix(head)] = row.value
    return seconds


def quotient(seconds: dict[str, float], statement: str, against: str) -> float | None:
    """Return the ratio of the published seconds of two statements; none unless both were published."""
    return seconds[statement] / seconds[against] if {statement, against} <= seconds.keys() else None


@dataclass(frozen=True)
class PublishedLoad:
    """One workload of one metric: published ratios by variant, and measured ones as rows of overall.csv.

    `everywhere` is the geometric mean over all published client counts, whose number is `clients`; `here` is that over
    the `common` client counts that this study has too.
    """

    workload: str
    everywhere: dict[str, float]
    here: dict[str, float]
    clients: int
    common: int
    measured: dict[str, OverallRow]


def beside(study: ResolvedStudy, tables: dict[str, pd.DataFrame], metric: str) -> list[PublishedLoad]:
    """Return published and measured ratios of the workloads that both have, in the study's order."""
    published = ratios(study, frame(study), metric)
    rows = []
    for workload in study.workloads:
        everywhere = published[published["workload"] == workload]
        if everywhere.empty:
            continue
        parts = everywhere, everywhere[everywhere["clients"].isin(study.clients)]
        means = [part.groupby("variant", sort=False)["ratio"].agg(stats.geometric_mean).to_dict() for part in parts]
        counts = [part["clients"].nunique() for part in parts]
        measured = over_workloads(study, tables["runs"], [workload], metric)
        rows.append(PublishedLoad(workload, means[0], means[1], counts[0], counts[1], measured))
    return rows


def gaps(study: ResolvedStudy) -> list[str]:
    """Return sentences on published workloads and client counts without a counterpart here, and the other way round."""
    rows = frame(study)
    if rows.empty:
        return []
    comparable = rows[[is_known(name) for name in rows["metric"]]]
    workloads = [name for name in dict.fromkeys(comparable["workload"]) if name not in study.workloads]
    unpublished = [name for name in study.workloads if name not in set(rows["workload"])]
    clients = sorted({int(number) for number in comparable["clients"]} - set(study.clients))
    sentences = [
        f"Published workloads this study does not measure: {listing(workloads)}." if workloads else "",
        f"Workloads of this study without a published figure: {listing(unpublished)}." if unpublished else "",
        f"Published client counts this study does not measure: {listing(list(map(str, clients)))}." if clients else "",
    ]
    return [sentence for sentence in sentences if sentence]
