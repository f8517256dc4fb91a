"""The matrix of a study for the page: what each level does, what levels do together, and cell by cell."""

from typing import Any

import pandas as pd

from scripts.comparison import NO_DIFFERENCE, TOO_FEW
from scripts.effect_tables import FACTOR_METRICS, FactorRow, ratio_cell
from scripts.matrix_effects import label
from scripts.metrics import COLD, EVERY, METRICS, WARM, leading
from scripts.value_tables import Cell
from scripts.verdict import Sentence, measured, unshown
from scripts.wording import listing, plural

Study = dict[str, Any]


def view(study: Study, effects: pd.DataFrame) -> dict[str, Any]:
    """Return what the page shows of a matrix; empty lists without one. `effects` is effects.csv."""
    overall = effects[effects["workload"].isna()]
    return {
        "effect_sentences": sentences(study, overall),
        "effect_rows": [_row(study, group) for _, group in _groups(overall)],
        "effect_cells": cells(study, effects),
    }


def _groups(effects: pd.DataFrame) -> Any:
    return effects.groupby(["factor", "formula"], sort=False)


def _row(study: Study, group: pd.DataFrame) -> FactorRow:
    found = {row.metric: row for row in group.itertuples()}
    first = group.iloc[0]
    fields = (_field(found[name], study) for name in FACTOR_METRICS if name in found)
    return FactorRow(label(first["factor"], first["formula"]), first["factor"], "", tuple(fields))


def _field(row: Any, study: Study) -> Cell:
    return ratio_cell(row, row.word if isinstance(row.word, str) else None, EVERY[row.metric], study["repetitions"])


def sentences(study: Study, overall: pd.DataFrame) -> list[Sentence]:
    """Return one sentence an effect of one factor or two, on transactions per second and p95, as in effects.csv."""
    told = []
    for (factor, formula), group in _groups(overall[overall["n_factors"] <= 2]):
        found = {row.metric: row for row in group.itertuples()}
        worse = [name for name, row in found.items() if row.word == EVERY[name].worse and row.n_factors == 1]
        told.append(Sentence(_told(label(factor, formula), factor, found, study), bool(worse)))
    return told


def _told(name: str, factor: str, found: dict[str, Any], study: Study) -> str:
    lead = leading(found)
    other = WARM if lead is COLD else METRICS["p95_ms"]
    tps, p95 = found[lead.name], found[other.name]
    if not tps.n_cells:
        return f"{name}: no block has all the variants it takes."
    counted = f"over {plural(tps.n_cells, 'cell')}, {plural(tps.n_repetitions, 'repetition')}"
    latency = f"; {other.label[0].lower()}{other.label[1:]} {measured(p95)}{_word(p95)}" if p95.n_cells else ""
    if tps.n_factors > 1:
        what = f"{name} in {lead.label.lower()}: {measured(tps)} the product of what each does by itself"
    else:
        above, _, below = name.partition(" / ")
        what = f"{factor}, {above} instead of {below}: {measured(tps)} the {lead.label.lower()}"
    return f"{what}, {counted}{_word(tps)}{latency}."


def _word(row: Any) -> str:
    """Return the word of an effect as the end of a clause; without enough blocks there is none."""
    match row.word:
        case word if word == TOO_FEW:
            return ""
        case word if word == NO_DIFFERENCE and not row.ratio_low <= 1 <= row.ratio_high:
            return f": differs {unshown(row)}"
        case word:
            return f": {word}"


def cells(study: Study, effects: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one table a metric of effects by cell, workloads in the study's order, for studies of several cells."""
    ours = effects[effects["workload"].notna() & effects["metric"].isin(("tps", "p95_ms", COLD.name, WARM.name))]
    ranks = ours["workload"].map({name: rank for rank, name in enumerate(study.get("workloads", ()))})
    ours = ours.assign(rank=ranks).sort_values(["rank", "clients"], kind="stable")
    tables = []
    for metric, rows in ours.groupby("metric", sort=False):
        places = list(dict.fromkeys(zip(rows["workload"], rows["clients"], strict=True)))
        head = [f"{workload}, {plural(int(clients), 'client')}" for workload, clients in places]
        body = [
            FactorRow(label(*key), key[0], "", tuple(_field(row, study) for row in group.itertuples()))
            for key, group in _groups(rows)
        ]
        tables.append({"title": EVERY[metric].label, "head": head, "rows": body})
    return tables


def scaled_sentence(study: Study) -> str:
    """Return what stands above a report made at the small scale; nothing at full size."""
    if "scaled" not in study:
        return ""
    changes = "; ".join(f"{name} {_value(full)} → {_value(small)}" for name, full, small in study["scaled"])
    about = "Small scale, which shows what the study would tell and not what its full size gives"
    return f"{about}: {changes or 'the same settings'}."


def _value(value: Any) -> str:
    match value:
        case None:
            return "unsaid"
        case list():
            return listing([str(item) for item in value])
        case _:
            return str(value)
