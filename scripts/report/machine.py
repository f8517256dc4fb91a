"""Machine, trainings, datasets, sources, storage and client host for the page."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import published, stats
from scripts.analysis.runs import NETWORK_SIDES
from scripts.loadgen.run import FILL_SCRIPT
from scripts.loadgen.sysbench import option_text
from scripts.measure.record import fact
from scripts.vocabulary import AA, CELL
from scripts.wording import NOTHING, count, duration, milliseconds, missing, number, plural, short, size

HOST_ROWS = {
    "hostname": "name", "cpu_model": "CPU", "cpus": "CPUs", "memory_mib": "memory, MiB", "kernel": "kernel",
    "virtualisation": "virtualisation", "governor": "frequency governor", "smt": "SMT", "numa_nodes": "NUMA nodes",
    "thp": "transparent huge pages", "swap_mib": "swap, MiB", "clocksource": "clock source",
}  # fmt: skip


def training_rows(profiles: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one entry per profile: its training runs and its counters."""
    return [
        {
            "name": f"{profile['training']} of {profile['server']}",
            "runs": [
                (run["workload"], number(run["clients"]), duration(run["seconds"]), count(run["tps"]))
                for run in profile.get("runs") or []
            ],
            "counters": _counters(profile),
            "compiler": str(profile.get("compiler") or "compiler unknown"),
            "time": duration(profile.get("wall_s")),
            "log_lines": [str(line) for line in profile.get("log_lines") or []],
        }
        for profile in profiles
    ]


def _counters(profile: dict[str, Any]) -> str:
    """Return the counts of a profile in words; a profile of BOLT counts only what ran."""
    counts = {key: number(profile.get(key)) for key in ("files_nonzero", "files", "functions_nonzero", "functions")}
    if profile.get("tool") == "bolt":
        return f"{counts['functions_nonzero']} functions and {number(profile.get('branches'))} branches ran"
    ran = f"{counts['files_nonzero']} of {counts['files']} files and {counts['functions_nonzero']} of"
    return f"{ran} {counts['functions']} functions ran"


def _word(value: Any) -> str:
    match value:
        case None:
            return NOTHING
        case bool():
            return "on" if value else "off"
    return str(value)


def machine_rows(records: list[tuple[str, dict]]) -> list[tuple[str, str]]:
    """Return (property, value) of the host."""
    rows = []
    for key, label in HOST_ROWS.items():
        rows.append((label, written_options([fact(facts, f"host.{key}") for _, facts in records if facts.get("host")])))
    return rows


def written_options(values: list[Any]) -> str:
    """Return one fact of several runs as text; different values are separated by semicolons."""
    return "; ".join(dict.fromkeys(map(_word, values))) or NOTHING


