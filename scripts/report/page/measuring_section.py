"""How the runs were measured: method, order, overlaps, starts through all client counts, time beside measuring."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from scripts.lib.json_record import canonical
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import NEVER, SLICES, STATEMENTS, Decision
from scripts.lib.wording import duration, listing, missing, number, percent, plural, share
from scripts.measure.engine.disk_load import BOUND_BY_A_DISK, limit_text
from scripts.measure.engine.run_record import WAITING
from scripts.report.analysis.run_columns import PHASE_NAMES, block_name
from scripts.report.analysis.table_rows import RunRow
from scripts.report.analysis.widening import STOPPING, widened_for
from scripts.report.page.finding import Finding, Topic
from scripts.report.page.slices_section import by_method, disk_lines, disturbed_lines, position_lines, side_by_side

METHOD = Topic("method", "Measuring")
ORDER = Topic(
    "order", "Order", "A drift of the machine can look like an effect. A new campaign measures in the drawn order."
)
ALONE = Topic(
    "alone",
    "Own runs apart",
    "Runs that overlap slow each other down. Measure them again while nothing else is running.",
)
OWN_COST = Topic("workflow_cost", "Cost of the workflow")
RUN_TIME = Topic("run_time", "Time of a run")

PAUSE_S = 60
FEWEST_PAIRS = 8


def run_name(row: RunRow) -> str:
    """Return the name of a run: variant, workload, clients, repetition."""
    return f"{row.variant}, {row.workload}, {plural(int(row.clients), 'client')}, repetition {int(row.repetition)}"


def planned_orders(study: ResolvedStudy) -> dict[str, list[str]]:
    """Return block -> its variants in the order in which they are to be measured."""
    order = study.order
    names = study.blocks or [block_name(None, *block[:3]) for block in order]
    return {name: list(block.arms) for name, block in zip(names, order, strict=True)}


def spans(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with times by start; of runs measured side by side one row per block, with its whole span."""
    timed = runs.dropna(subset=["started_at", "ended_at"])
    together = side_by_side(timed)
    groups = timed[together].groupby("block", sort=False)
    blocks = timed[together].assign(
        started_at=groups["started_at"].transform("min"), ended_at=groups["ended_at"].transform("max")
    )
    joined = pd.concat([timed[~together], blocks.drop_duplicates("block") if len(blocks) else blocks])
    return joined.sort_values("started_at")


def method_text(runs: pd.DataFrame) -> str:
    """Return how the runs were measured, for one method, or for each with its number of blocks."""
    ok = runs[runs["outcome"] == "ok"]
    together, by_statement, apart = ok[by_method(ok, SLICES)], ok[by_method(ok, STATEMENTS)], ok[~side_by_side(ok)]
    parts = []
    if len(together):
        slices = f"in {_range(together['rounds'], '.0f')} slices of {_range(together['slice_s'], '.3g')} s per variant"
        parts.append((f"side by side, {slices}", together))
    if len(by_statement):
        parts.append(("side by side, each statement sent to one after the other", by_statement))
    if len(apart):
        parts.append((f"one after the other{_reasons(apart)}", apart))
    if len(parts) < 2:
        return f"In each block the variants were measured {parts[0][0]}." if parts else ""
    clauses = [f"{plural(rows['block'].nunique(), 'block')} {text}" for text, rows in parts]
    return f"{'; '.join(clauses)}."


def stopping_text(study: ResolvedStudy) -> str:
    """Return why a study with a `precision` stopped measuring; empty for one whose number of blocks was fixed."""
    if not (facts := study.stopping):
        return ""
    number, most = study.repetitions, facts.most_repetitions
    reached = "" if missing(facts.half_width) else f" (±{percent(facts.half_width)})"
    goal = f"±{share(facts.precision)}"
    match facts.decision:
        case Decision.ENOUGH:
            why = f"the widest interval{reached} was within the {goal} asked for"
        case Decision.TIME_IS_UP:
            why = f"the {duration(facts.at_most_s)} for blocks were used, the widest interval{reached} was over {goal}"
        case _:
            why = f"All {most} repetitions were measured without the widest interval within {goal} before the last."
            return f"{why} {_wider_text()}"
    return f"Measuring stopped after {number} of at most {most} repetitions: {why}. {_wider_text()}"


