"""Comparisons with the reference as tidy frames: pairs of runs, cells, noise floor, means over cells."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import stats
from scripts.analysis.metrics import METRICS
from scripts.analysis.tables import CELLS, COMPARISONS, NOISE, OVERALL
from scripts.vocabulary import AA, BLOCK, CELL, UNDECIDED, WORKLOAD_CLIENTS, PairStatus, Verdict

NOT_MEASURED = "not_measured"
SAME_HOST_COLUMNS = {
    "machine_id": "host", "boot_id": "boot of the host", "generator_boot_id": "boot of the client host",
    "sysbench_sha256": "sysbench program",
}  # fmt: skip


def pair_runs(runs: pd.DataFrame, reference: str, block_span_s: float | None) -> pd.DataFrame:
    """Return one row per run of a variant other than the reference, with the reference's run of the same block.

    `status` is paired; split, when the two runs differ in host, boot or sysbench program or span more than
    `block_span_s` from the first start to the last end; or incomplete, when one of them is not ok. `note` says why.
    Raises ValueError when the reference has no run.
    """
    ours = runs[runs["variant"] != reference]
    theirs = runs[runs["variant"] == reference]
    if theirs.empty:
        raise ValueError(f"reference {reference!r} has no run; found {', '.join(sorted(set(runs['variant'])))}")
    pairs = ours.merge(theirs, on=list(BLOCK), how="left", suffixes=("", "_reference"))
    span_s = pairs[["ended_at", "ended_at_reference"]].max(axis=1) - pairs[["started_at", "started_at_reference"]].min(
        axis=1
    )
    doubts = [
        (pairs["outcome_reference"] != "ok", PairStatus.INCOMPLETE, _failure(pairs, "_reference")),
        (pairs["outcome"] != "ok", PairStatus.INCOMPLETE, _failure(pairs, "")),
        *(
            (pairs[key] != pairs[f"{key}_reference"], PairStatus.SPLIT, f"another {what}")
            for key, what in SAME_HOST_COLUMNS.items()
        ),
        (~(span_s <= (block_span_s or np.inf)), PairStatus.SPLIT, _span_text(span_s, block_span_s)),
    ]
    conditions = [condition.to_numpy(dtype=bool) for condition, _, _ in doubts]
    status_and_note = {
        "status": np.select(conditions, [str(status) for _, status, _ in doubts], str(PairStatus.PAIRED)),
        "note": np.select(conditions, [_texts(text, len(pairs)) for _, _, text in doubts], ""),
    }
    return pd.concat([pairs, pd.DataFrame(status_and_note, index=pairs.index)], axis=1)


def _texts(text: str | pd.Series, length: int) -> np.ndarray:
    return np.full(length, text, dtype=object) if isinstance(text, str) else text.to_numpy(dtype=object)


def _failure(pairs: pd.DataFrame, side: str) -> pd.Series:
    who = pairs[f"variant{side}"].astype(object).fillna("the reference").astype(str)
    return who + ": " + pairs[f"reason{side}"].astype(object).fillna("no run").astype(str)


def _span_text(span_s: pd.Series, allowed_s: float | None) -> pd.Series:
    return span_s.map(lambda seconds: f"the two runs span {seconds:.0f} s, allowed are {allowed_s or 0:.0f} s")


def compare_pairs(pairs: pd.DataFrame, names: Iterable[str] = tuple(METRICS)) -> pd.DataFrame:
    """Return comparisons.csv: one row per pair and metric of `names`, both values and log(value / reference value).

    The log ratio is NaN unless the pair's status is paired and both values are positive. `flagged` is True when one
    of the two runs has a warning that some run does not have.
    """
    keys = [*CELL, "repetition", "status", "note"]
    flagged = _stands_out(pairs)
    parts = [
        pairs[keys].assign(
            flagged=flagged,
            metric=name,
            value=pairs[name].astype(float),
            reference_value=pairs[f"{name}_reference"].astype(float),
        )
        for name in names
    ]
    table = pd.concat(parts, ignore_index=True)
    usable = (table["status"] == PairStatus.PAIRED) & (table["value"] > 0) & (table["reference_value"] > 0)
    quotient = table["value"] / table["reference_value"].where(usable)
    table["log_ratio"] = np.log(quotient.where(usable))
    table["ratio"] = quotient.where(usable)
    return table[COMPARISONS.names]


def _stands_out(pairs: pd.DataFrame) -> list[bool]:
    sides = [
        pairs[name].astype(object).fillna("").map(warning_set) for name in ("warning_codes", "warning_codes_reference")
    ]
    ok = [side[pairs[name] == "ok"] for side, name in zip(sides, ("outcome", "outcome_reference"), strict=True)]
    every = set.intersection(*ok[0], *ok[1]) if len(ok[0]) and len(ok[1]) else set()
    return [bool((ours | theirs) - every) for ours, theirs in zip(*sides, strict=True)]


def warning_set(codes: str) -> set[str]:
    """Return the codes in a field of `warning_codes`, except that something could not be measured."""
    return {code for code in codes.split(";") if code and code != NOT_MEASURED}


def noise_floors(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return noise.csv: the noise floor of every metric, as `stats.noise_floor` defines it."""
    same = comparisons[comparisons["variant"] == AA].dropna(subset="log_ratio")
    by_metric = dict(iter(same.groupby("metric")))
    rows = []
    for name in dict.fromkeys(comparisons["metric"]):
        found = by_metric.get(name, same[:0])
        cells = [group.to_numpy() for _, group in found.groupby(list(WORKLOAD_CLIENTS))["log_ratio"]]
        floor, from_blocks, from_cells = stats.noise_floor(cells)
        rows.append(
            {
                "metric": name,
                "floor_log_ratio": floor,
                "floor_from_blocks": from_blocks,
                "floor_from_cells": from_cells,
                "n_cells": len(cells),
                "n_blocks": len(found),
            }
        )
    return pd.DataFrame(rows, columns=NOISE.names)


