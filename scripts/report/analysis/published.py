"""Published figures: the tidy file that holds them, and their ratios beside the measured ones."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CELL, WORKLOAD_CLIENTS
from scripts.lib.wording import listing
from scripts.report.analysis import stats
from scripts.report.analysis.comparison import over_workloads
from scripts.report.analysis.metrics import MEASURED

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


def read(path: Path) -> dict[str, Any]:
    """Return {"source": text, "rows": [{metric, variant, workload, clients, value}]} of a CSV file.

    The file begins with lines `# source: ...`, then the header. Values are in the units of the metrics of the same name
    in `metrics`, or in those of a last column `unit`. There, a quantity that no metric measures is
    named freely; its row keeps its value as printed, and its unit. A file of findings gives {"source": text, "rows":
    [], "findings": [{variant, workload, clients, finding}]} instead: statements without figures. Raises ValueError
    naming file, line, column, value and what was expected.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    begin = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    source = " ".join(line.removeprefix(SOURCE).strip() for line in lines[:begin] if line.startswith(SOURCE))
    if not source:
        raise ValueError(f"{path}: line 1: expected `{SOURCE} where the figures come from`")
    head = lines[begin].split(",") if begin < len(lines) else []
    if head == FINDINGS:
        return {"source": source, "rows": [], "findings": _findings(lines, begin, path)}
    if head not in (COLUMNS, WITH_UNITS):
        found = lines[begin] if begin < len(lines) else "nothing"
        raise ValueError(f"{path}: line {begin + 1}: columns are {found!r}, expected {','.join(COLUMNS)!r}")
    numbered = enumerate(csv.reader(lines[begin + 1 :]), start=begin + 2)
    rows = [_row(fields, head, f"{path}: line {number}") for number, fields in numbered if fields]
    if not rows:
        raise ValueError(f"{path}: line {begin + 2}: no figure; expected one a line")
    return {"source": source, "rows": rows}


def _findings(lines: list[str], begin: int, path: Path) -> list[dict[str, str]]:
    found = []
    for number, fields in enumerate(csv.reader(lines[begin + 1 :]), start=begin + 2):
        if len(fields) != len(FINDINGS) or not all(field.strip() for field in fields):
            wanted = ",".join(FINDINGS)
            raise ValueError(f"{path}: line {number}: expected {len(FINDINGS)} fields, none empty: {wanted}")
        found.append(dict(zip(FINDINGS, map(str.strip, fields), strict=True)))
    return found


def _row(fields: list[str], columns: list[str], where: str) -> dict[str, Any]:
    if len(fields) != len(columns):
        raise ValueError(f"{where}: {len(fields)} fields, expected {len(columns)}: {', '.join(columns)}")
    row: dict[str, Any] = dict(zip(columns, (field.strip() for field in fields), strict=True))
    for column in COLUMNS[:3]:
        if not row[column]:
            raise ValueError(f"{where}: column {column} is empty, expected a name")
    unit = row.pop("unit", None)
    if unit is not None and not is_known(row["metric"]):
        return {**row, "clients": _clients(row, where), "value": _number(row["value"], where), "unit": unit}
    complaint = f"{where}: column value is {row['value']!r}, expected a number"
    value = _positive(row["value"], float, complaint) * _factor(row["metric"], unit, where)
    return {**row, "clients": _clients(row, where), "value": value}


def is_known(metric: str) -> bool:
    """Return whether a published quantity has the name and the unit of one of ours."""
    return metric.partition("/")[0] in (*MEASURED, *SIZES, *OF_STORAGE)


def _clients(row: dict[str, Any], where: str) -> int:
    text = f"{where}: column clients is {row['clients']!r}, expected a whole number"
    return int(_positive(row["clients"], int, text))


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"{where}: column value is {text!r}, expected a number") from error


def _factor(metric: str, unit: str | None, where: str) -> float:
    """Return what a value in `unit` is multiplied by to have the unit of a metric."""
    name = metric.partition("/")[0]
    known = IN_BYTES if name.endswith("_bytes") else IN_MS if name.endswith("_ms") else {}
    if not unit:
        return 1
    if known and unit not in known:
        raise ValueError(f"{where}: column unit is {unit!r}, expected one of {', '.join(known)}")
    return known.get(unit, 1)


def _positive(text: str, kind: type, complaint: str) -> float:
    try:
        value: float = kind(text)
    except ValueError as error:
        raise ValueError(complaint) from error
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
    found: dict[str, dict[str, float]] = {}
    for row in rows[(rows["workload"] == workload) & rows["metric"].str.startswith(head)].itertuples():
        found.setdefault(row.variant, {})[row.metric.removeprefix(head)] = row.value
    return found


def quotient(seconds: dict[str, float], statement: str, against: str) -> float | None:
    """Return the ratio of the published seconds of two statements; none unless both were published."""
    return seconds[statement] / seconds[against] if {statement, against} <= seconds.keys() else None


@dataclass(frozen=True)
class PublishedLoad:
    """One workload of one metric: published ratios by variant, ours as rows of overall.csv by variant.

    `everywhere` is the geometric mean over all published client counts, whose number is `clients`; `here` is that over
    the `common` client counts that this study has too.
    """

    workload: str
    everywhere: dict[str, float]
    here: dict[str, float]
    clients: int
    common: int
    ours: dict[str, Any]


def beside(study: ResolvedStudy, tables: dict[str, pd.DataFrame], metric: str) -> list[PublishedLoad]:
    """Return published and measured ratios of the workloads that both have, in the study's order."""
    published = ratios(study, frame(study), metric)
    rows = []
    for workload in study.workloads:
        there = published[published["workload"] == workload]
        if there.empty:
            continue
        both = there[there["clients"].isin(study.clients)]
        means = [part.groupby("variant", sort=False)["ratio"].agg(stats.geometric_mean) for part in (there, both)]
        counts = [part["clients"].nunique() for part in (there, both)]
        ours = over_workloads(study, tables["runs"], [workload], metric)
        rows.append(PublishedLoad(workload, means[0].to_dict(), means[1].to_dict(), counts[0], counts[1], ours))
    return rows


def gaps(study: ResolvedStudy) -> list[str]:
    """Return sentences on published workloads and client counts without a counterpart here, and the other way round."""
    rows = frame(study)
    if rows.empty:
        return []
    known = rows[[is_known(name) for name in rows["metric"]]]
    workloads = [name for name in dict.fromkeys(known["workload"]) if name not in study.workloads]
    own = [name for name in study.workloads if name not in set(rows["workload"])]
    clients = sorted({int(number) for number in known["clients"]} - set(study.clients))
    sentences = [
        f"Published workloads this study does not measure: {listing(workloads)}." if workloads else "",
        f"Workloads of this study without a published figure: {listing(own)}." if own else "",
        f"Published client counts this study does not measure: {listing(list(map(str, clients)))}." if clients else "",
    ]
    return [sentence for sentence in sentences if sentence]
