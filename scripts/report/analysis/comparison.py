"""Comparisons with the reference as tidy frames: runs beside their reference, cells, means over cells."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import MATTERS, ResolvedStudy
from scripts.lib.vocabulary import AA, ABOVE, BELOW, CELL, RELINKED, UNDECIDED, PairStatus, Verdict
from scripts.report.analysis.calibration import calibration_table, widening
from scripts.report.analysis.columns import Row
from scripts.report.analysis.intervals import cell_intervals, overall_intervals, reference_means
from scripts.report.analysis.metrics import SCRIPT, of_study
from scripts.report.analysis.pairing import Arms, arms_of, judged_runs
from scripts.report.analysis.repetition_pace import repetition_s
from scripts.report.analysis.spreads import Interval
from scripts.report.analysis.stats import Array
from scripts.report.analysis.table_columns import BESIDE_REFERENCE, CELLS, COMPARISONS, OVERALL
from scripts.report.analysis.table_rows import OverallRow
from scripts.report.analysis.verdicts import PRIMARY, interval_columns, with_verdicts
from scripts.report.analysis.widening import widened_for

NOT_MEASURED = "not_measured"
# Columns that count the runs that are not compared.
LOST = {"n_split": PairStatus.SPLIT, "n_incomplete": PairStatus.INCOMPLETE}


@dataclass(frozen=True)
class Terms:
    """What is compared with what: `matters` is the smallest difference of interest as a share.

    `timed` names the workloads of timed SQL, `primary` the metrics that get verdicts. All intervals are `wider` times
    as wide as those of a study whose number of blocks was fixed.
    """

    reference: str
    metrics: tuple[str, ...]
    timed: tuple[str, ...] = ()
    matters: float = MATTERS
    primary: tuple[str, ...] = PRIMARY
    wider: float = 1.0

    @property
    def margin(self) -> float:
        """The smallest difference of interest as a log ratio."""
        return float(np.log1p(self.matters))

    def fitting(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows whose metric applies to their workload: timed SQL has its own, sysbench all others."""
        chosen = table["metric"].isin(SCRIPT) == table["workload"].isin(self.timed)
        return table[chosen].reset_index(drop=True)


def terms_of(study: ResolvedStudy, metrics: Iterable[str] | None = None) -> Terms:
    """Return the terms of a study.json, for all its metrics or some of them."""
    timed = tuple(name for name, load in study.workloads.items() if load.sql)
    names = tuple(of_study(study) if metrics is None else metrics)
    wider = widened_for(bool(study.stopping), len(study.looks))
    return Terms(study.reference, names, timed, study.matters, wider=wider)


@dataclass(frozen=True)
class Comparison:
    """The runs of a study as they count, the arms of their blocks, and the tables that follow from them.

    `factors` widen the intervals of each metric.
    """

    judged: pd.DataFrame
    arms: Arms
    comparisons: pd.DataFrame
    calibration: pd.DataFrame
    factors: dict[str, float]
    cells: pd.DataFrame
    overall: pd.DataFrame


def compare(runs: pd.DataFrame, terms: Terms) -> Comparison:
    """Return the comparison of runs.csv, without relinks. Raises ValueError when the reference has no run."""
    judged = judged_runs(runs[runs["variant"] != RELINKED], terms.reference)
    return compare_judged(judged, terms, repetition_s(runs))


def compare_judged(judged: pd.DataFrame, terms: Terms, seconds: float) -> Comparison:
    """Return the comparison of the runs that count in a result of `blocks.judged_runs`.

    `seconds` is the time of one more repetition.
    """
    comparisons = terms.fitting(compare_pairs(judged, terms))
    arms = arms_of(judged, terms.reference, terms.metrics, terms.timed)
    calibration = calibration_table(arms)
    factors = widening(calibration, terms.wider)
    cells = cell_table(judged, arms, factors, terms)
    overall = overall_table(arms, cells, comparisons, factors, terms, seconds)
    return Comparison(judged, arms, comparisons, calibration, factors, cells, overall)


