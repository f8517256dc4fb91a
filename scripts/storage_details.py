"""Where the data lay, for the page: what an fsync takes on each storage, and what that says about the results."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts import published, stats
from scripts.comparison import AA
from scripts.tables import fact
from scripts.wording import NOTHING, count, milliseconds, missing, number, plural

HEAD = ("variant", "storage", "file system", "device", "shortest", "median", "95 % within", "longest", "runs")


def view(study: Mapping[str, Any], runs: pd.DataFrame, records: list[tuple[str, dict]]) -> dict[str, Any]:
    """Return what the page says of storages; nothing for a study that names none."""
    named = any(variant.get("storage") for variant in study["variants"].values())
    rows = _rows(study, records) if named and runs["fsync_p50_ms"].notna().any() else []
    if not rows:
        return {"storages": []}
    told = list(_sentences(study, runs))
    return {"storages": [*rows, *_published(study)], "storage_head": HEAD, "storage_sentences": told}


def _rows(study: Mapping[str, Any], records: list[tuple[str, dict]]) -> list[tuple[str, ...]]:
    """Return a row a variant: where its data lay, and times of fsync over its runs, in ms."""
    found = []
    for name, variant in study["variants"].items():
        own = [facts for _, facts in records if facts["variant"] == name and fact(facts, "fsync_ms.p50") is not None]
        if name == AA or not own:
            continue
        times = {key: np.array([facts["fsync_ms"][key] for facts in own]) for key in ("min", "p50", "p95", "max")}
        taken = times["min"].min(), np.median(times["p50"]), np.median(times["p95"]), times["max"].max()
        folders = ", ".join(dict.fromkeys(str(facts.get("storage") or "") for facts in own))
        place = f"{variant['storage']} ({folders})" if variant.get("storage") else "the disk of /var/tmp"
        kinds = [_several(own, f"medium.{key}") for key in ("file_system", "device")]
        found.append((name, place, *kinds, *map(milliseconds, taken), number(len(own))))
    return found


def _several(records: list[dict[str, Any]], where: str) -> str:
    return ", ".join(dict.fromkeys(str(fact(facts, where) or NOTHING) for facts in records))


def _published(study: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row a published variant with its shortest and longest time, both as published."""
    rows = published.frame(dict(study))
    found = []
    for name in dict.fromkeys(rows["variant"][rows["metric"].isin(published.OF_STORAGE)]):
        own = rows[rows["variant"] == name].set_index("metric")["value"]
        times = [count(own.get(key)) if key in own else NOTHING for key in published.OF_STORAGE]
        found.append((f"published: {name}", *(NOTHING,) * 3, times[0], NOTHING, NOTHING, times[1], NOTHING))
    return found


def _sentences(study: Mapping[str, Any], runs: pd.DataFrame) -> Iterator[str]:
    """Compose how far latency and fsync lie apart, a workload at a time, at the fewest clients: commits wait alone."""
    reference, clients = study["reference"], min(study["clients"])
    chosen = runs[(runs["outcome"] == "ok") & (runs["clients"] == clients)]
    for workload in study["workloads"]:
        own = chosen[chosen["workload"] == workload].set_index(["variant", "repetition"])
        for name in study["variants"]:
            if name in (reference, AA) or not {name, reference} <= set(own.index.get_level_values(0)):
                continue
            pairs = own.loc[name][["latency_mean_ms", "fsync_p50_ms"]].astype(float)
            apart = (pairs - own.loc[reference][["latency_mean_ms", "fsync_p50_ms"]].astype(float)).dropna()
            if len(apart):
                yield _sentence(workload, clients, name, reference, apart)


def _sentence(workload: str, clients: int, name: str, reference: str, apart: pd.DataFrame) -> str:
    slower, fsync = (_apart(apart[key].to_numpy()) for key in ("latency_mean_ms", "fsync_p50_ms"))
    place = f"{workload} with {plural(clients, 'client')}"
    taken = f"on {name} a transaction took {slower} than on {reference}, an fsync {fsync}"
    return f"{place}: {taken}; {plural(len(apart), 'block')}."


def _apart(values: np.ndarray) -> str:
    """Write a mean difference in ms with its t interval, as so much more or less."""
    mean, low, high = map(float, stats.t_interval(values))
    word, sign = ("more", 1) if mean >= 0 else ("less", -1)
    bounds = sorted((sign * low, sign * high))
    spread = "" if missing(low) else f" (interval {' to '.join(map(count, bounds))})"
    return f"{count(abs(mean))} ms {word}{spread}"