def dataset_rows(datasets: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return one row per dataset: name, server, script, tables, rows per table, size, load time, checksum."""
    return [
        (data["dataset"], data["server"], _filled(data), number(data.get("tables")), number(data.get("rows")),
         size(data.get("bytes")),
         duration(data.get("load_s")), short(data.get("snapshot_sha256")))
        for data in datasets
    ]  # fmt: skip


def _filled(data: dict[str, Any]) -> str:
    options = (f"{name}={option_text(value)}" for name, value in (data.get("options") or {}).items())
    text = " ".join([data.get("script") or FILL_SCRIPT, *options])
    return f"{text}, before every run" if data.get("fresh") else text


def source_rows(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the origin of the sources, with the checksums of the fetched files."""
    return [
        {
            "server": source["server"],
            "product": f"{source.get('product')} {source.get('release')}",
            "origin": str(source.get("origin")),
            "tree": source.get("tree_sha256") or NOTHING,
            "files": [(entry["name"], entry["sha256"]) for entry in source.get("files") or []],
        }
        for source in sources
    ]


CLIENT_HEAD = (
    "variant", "workload", "clients", "packets/s to the server", "Mbit/s", "packets/s from it", "Mbit/s",
    "packets/s the client host sent", "and received",
)  # fmt: skip
# Column of runs.csv, and what makes it the unit of its head.
CLIENT_COLUMNS = (
    ("server_rx_packets_per_s", 1), ("server_rx_bytes_per_s", 8e-6), ("server_tx_packets_per_s", 1),
    ("server_tx_bytes_per_s", 8e-6), ("client_tx_packets_per_s", 1), ("client_rx_packets_per_s", 1),
)  # fmt: skip


def client_view(study: Mapping[str, Any], runs: pd.DataFrame, records: list[tuple[str, dict]]) -> dict[str, Any]:
    """Return the values of the page for a client host; no rows where sysbench ran on the host of the server."""
    own = [facts for _, facts in records if facts.get("client_host")]
    if not own:
        return {"hosts": []}
    rows = [
        (label, tuple(written_options(values) for values in _both_sides(own, f"host.{key}")))
        for key, label in HOST_ROWS.items()
    ]
    busiest = [
        written_options([fact(facts, f"client_host.network.{side}.interface") for facts in own])
        for side in NETWORK_SIDES
    ]
    rows += [
        ("busiest interface", tuple(busiest)),
        ("listens on", (written_options([_listens(facts["client_host"]) for facts in own]), "")),
        ("reached by", ("", written_options([_way(facts["client_host"]["reached_by"]) for facts in own]))),
    ]
    return {"hosts": rows, "network_head": CLIENT_HEAD, "network": _network_rows(study, runs)}


def _both_sides(records: list[dict[str, Any]], where: str) -> tuple[list[Any], list[Any]]:
    """Return a fact of the server's host and of the client's host, one value per run."""
    return [fact(facts, where) for facts in records], [fact(facts, f"client_host.{where}") for facts in records]


def _listens(client_host: Mapping[str, Any]) -> str:
    return f"{client_host['address']} port {client_host['port']}"


def _way(reached_by: Mapping[str, Any]) -> str:
    return f"ssh {reached_by['ssh']}" if "ssh" in reached_by else shlex.join(reached_by["command"])


def _network_rows(study: Mapping[str, Any], runs: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return one row per cell: traffic to and from the server in the windows, means over the runs."""
    names = [name for name, _ in CLIENT_COLUMNS]
    ok = runs[(runs["outcome"] == "ok") & (runs["variant"] != AA)].astype(dict.fromkeys(names, float))
    means = ok.groupby(list(CELL))[names].mean()
    cells = [
        (variant, workload, clients)
        for variant in study["variants"]
        for workload in study["workloads"]
        for clients in study["clients"]
    ]
    return [
        (cell[0], cell[1], str(cell[2]), *(count(means.loc[cell, name] * factor) for name, factor in CLIENT_COLUMNS))
        for cell in cells
        if cell in means.index
    ]


STORAGE_HEAD = ("variant", "storage", "file system", "device", "shortest", "median", "95 % within", "longest", "runs")


def storage_view(study: Mapping[str, Any], runs: pd.DataFrame, records: list[tuple[str, dict]]) -> dict[str, Any]:
    """Return the values of the page for storages; no rows for a study that names none."""
    named = any(variant.get("storage") for variant in study["variants"].values())
    rows = _storage_rows(study, records) if named and runs["fsync_p50_ms"].notna().any() else []
    if not rows:
        return {"storages": []}
    told = list(_storage_sentences(study, runs))
    return {"storages": [*rows, *_published_storage(study)], "storage_head": STORAGE_HEAD, "storage_sentences": told}


def _storage_rows(study: Mapping[str, Any], records: list[tuple[str, dict]]) -> list[tuple[str, ...]]:
    """Return one row per variant: where its data lay, and times of fsync over its runs, in ms."""
    found = []
    for name, variant in study["variants"].items():
        own = [facts for _, facts in records if facts["variant"] == name and fact(facts, "fsync_ms.p50") is not None]
        if name == AA or not own:
            continue
        times = {key: np.array([facts["fsync_ms"][key] for facts in own]) for key in ("min", "p50", "p95", "max")}
        taken = times["min"].min(), np.median(times["p50"]), np.median(times["p95"]), times["max"].max()
        folders = ", ".join(dict.fromkeys(str(facts.get("storage") or "") for facts in own))
        place = f"{variant['storage']} ({folders})" if variant.get("storage") else "the disk of /var/tmp"
        kinds = [_several_values(own, f"medium.{key}") for key in ("file_system", "device")]
        found.append((name, place, *kinds, *map(milliseconds, taken), number(len(own))))
    return found


def _several_values(records: list[dict[str, Any]], where: str) -> str:
    return ", ".join(dict.fromkeys(str(fact(facts, where) or NOTHING) for facts in records))


def _published_storage(study: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return one row per published variant with its published shortest and longest time."""
    rows = published.frame(dict(study))
    found = []
    for name in dict.fromkeys(rows["variant"][rows["metric"].isin(published.OF_STORAGE)]):
        own = rows[rows["variant"] == name].set_index("metric")["value"]
        times = [count(own.get(key)) if key in own else NOTHING for key in published.OF_STORAGE]
        found.append((f"published: {name}", *(NOTHING,) * 3, times[0], NOTHING, NOTHING, times[1], NOTHING))
    return found


def _storage_sentences(study: Mapping[str, Any], runs: pd.DataFrame) -> Iterator[str]:
    """Yield, per workload, the differences in latency and fsync at the fewest clients, where commits wait alone."""
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
                yield _storage_sentence(workload, clients, name, reference, apart)


def _storage_sentence(workload: str, clients: int, name: str, reference: str, apart: pd.DataFrame) -> str:
    slower, fsync = (_times_apart(apart[key].to_numpy()) for key in ("latency_mean_ms", "fsync_p50_ms"))
    place = f"{workload} with {plural(clients, 'client')}"
    taken = f"on {name} a transaction took {slower} than on {reference}, an fsync {fsync}"
    return f"{place}: {taken}; {plural(len(apart), 'block')}."


def _times_apart(values: np.ndarray) -> str:
    """Return a mean difference in ms with its t interval, as so much more or less."""
    mean, low, high = map(float, stats.t_interval(values))
    word, sign = ("more", 1) if mean >= 0 else ("less", -1)
    bounds = sorted((sign * low, sign * high))
    spread = "" if missing(low) else f" (interval {' to '.join(map(count, bounds))})"
    return f"{count(abs(mean))} ms {word}{spread}"