def without_flagged(judged: pd.DataFrame, terms: Terms) -> pd.DataFrame:
    """Return overall_unflagged.csv: overall.csv as if the runs that stand out by a warning had not been measured."""
    return compare_judged(
        judged.assign(counts=judged["counts"] & ~stands_out(judged)), terms, repetition_s(judged)
    ).overall


def compare_pairs(judged: pd.DataFrame, terms: Terms) -> pd.DataFrame:
    """Return comparisons.csv: one row per run other than the reference's and metric, beside its block's reference.

    `reference_value` is the geometric mean of the reference's runs of the block that count, A/A among them; for A/A it
    is the reference's alone. The log ratio is NaN unless the run is paired and both values are positive. `flagged` is
    True when one of these runs stands out by a warning.
    """
    pairs, warned = _Pairs(judged, terms.reference), stands_out(judged)
    runs = pairs.runs
    flagged = warned[runs.index].to_numpy() | (pairs.of_reference(warned.astype(float), "max") > 0)
    paired = (runs["status"] == PairStatus.PAIRED) & runs["counts"]
    parts = []
    for name in terms.metrics:
        values = judged[name].astype(float)
        logs = np.log(values.where(values > 0))
        reference_log = pairs.of_reference(logs, "mean")
        log_ratio = (logs[runs.index] - reference_log).where(paired)
        computed = {
            "flagged": flagged,
            "metric": name,
            "value": values[runs.index],
            "reference_value": np.exp(reference_log),
            "n_reference": np.nan_to_num(pairs.of_reference(logs, "count")).astype(int),
            "log_ratio": log_ratio,
            "ratio": np.exp(log_ratio),
        }
        parts.append(runs[[*CELL, "repetition", "block", "status", "note"]].assign(**computed))
    return pd.concat(parts, ignore_index=True)[COMPARISONS.names]


class _Pairs:
    """The runs other than the reference's, and what the reference's runs of their blocks have."""

    def __init__(self, judged: pd.DataFrame, reference: str) -> None:
        self.runs = judged[judged["variant"] != reference]
        arms = judged[judged["variant"].isin([reference, AA]) & judged["counts"]]
        self._alone, self._both = arms[arms["variant"] == reference], arms

    def of_reference(self, values: pd.Series, how: str) -> Array:
        """Return an aggregate of the reference's runs of each run's block, for A/A of the reference's alone."""
        alone, both = (
            values[arms.index].groupby(arms["block"]).agg(how).reindex(self.runs["block"])
            for arms in (self._alone, self._both)
        )
        return np.asarray(np.where(self.runs["variant"] == AA, alone, both))


def stands_out(judged: pd.DataFrame) -> pd.Series:
    """Return for each run whether it has a warning that not every ok run has."""
    codes = judged["warning_codes"].astype(object).fillna("").map(warning_set)
    ok = codes[judged["outcome"] == "ok"]
    common = set.intersection(*ok) if len(ok) else set()
    return codes.map(lambda of_run: bool(of_run - common)).astype(bool)


def warning_set(codes: str) -> set[str]:
    """Return the codes in a field of `warning_codes`, except that something could not be measured."""
    return {code for code in codes.split(";") if code and code != NOT_MEASURED}


def cell_table(judged: pd.DataFrame, arms: Arms, factors: dict[str, float], terms: Terms) -> pd.DataFrame:
    """Return cells.csv: one row per variant (the reference too), workload, clients and metric.

    `value` and `reference_value` are geometric means over the blocks compared, so that their quotient is `ratio`; a
    `value` without a ratio is that over the ok runs. `factors` widen the intervals of each metric. Holm's adjustment
    runs over all variants and cells of a metric without A/A, which gets no verdict.
    """
    rows = [row for metric in arms.metrics for row in _cell_rows(arms, metric, factors[metric], terms.matters)]
    computed = [column.name for column in BESIDE_REFERENCE if column.name not in LOST]
    values = terms.fitting(_values(judged, arms.metrics))
    others = (values["variant"] != terms.reference).to_numpy()
    compared = pd.DataFrame(rows, columns=[*CELL, "metric", "reference_value", "compared_value", *computed])
    table = values.merge(compared, on=[*CELL, "metric"], how="left").merge(_lost(judged), on=list(CELL), how="left")
    table["value"] = table["compared_value"].fillna(table["value"])
    for count in ("n_blocks", *LOST):
        table[count] = table[count].where(others)
    tested = others & (table["variant"] != AA).to_numpy()
    return with_verdicts(table, tested, "n_blocks", terms.primary).reindex(columns=CELLS.names)