def verdict_on(log_ratio: float, blocks: int, p_holm: float, floor: float) -> Verdict:
    """Return the verdict on one mean log ratio.

    A difference is shown with 5 blocks, a Holm-adjusted p under 0.05, and a |log ratio| above the noise floor.
    """
    if blocks < stats.MIN_BLOCKS:
        return Verdict.TOO_FEW_BLOCKS
    if np.isnan(floor):
        return Verdict.NO_NOISE_FLOOR
    if not p_holm < stats.ALPHA or not abs(log_ratio) > floor:
        return Verdict.NO_DIFFERENCE
    return Verdict.ABOVE if log_ratio > 0 else Verdict.BELOW


def cells(runs: pd.DataFrame, comparisons: pd.DataFrame, floors: pd.DataFrame) -> pd.DataFrame:
    """Return cells.csv: one row per variant (the reference too), workload, clients and metric.

    `value` is the geometric mean over the ok runs, so that the ratio is the quotient of two values if no block is lost.
    """
    values = _values(runs, list(floors["metric"]))
    return judged(values.merge(compared(comparisons), on=[*CELL, "metric"], how="left"), floors)[CELLS.names]


def judged(table: pd.DataFrame, floors: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `compared` with `p_holm`, the floor and the verdict.

    Holm's adjustment runs over all variants and cells of one metric, without A/A, which gets no verdict. In at most
    5 % of studies without any difference a metric shows one, in simulations in 3 %; each metric is adjusted separately.
    """
    to_judge = table["n_blocks"].notna() & (table["variant"] != AA)
    table = table.assign(p_holm=table["p_t"].where(to_judge).groupby(table["metric"]).transform(stats.holm))
    table = table.merge(floors[["metric", "floor_log_ratio"]], on="metric", how="left")
    verdicts = [
        verdict_on(row.log_ratio, row.n_blocks, row.p_holm, row.floor_log_ratio) if judge else None
        for row, judge in zip(table.itertuples(), to_judge, strict=True)
    ]
    return table.assign(verdict=verdicts)


def _values(runs: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    measured = runs[runs["outcome"] == "ok"]
    size = runs.groupby(list(CELL), sort=False).size().rename("n_runs").to_frame()
    size["n_ok"] = measured.groupby(list(CELL)).size().reindex(size.index, fill_value=0)
    long = measured.melt(id_vars=list(CELL), value_vars=names, var_name="metric")
    with np.errstate(divide="ignore"):
        logs = np.log(long["value"].astype(float))
    value = np.exp(logs.groupby([long[name] for name in (*CELL, "metric")]).mean())
    every = size.reset_index().merge(pd.DataFrame({"metric": names}), how="cross")
    return every.merge(value.rename("value").reset_index(), on=[*CELL, "metric"], how="left")


def compared(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return counts of blocks, ratio, interval and p per variant other than the reference, workload, clients, metric.

    The interval is `stats.t_interval` of the log ratios of the cell's blocks, turned back into ratios.
    """
    keys = [*CELL, "metric"]
    lost = {f"n_{status}": comparisons["status"] == status for status in (PairStatus.SPLIT, PairStatus.INCOMPLETE)}
    counts = comparisons[keys].assign(**lost).groupby(keys, sort=False).sum()
    wide = comparisons.pivot(index=keys, columns="repetition", values="log_ratio").reindex(counts.index)
    values = wide.to_numpy(dtype=float)
    mean, low, high = stats.t_interval(values)
    found = {
        "n_blocks": wide.notna().sum(axis=1),
        **counts,
        "log_ratio": mean,
        "ratio": stats.ratio(mean),
        "ratio_low": stats.ratio(low),
        "ratio_high": stats.ratio(high),
        "p_t": stats.paired_t_p(values),
        "p_sign_flip": [stats.sign_flip_p(row) for row in values],
    }
    return pd.DataFrame(found, index=counts.index).reset_index()


def overall_table(cells: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return overall.csv: geometric mean over cells per variant and metric, with its interval.

    Ratio and counts are those of `means_over_cells`; `n_flagged` of the `n_pairs` pairs have a run that stands out by
    a warning.
    """
    groups = cells[cells["n_blocks"].notna()].groupby(["variant", "metric"], sort=False)
    used = comparisons["flagged"].astype(bool) & comparisons["log_ratio"].notna()
    flagged = used.groupby([comparisons["variant"], comparisons["metric"]]).sum()
    wide = comparisons.pivot(index=["variant", "metric", *WORKLOAD_CLIENTS], columns="repetition", values="log_ratio")
    blocks = dict(iter(wide.groupby(level=[0, 1])))
    rows = [
        {"variant": key[0], "metric": key[1], **_row(group, blocks[key]), "n_flagged": int(flagged[key])}
        for key, group in groups
    ]
    table = with_verdicts(pd.DataFrame(rows), [row["variant"] != AA for row in rows])
    return table.reindex(columns=OVERALL.names)


def with_verdicts(table: pd.DataFrame, tested: list[bool]) -> pd.DataFrame:
    """Add p_holm, adjusted over the tested rows of a metric, and their verdicts to rows of `means_over_cells`."""
    if table.empty:
        return table
    p_holm = table["p_t"].where(np.array(tested)).groupby(table["metric"]).transform(stats.holm)
    rows = table.assign(p_holm=p_holm).to_dict("records")
    verdicts = [overall_verdict(row) if test else None for row, test in zip(rows, tested, strict=True)]
    return table.assign(p_holm=p_holm, verdict=pd.Series(verdicts, index=table.index, dtype=object))


def by_repetition(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the log ratios of one variant and metric: one row per cell, one column per repetition."""
    return pairs.pivot(index=list(WORKLOAD_CLIENTS), columns="repetition", values="log_ratio")


def means_over_cells(wide: pd.DataFrame) -> dict[str, Any]:
    """Return the geometric mean over the cells of `by_repetition` with the interval of `stats.mean_over_cells`.

    Cells without a pair are left out and counted. `n_repetitions` counts the repetitions in which every remaining cell
    has its pair; `n_blocks_least` is the number of pairs of the cell with the fewest.
    """
    there = wide.notna().to_numpy()
    present = there.any(axis=1)
    left, values = there[present], wide.to_numpy(dtype=float)[present]
    mean, low, high = stats.mean_over_cells(values)
    return {
        "log_ratio": mean,
        "ratio": float(stats.ratio(mean)),
        "ratio_low": float(stats.ratio(low)),
        "ratio_high": float(stats.ratio(high)),
        "n_cells": len(left),
        "n_cells_planned": len(wide),
        "n_repetitions": int(left.all(axis=0).sum()) if len(left) else 0,
        "n_blocks_least": int(left.sum(axis=1).min()) if len(left) else 0,
        "n_pairs": int(left.sum()),
        "p_t": stats.mean_over_cells_p(values),
    }


def _row(cells: pd.DataFrame, wide: pd.DataFrame) -> dict[str, Any]:
    row = {**means_over_cells(wide), "floor_log_ratio": float(cells["floor_log_ratio"].iloc[0])}
    return {**row, **_range(cells[cells["n_blocks"] > 0]), **_counts(cells)}


def _range(present: pd.DataFrame) -> dict[str, Any]:
    if present.empty:
        return {}
    ends = {"lowest": present.loc[present["log_ratio"].idxmin()], "highest": present.loc[present["log_ratio"].idxmax()]}
    return {f"{end}_{key}": cell[key] for end, cell in ends.items() for key in ("ratio", "workload", "clients")}


def _counts(cells: pd.DataFrame) -> dict[str, int]:
    counted = cells["verdict"].value_counts()
    shown = (Verdict.ABOVE, Verdict.BELOW, Verdict.NO_DIFFERENCE)
    undecided = sum(int(counted.get(verdict, 0)) for verdict in UNDECIDED)
    return {f"n_{verdict}": int(counted.get(verdict, 0)) for verdict in shown} | {"n_undecided": undecided}


def overall_verdict(row: Mapping[str, Any]) -> Verdict:
    """Return the verdict on a mean over cells by the conditions of `verdict_on`; every cell needs 5 blocks.

    The floor is that of the mean of a single cell, which is stricter than the mean over cells needs.
    """
    return verdict_on(row["log_ratio"], row["n_blocks_least"], row["p_holm"], row["floor_log_ratio"])


def without_flagged(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return overall_unflagged.csv: what overall.csv would be if the flagged pairs had not been measured.

    Noise floor, Holm's adjustment and verdicts are computed from the remaining pairs; `n_pairs` counts them.
    """
    kept = comparisons.assign(log_ratio=comparisons["log_ratio"].where(~comparisons["flagged"].astype(bool)))
    return overall_table(judged(compared(kept), noise_floors(kept)), kept)


def over_workloads(tables: dict[str, pd.DataFrame], workloads: list[str], metric: str) -> dict[str, Any]:
    """Return the rows that overall.csv would have over these workloads alone, by variant, for one metric."""
    parts = [
        table[table["workload"].isin(workloads) & (table["metric"] == metric)]
        for table in (tables["cells"], tables["comparisons"])
    ]
    if parts[0]["n_blocks"].notna().sum() == 0:
        return {}
    return {row.variant: row for row in overall_table(*parts).itertuples()}