def _wider_text() -> str:
    why = "since one that is narrow by chance ends the measuring"
    return f"All intervals are {share(STOPPING - 1)} wider than those of a fixed number of repetitions, {why}."


def looks_text(study: ResolvedStudy) -> str:
    """Return how often these blocks were reported before, and what that costs; empty for the first report."""
    if not (looks := study.looks):
        return ""
    wider = widened_for(stops=False, looks=len(looks)) - 1
    return (
        f"The same blocks were reported before with {listing(list(map(str, looks)))} repetitions. Who measures on "
        "until a report pleases finds differences that are not there, so all intervals are "
        f"{share(round(wider, 3))} wider."
    )


def _range(values: pd.Series, form: str) -> str:
    ends = dict.fromkeys(format(edge, form) for edge in (values.min(), values.max()))
    return " to ".join(ends)


def _reasons(runs: pd.DataFrame) -> str:
    """Return why runs were not measured side by side, where it is recorded; limits of a disk in one clause."""
    explained = runs.dropna(subset="why") if "why" in runs else runs[:0]
    by_disk = explained["turned_by"].notna() if "turned_by" in explained else pd.Series(False, explained.index)
    texts = list(explained.loc[~by_disk, "why"].unique()) if len(explained) else []
    codes = list(explained.loc[by_disk, "turned_by"].unique()) if by_disk.any() else []
    texts += [BOUND_BY_A_DISK + " or ".join(map(limit_text, codes))] if codes else []
    return f" ({'; '.join(texts)})" if texts else ""


def method_finding(study: ResolvedStudy, runs: pd.DataFrame) -> Finding:
    """Report how the runs were measured, loads bound by a disk, disturbed slices, ratios by position in the slice."""
    slices = (*disk_lines(runs), *disturbed_lines(runs), *position_lines(runs, study.reference))
    more = (*ladder_lines(study, runs), *slices)
    return METHOD.plain(method_text(runs) or "No run has a measurement.", more)


def run_order(study: ResolvedStudy, runs: pd.DataFrame) -> Finding:
    """Compare the order in which each block's runs began with the order drawn from the seed."""
    in_turns = runs[~side_by_side(runs)]
    began = in_turns.dropna(subset="started_at").sort_values("started_at")
    actual = {key: list(group["variant"]) for key, group in began.groupby("block")}
    planned = planned_orders(study)
    if not actual and len(runs.dropna(subset="started_at")):
        return ORDER.plain("The variants of a block took turns in a balanced order, drawn anew for each block.")
    in_order = sum([name for name in planned.get(key, []) if name in ran] == ran for key, ran in actual.items())
    text = f"{in_order} of {plural(len(actual), 'block')} ran in the order drawn from seed {study.seed}"
    return ORDER.judged(in_order == len(actual), f"{text}{_first_text(actual)}.")


def _first_text(orders: dict[str, list[str]]) -> str:
    """Return how often each variant was the first of its block: an order is balanced when all were as often."""
    firsts = Counter({name: 0 for order in orders.values() for name in order})
    firsts.update(order[0] for order in orders.values())
    ends = sorted({min(firsts.values(), default=0), max(firsts.values(), default=0)})
    return f"; each variant was first in {' to '.join(map(str, ends))} of them" if len(firsts) > 1 else ""


def overlaps(runs: pd.DataFrame) -> Finding:
    """Report runs that began before an earlier run on the same host had ended."""
    timed = spans(runs)
    ends = timed.groupby("machine_id", dropna=False)["ended_at"].transform(lambda ended: ended.cummax().shift())
    overlapping = timed[timed["started_at"] < ends]
    text = (
        f"{plural(len(overlapping), 'run')} began before another had ended."
        if len(overlapping)
        else "No two runs overlap in time."
    )
    return ALONE.judged(overlapping.empty, text, tuple(run_name(row) for row in overlapping.itertuples()))


