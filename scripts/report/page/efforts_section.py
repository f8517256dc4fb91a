"""What a transaction cost the server: its counters per transaction, with ratios to the reference block by block."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import AA, CELL, RELINKED, RUN
from scripts.lib.wording import NOTHING, before_after, by_width, count, missing
from scripts.measure.engine.run_record import Run
from scripts.report.analysis.calibration import calibration_table, widening
from scripts.report.analysis.columns import Row
from scripts.report.analysis.comparison import terms_of
from scripts.report.analysis.intervals import cell_intervals, reference_means
from scripts.report.analysis.metrics import LEVELS
from scripts.report.analysis.pairing import arms_of, block_names, judged_runs
from scripts.report.analysis.run_columns import block_name
from scripts.report.analysis.spreads import Interval
from scripts.report.page import engine_section
from scripts.report.page.document import Cell, Fold, Head, Heading, PageBlock, Prose, Table, table_row, word_heads

WINDOW = {"context_switches": "context switches", "read_bytes": "bytes read", "write_bytes": "bytes written"}
COMMITS, SHARE = "commits", " per transaction"
# Variant, workload, clients, name of the quantity.
QuantityKey = tuple[str, str, int, str]
PLACES = (*word_heads("variant"), Head("clients"))


@dataclass(frozen=True)
class ReferenceRatio:
    """The reference's mean over the blocks of a variant, and the interval of the variant's ratio to it."""

    reference: float
    interval: Interval


@dataclass(frozen=True)
class Effort:
    """What a transaction of one workload cost; `none` names what was always 0."""

    workload: str
    table: Table
    none: tuple[str, ...]


EFFORT_TEXT = (
    "Context switches and bytes are those of the window, per transaction. The other columns are the server's own "
    "counters over the whole call of sysbench, per commit. {reference} → variant are geometric means over the blocks "
    "that have both, and under them stands their quotient, the ratio to {reference}, with its 95 % interval; a value "
    "alone is that of all runs of the cell together; the intervals are not adjusted for their number, so about one in "
    "twenty misses 1 by chance. A ratio need not be an effect of the variant alone: writes at a fixed rate are divided "
    "by more transactions in a faster run."
)


def effort_fold(study: ResolvedStudy, runs: pd.DataFrame, records: Iterable[Run]) -> Fold | None:
    """Return what a transaction cost the server, workload by workload; None where nothing is known of it."""
    if not (shown := efforts(study, runs, records)):
        return None
    blocks: list[PageBlock] = [Prose(EFFORT_TEXT.format(reference=study.reference))]
    for effort in shown:
        none = Markup(' <span class="quiet">(none in any cell: {})</span>').format(", ".join(effort.none))
        blocks += [Heading(Markup("{}{}").format(effort.workload, none if effort.none else ""), 4), effort.table]
    return Fold("What a transaction cost the server", blocks, id="efforts")


def efforts(study: ResolvedStudy, runs: pd.DataFrame, records: Iterable[Run]) -> list[Effort]:
    """Return what transactions cost, one table per workload about which something is known.

    Context switches and bytes are those of the window, divided by its transactions; the server's own counters are read
    before and after the whole call of sysbench, and are divided by the commits in between. Ratios are those of blocks,
    with the intervals of all other quantities.
    """
    amounts = _amounts(runs, records)
    if amounts.empty:
        return []
    names = {**WINDOW, **{name: name.replace("_", " ") for name in amounts["name"] if name not in WINDOW}}
    sums = amounts.groupby([*CELL, "name"], sort=False)[["amount", "per"]].sum()
    values = (sums["amount"] / sums["per"]).to_dict()
    ratios = _ratios(study, runs, amounts, list(names))
    tables = [_effort(study, workload, names, values, ratios) for workload in study.workloads]
    return [effort for effort in tables if effort.table and len(effort.table.heads) > len(PLACES)]


def _amounts(runs: pd.DataFrame, records: Iterable[Run]) -> pd.DataFrame:
    """Return one row per ok run and quantity: `amount` in `per` transactions or commits, `place` that of the run."""
    ok = runs[(runs["outcome"] == "ok").to_numpy()]
    blocks = block_names(ok)
    places = dict(zip(zip(*(ok[name] for name in RUN), blocks, strict=True), ok.index, strict=True))
    rows = [
        {
            **dict(zip(CELL, cell, strict=True)),
            "place": row_index,
            "name": name,
            "amount": float(amount),
            "per": float(per),
        }
        for name in WINDOW
        for *cell, row_index, amount, per in zip(
            *(ok[key] for key in CELL), ok.index, ok[name], ok["transactions"], strict=True
        )
        if not missing(amount) and per > 0
    ]
    for run in records:
        row_index = places.get((*run.key, block_name(run.block, *run.key[1:])))
        if row_index is not None:
            cell = dict(zip(CELL, run.cell, strict=True))
            rows += [{**cell, "place": row_index, **row} for row in _of_call(run)]
    return pd.DataFrame(rows, columns=[*CELL, "place", "name", "amount", "per"])


def _of_call(run: Run) -> Iterator[Row]:
    """Yield the growth over a call of each counter that is to be divided by its commits."""
    grown = {name: engine_section.grown(edges) for name, edges in run.counters.items()}
    commits = grown.pop(COMMITS, None) or 0
    for name, growth in grown.items() if commits > 0 else ():
        if growth is not None and name not in LEVELS and not name.startswith(engine_section.CHANGE_BUFFER_PREFIX):
            yield {"name": name, "amount": float(growth), "per": float(commits)}


def _ratios(
    study: ResolvedStudy, runs: pd.DataFrame, amounts: pd.DataFrame, names: Sequence[str]
) -> dict[QuantityKey, ReferenceRatio]:
    """Return (variant, workload, clients, name) -> value and interval over blocks; values of 0 have no ratio."""
    shares = (amounts["amount"] / amounts["per"]).groupby([amounts["place"], amounts["name"]]).first().unstack()
    # Some quantities have the name of a column of runs.csv, which holds the sum and not the share.
    wide = runs.join(shares.reindex(columns=list(names)).add_suffix(SHARE))
    terms = terms_of(study, [f"{name}{SHARE}" for name in names])
    judged = judged_runs(wide[(wide["variant"] != RELINKED).to_numpy()], terms.reference)
    arms = arms_of(judged, terms.reference, terms.metrics, terms.timed)
    factors = widening(calibration_table(arms), terms.wider)
    ratios = {}
    for name, metric in zip(names, terms.metrics, strict=True):
        cells, y, _ = arms.of(metric)
        contrasts = arms.contrasts(metric)
        references = np.exp(np.transpose(reference_means(y, contrasts)))
        for cell, intervals, references_of_cell in zip(cells, cell_intervals(y, contrasts), references, strict=True):
            for variant, interval, reference in zip(arms.compared, intervals, references_of_cell, strict=True):
                ratios[variant, *cell, name] = ReferenceRatio(float(reference), interval.widened(factors[metric]))
    return ratios


def _effort(
    study: ResolvedStudy,
    workload: str,
    names: Mapping[str, str],
    values: Mapping[QuantityKey, float],
    ratios: Mapping[QuantityKey, ReferenceRatio],
) -> Effort:
    cells = [(name, workload, clients) for clients in study.clients for name in study.variants]
    measured = [name for name in names if any((*cell, name) in values for cell in cells)]
    shown = [name for name in measured if any(values.get((*cell, name)) for cell in cells)]
    rows = tuple(
        table_row(
            cell[0],
            str(cell[2]),
            *(_field((*cell, name), values, ratios) for name in shown),
            style="aa" if cell[0] == AA else "",
        )
        for cell in cells
        if any((*cell, name) in values for name in measured)
    )
    none = tuple(names[name] for name in measured if name not in shown)
    heads = (*PLACES, *(Head(names[name]) for name in shown))
    return Effort(workload, Table(heads, rows, style="values wrapped"), none)


def _field(key: QuantityKey, values: Mapping[QuantityKey, float], ratios: Mapping[QuantityKey, ReferenceRatio]) -> Cell:
    value, of_reference = values.get(key), ratios.get(key)
    if missing(value):
        return Cell(NOTHING, (), "hole")
    if of_reference is None or np.isnan(of_reference.interval.mean):
        return Cell(_amount_text(value))
    ratio, low, high = (
        float(np.exp(part))
        for part in (of_reference.interval.mean, of_reference.interval.low, of_reference.interval.high)
    )
    text, bounds = by_width(ratio, low, high)
    note = f"× {text}" if bounds == NOTHING else f"× {text} ({bounds})"
    return Cell(before_after(of_reference.reference, of_reference.reference * ratio, _amount_text), (note,))


def _amount_text(value: float) -> str:
    return f"{value:.2g}" if 0 < abs(value) < 0.01 else count(value)