def _cell_rows(arms: Arms, metric: str, factor: float, matters: float) -> Iterator[Row]:
    cells, y, _ = arms.of(metric)
    contrasts = arms.contrasts(metric)
    references = np.transpose(reference_means(y, contrasts))
    for (workload, clients), intervals, means in zip(cells, cell_intervals(y, contrasts), references, strict=True):
        for variant, interval, reference in zip(arms.compared, intervals, means, strict=True):
            yield {
                "variant": variant,
                "workload": workload,
                "clients": clients,
                "metric": metric,
                "n_blocks": int(interval.blocks),
                "reference_value": np.exp(reference),
                "compared_value": float(np.exp(reference + interval.mean)),
                **interval_columns(interval.widened(factor), matters),
            }


def _lost(judged: pd.DataFrame) -> pd.DataFrame:
    lost = {name: judged["status"] == status for name, status in LOST.items()}
    return judged[list(CELL)].assign(**lost).groupby(list(CELL), sort=False).sum().reset_index()


def _values(runs: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    measured = runs[runs["outcome"] == "ok"]
    size = runs.groupby(list(CELL), sort=False).size().rename("n_runs").to_frame()
    size["n_ok"] = measured.groupby(list(CELL)).size().reindex(size.index, fill_value=0)
    long = measured.melt(id_vars=list(CELL), value_vars=list(names), var_name="metric")
    with np.errstate(divide="ignore"):
        logs = np.log(long["value"].astype(float))
    value = np.exp(logs.groupby([long[name] for name in (*CELL, "metric")]).mean())
    planned = size.reset_index().merge(pd.DataFrame({"metric": list(names)}), how="cross")
    return planned.merge(value.rename("value").reset_index(), on=[*CELL, "metric"], how="left")


def overall_table(
    arms: Arms, cells: pd.DataFrame, comparisons: pd.DataFrame, factors: dict[str, float], terms: Terms, seconds: float
) -> pd.DataFrame:
    """Return overall.csv: geometric mean over cells per variant and metric, with its interval.

    `seconds` is the time of one more repetition. `n_flagged` of the `n_pairs` pairs have a run that stands out.
    Holm's adjustment runs over the variants of a metric, without A/A.
    """
    used = comparisons["flagged"].astype(bool) & comparisons["log_ratio"].notna()
    flagged = used.groupby([comparisons["variant"], comparisons["metric"]]).sum()
    by_variant = dict(iter(cells.groupby(["variant", "metric"], sort=False)))
    rows = []
    for metric in arms.metrics:
        contrasts = arms.contrasts(metric)
        intervals = overall_intervals(arms.of(metric)[1], contrasts)
        for variant, contrast, interval in zip(arms.compared, contrasts, intervals, strict=True):
            if (of_variant := by_variant.get((variant, metric))) is None:
                continue
            mean = mean_over_cells(contrast.values, interval.widened(factors[metric]), arms)
            row = {"variant": variant, "metric": metric, **mean.columns(terms.matters), **end_columns(of_variant)}
            row |= {**_counts(of_variant), **mean.settling(terms.margin, seconds), "n_cells_planned": len(of_variant)}
            rows.append({**row, "n_flagged": int(flagged[variant, metric])})
    order = {name: rank for rank, name in enumerate(dict.fromkeys(cells["variant"]))}
    table = pd.DataFrame(rows, columns=None if rows else OVERALL.names)
    table = table.sort_values("variant", key=lambda names: names.map(order), kind="stable", ignore_index=True)
    tested = (table["variant"] != AA).to_numpy()
    return with_verdicts(table, tested, "n_blocks_least", terms.primary).reindex(columns=OVERALL.names)


@dataclass(frozen=True)
class CellMean:
    """A mean over cells with its interval; cells without a value are left out and counted.

    `n_repetitions` counts the repetitions in which every remaining cell has its value; `n_blocks_least` is the number
    of values of the cell with the fewest.
    """

    interval: Interval
    n_cells: int
    n_cells_planned: int
    n_repetitions: int
    n_blocks_least: int
    n_pairs: int

    def columns(self, matters: float) -> Row:
        """Return the columns of the mean; `matters` is a share."""
        counts = {name: value for name, value in vars(self).items() if name != "interval"}
        detectable = float(np.exp(self.interval.detectable()))
        return {**interval_columns(self.interval, matters), "detectable_ratio": detectable, **counts}

    def settling(self, margin: float, seconds: float) -> Row:
        """Return the repetitions in all that make the half width `margin`, and the minutes of those still to measure.

        `seconds` is the time of one repetition.
        """
        half = float(np.log(np.exp(self.interval.high) / np.exp(self.interval.low)) / 2)
        if not np.isfinite(half):
            return {}
        needed = max(self.n_blocks_least, int(np.ceil(self.n_blocks_least * (half / margin) ** 2 - 1e-9)))
        return {"settling_repetitions": needed, "settling_min": (needed - self.n_blocks_least) * seconds / 60}


def mean_over_cells(values: Array, interval: Interval, arms: Arms) -> CellMean:
    """Return the mean of `values`, of shape (cells, blocks or repetitions), with its interval."""
    measured = ~np.isnan(values)
    present = measured[measured.any(axis=1)]
    numbers = arms.repetitions if present.shape[1:] == arms.repetitions.shape else np.unique(arms.repetitions)
    complete = [present[:, numbers == number].any(axis=1).all() for number in np.unique(numbers)]
    return CellMean(
        interval,
        n_cells=len(present),
        n_cells_planned=len(values),
        n_repetitions=int(sum(complete)) if len(present) else 0,
        n_blocks_least=int(present.sum(axis=1).min()) if len(present) else 0,
        n_pairs=int(present.sum()),
    )


def end_columns(cells: pd.DataFrame) -> Row:
    """Return the columns of the cells with the lowest and the highest ratio, from rows of cells.csv of one variant."""
    present = cells[cells["n_blocks"] > 0].reset_index(drop=True)
    if present.empty:
        return {}
    ends = {"lowest": present.loc[present["log_ratio"].idxmin()], "highest": present.loc[present["log_ratio"].idxmax()]}
    return {f"{end}_{key}": cell[key] for end, cell in ends.items() for key in ("ratio", "workload", "clients")}


def _counts(cells: pd.DataFrame) -> Row:
    counted = cells["verdict"].value_counts()
    groups = {"above": ABOVE, "below": BELOW, "same": (Verdict.SAME,), "open": (Verdict.OPEN,), "undecided": UNDECIDED}
    return {f"n_{name}": sum(int(counted.get(verdict, 0)) for verdict in several) for name, several in groups.items()}


def over_workloads(
    study: ResolvedStudy, runs: pd.DataFrame, workloads: Sequence[str], metric: str
) -> dict[str, OverallRow]:
    """Return the rows that overall.csv would have over these workloads alone, by variant, for one metric."""
    chosen = runs[runs["workload"].isin(workloads)]
    terms = terms_of(study, [metric])
    if not (chosen["variant"] == terms.reference).any():
        return {}
    rows = {row.variant: row for row in compare(chosen, terms).overall.itertuples()}
    return {variant: row for variant, row in rows.items() if row.n_cells_planned}