def own_gaps(runs: pd.DataFrame) -> tuple[float, float, list[float]]:
    """Return (seconds between consecutive runs, span in seconds, pauses in seconds).

    A gap lasts from one run's `ended_at` to the next run's `started_at`. The span lasts from the first start to the
    last end, without the pauses. A pause is a gap of more than 60 s, or one that contains a run without times: the
    study was stopped, something else was made, or a server failed.
    """
    timed = spans(runs)
    if timed.empty:
        return 0.0, 0.0, []
    lost = np.sort(runs.loc[runs["started_at"].isna(), "run_number"].dropna().to_numpy(dtype=float))
    lost_before = np.searchsorted(lost, timed["run_number"].to_numpy(dtype=float))
    gaps = np.maximum(timed["started_at"].to_numpy()[1:] - timed["ended_at"].to_numpy()[:-1], 0.0)
    pausing = (gaps > PAUSE_S) | (np.diff(lost_before) != 0)
    span_s = float(timed["ended_at"].max() - timed["started_at"].min() - gaps[pausing].sum())
    return float(gaps[~pausing].sum()), span_s, gaps[pausing].tolist()


def own_share(runs: pd.DataFrame) -> Finding:
    """Report which share of the study's time lay between runs: the cost of the workflow itself."""
    gaps_s, span_s, pauses = own_gaps(runs)
    if not span_s:
        return OWN_COST.plain("No run has times.")
    share = gaps_s / span_s
    text = f"{percent(share)} of {duration(span_s)} lay between one run's end and the next one's start"
    text += ". The figures are not affected."
    if pauses:
        text += f" Not counted: {plural(len(pauses), 'pause')}, {duration(sum(pauses))} in all."
    return OWN_COST.plain(text)


LEAST_WAITING_S = 1.0


def phase_split(runs: pd.DataFrame) -> Finding:
    """Report the mean time of each phase of a run."""
    mean_s = runs[[f"phase_{name}_s" for name in PHASE_NAMES]].astype(float).mean()
    phases_s = {name: mean_s[f"phase_{name}_s"] for name in PHASE_NAMES if not missing(mean_s[f"phase_{name}_s"])}
    waited_s = phases_s.pop(WAITING, 0.0)
    named = list(phases_s.items())
    if not named:
        return RUN_TIME.plain("No run has times.")
    total_s = sum(seconds for _, seconds in named)
    parts = [f"{name} {duration(seconds)} ({percent(seconds / total_s, 0)})" for name, seconds in named]
    rest_s = total_s - sum(seconds for name, seconds in named if name in ("warmup", "measure"))
    text = f"Mean {duration(total_s)}, of which {duration(rest_s)} are neither warm-up nor measuring"
    waited = f" Before it, a run waited {duration(waited_s)} for the machine." if waited_s >= LEAST_WAITING_S else ""
    return RUN_TIME.plain(f"{text}: {', '.join(parts)}.{waited}")


def ladder_lines(study: ResolvedStudy, runs: pd.DataFrame) -> Iterator[str]:
    """Yield what a study whose servers do not restart between client counts says of it; nothing for another one."""
    if study.restart != NEVER or not len(runs):
        return
    counts = listing([number(count) for count in sorted(set(runs["clients"]))])
    yield (
        f"Each repetition is one start of each server, which goes through {counts} clients: intervals are those of "
        "the starts that were measured, and what happens at one client count carries over to the next."
    )
    correlation, pairs = neighbour_correlation(runs, study.reference)
    correlation_text = f"{correlation:.2f}, from" if pairs >= FEWEST_PAIRS else "not known from"
    what = "Correlation of the ratios at neighbouring client counts of one start (lag 1)"
    yield f"{what}: {correlation_text} {plural(pairs, 'pair')}."


def neighbour_correlation(runs: pd.DataFrame, reference: str) -> tuple[float, int]:
    """Return (lag-1 correlation, number of pairs) of log TPS ratios at neighbouring client counts of the same start.

    Each ratio is taken to the reference of its repetition, less the mean of its variant, workload and client count.
    """
    ok = runs[runs["outcome"] == "ok"].assign(log=lambda frame: np.log(frame["tps"].astype(float)))
    logs = ok.pivot_table(index=["workload", "repetition", "clients"], columns="variant", values="log")
    if reference not in logs:
        return float("nan"), 0
    ratios = logs.drop(columns=reference).sub(logs[reference], axis=0)
    moved = ratios - ratios.groupby(["workload", "clients"]).transform("mean")
    # Of a single start nothing is left to correlate.
    moved = moved[ratios.groupby(["workload", "clients"]).transform("count") > 1]
    behind = moved.groupby(["workload", "repetition"]).shift()
    both = moved.notna() & behind.notna()
    here, previous = moved.to_numpy()[both.to_numpy()], behind.to_numpy()[both.to_numpy()]
    scale = np.sqrt(np.sum(here**2) * np.sum(previous**2))
    return (float(np.sum(here * previous) / scale) if scale else float("nan")), len(here)


SUPPLIES = Topic(
    "supplies",
    "Supplies of the machine",
    "An arm may be faster for what it got, and not for its build. Have enough for all servers of a block "
    "(`vm.nr_hugepages`, `fs.aio-max-nr`, `ulimit -l`), or for none, and measure again by a new campaign.",
)
# Column of runs.csv -> what it is. Amounts of memory that differ by less than this share are alike.
NAMES = {
    "huge_pages_mib": "huge pages",
    "aio_contexts": "asynchronous I/O",
    "io_urings": "io_uring",
    "locked_mib": "locked memory",
}
ALIKE = 0.05


def supplies_finding(study: ResolvedStudy, runs: pd.DataFrame) -> Finding | None:
    """Name the arms of one server with the same options that got other supplies than others of their block.

    None where no run has a record of them, and where no arm got any.
    """
    if runs.empty or not set(NAMES) <= set(runs.columns):
        return None
    measured = runs[runs["outcome"] == "ok"].dropna(subset=list(NAMES), how="all")
    lines = tuple(line for column in NAMES for line in _lines(study, measured, column))
    if lines:
        return SUPPLIES.look("Servers with the same options got different supplies in the same block.", lines)
    supplied = [what for column, what in NAMES.items() if (measured[column] > 0).any()]
    if not supplied:
        return None
    blocks = plural(measured["block"].nunique(), "block")
    return SUPPLIES.good(f"In {blocks} all servers with the same options got the same: {listing(supplied)}.")


def _lines(study: ResolvedStudy, runs: pd.DataFrame, column: str) -> Iterator[str]:
    """Yield a line on each group of arms that should have got the same of a supply, and did not."""
    keys = runs["variant"].map(
        {name: canonical([variant.server, variant.options]) for name, variant in study.variants.items()}
    )
    for _, group in runs.assign(alike=keys).groupby("alike", sort=False):
        uneven = [rows for _, rows in group.groupby("block", sort=False) if _differ(rows[column])]
        if uneven:
            blocks = f"{len(uneven)} of {plural(group['block'].nunique(), 'block')}"
            yield f"{NAMES[column]}, in {blocks}: {_text(pd.concat(uneven), column)}"


def _differ(values: pd.Series) -> bool:
    amounts = values.dropna()
    return len(amounts) > 1 and amounts.max() > (1 + ALIKE) * amounts.min()


def _text(rows: pd.DataFrame, column: str) -> str:
    """Return each amount with the arms that got it, and in how many blocks."""
    unit = " MiB" if column.endswith("_mib") else ""
    amounts: dict[str, Counter[str]] = {}
    for variant, value in zip(rows["variant"], rows[column], strict=True):
        amount = "not known" if missing(value) else f"{value:.0f}{unit}" if value else "none"
        amounts.setdefault(amount, Counter())[variant] += 1
    return "; ".join(
        f"{amount}: {', '.join(f'{name} ({count})' for name, count in arms.items())}"
        for amount, arms in amounts.items()
    )
