"""Machine, trainings, datasets, sources, storage, client host and servers that already ran, for the page."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from scripts.lib import version
from scripts.lib.build_records import DatasetFacts, SourceFacts, TrainedProfile
from scripts.lib.host.address import without_logins
from scripts.lib.json_record import Json
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CELL, CONTROLS
from scripts.lib.wording import (
    NOTHING,
    count,
    duration,
    milliseconds,
    missing,
    number,
    option_value,
    plural,
    short,
    size,
)
from scripts.measure.engine.run_record import Run
from scripts.measure.loadgen.run_sysbench import FILL_SCRIPT
from scripts.report.analysis import published, stats
from scripts.report.analysis.pairing import block_names
from scripts.report.page.document import Fold, Heading, Items, PageBlock, Prose, Section, Verbatim, grid, sided

TRAINING_HEAD = ("workload", "clients", "time", "TPS on the instrumented server")
HOST_ROWS = {
    "hostname": "name", "cpu_model": "CPU", "cpu_id": "numbers of the CPU", "cpus": "CPUs", "memory_mib": "memory, MiB",
    "kernel": "kernel", "virtualisation": "virtualisation", "governor": "frequency governor", "smt": "SMT",
    "numa_nodes": "NUMA nodes", "thp": "transparent huge pages", "swap_mib": "swap, MiB", "clocksource": "clock source",
}  # fmt: skip


def training_blocks(profiles: list[TrainedProfile]) -> list[PageBlock]:
    """Return the training runs and the counters of each profile; nothing without profiles."""
    blocks: list[PageBlock] = []
    for profile in profiles:
        name = f"{profile.training} of {profile.server}"
        setting = _training_setting(profile.recipe or {})
        text = f", {duration(profile.wall_s)} in all, {profile.compiler or 'compiler unknown'}: "
        text += f"{_counters(profile)}." + (f" Server in training: {setting}." if setting else "")
        rows = [
            (run.workload, number(run.clients), duration(run.seconds), count(run.tps)) for run in profile.runs or []
        ]
        blocks += [Prose(Markup("<b>{}</b>{}").format(name, text)), grid(TRAINING_HEAD, rows)]
        if lines := [str(line) for line in profile.log_lines or []]:
            log = Verbatim("".join(f"{line}\n" for line in lines))
            blocks.append(Fold(f"Server log lines about the profile: {len(lines)}", (log,)))
    return [Heading("Training"), *blocks] if blocks else []


def _training_setting(recipe: dict[str, Any]) -> str:
    """Return in words the server options of a training, and whether it loaded its tables; empty without either."""
    options = " ".join(f"{name}={option_value(value)}" for name, value in (recipe.get("options") or {}).items())
    loaded = any(workload["tables"].get("fresh") for workload in recipe.get("workloads") or [])
    return "; ".join(filter(None, [options, "the server in training loaded the tables" if loaded else ""]))


def _counters(profile: TrainedProfile) -> str:
    """Return the counts of a profile in words; a profile of BOLT counts only what ran."""
    functions = number(profile.functions_nonzero)
    if profile.tool == "bolt":
        return f"{functions} functions and {number(profile.branches)} branches ran"
    ran = f"{number(profile.files_nonzero)} of {number(profile.files)} files and {functions} of"
    return f"{ran} {number(profile.functions)} functions ran"


def _word(value: Json) -> str:
    match value:
        case None:
            return NOTHING
        case bool():
            return "on" if value else "off"
    return str(value)


def workflow_rows(records: list[Run], drawn_by: dict[str, str | None]) -> list[tuple[str, str]]:
    """Return (property, release and commit): of the workflow that measured the runs, of the one that drew the page."""
    measured_by = dict.fromkeys(version.text(run.workflow.values()) for run in records)
    return [
        ("workflow that measured", "; ".join(measured_by)),
        ("workflow that drew this page", version.text(drawn_by)),
    ]


def written_options(values: Iterable[Json]) -> str:
    """Return one fact of several runs as text; different values are separated by semicolons."""
    return "; ".join(dict.fromkeys(map(_word, values))) or NOTHING


DATASET_HEAD = ("dataset", "server", "filled by", "tables", "rows each", "size", "load time", "snapshot SHA-256")


def dataset_rows(datasets: list[DatasetFacts]) -> list[tuple[str, ...]]:
    """Return one row per dataset: name, server, script, tables, rows per table, size, load time, checksum."""
    return [
        (data.dataset, data.server, _filled(data), number(data.tables), number(data.rows), size(data.bytes),
         duration(data.load_s), short(data.snapshot_sha256))
        for data in datasets
    ]  # fmt: skip


def _filled(data: DatasetFacts) -> str:
    options = (f"{name}={option_value(value)}" for name, value in data.options.items())
    text = " ".join([data.script or FILL_SCRIPT, *options])
    return f"{text}, before every run" if data.fresh else text


def source_blocks(sources: list[SourceFacts]) -> list[PageBlock]:
    """Return the origin of the sources, with the checksums of the fetched files."""
    blocks: list[PageBlock] = [Heading("Sources")]
    for source in sources:
        origin = f": {source.product} {source.release}, {without_logins(str(source.origin))}. "
        tree = Markup("Tree SHA-256 <code>{}</code>").format(source.tree_sha256 or NOTHING)
        files = [(entry.name, entry.sha256) for entry in source.files]
        blocks.append(Prose(Markup("<b>{}</b>{}{}").format(source.server, origin, tree)))
        blocks.append(grid(("file", "SHA-256"), files, 2))
    return blocks


CLIENT_HEAD = (
    "variant", "workload", "clients", "packets/s to the server", "Mbit/s", "packets/s from it", "Mbit/s",
    "packets/s the client host sent", "and received",
)  # fmt: skip
# Column of runs.csv, and what makes it the unit of its head.
CLIENT_COLUMNS = (
    ("server_rx_packets_per_s", 1), ("server_rx_bytes_per_s", 8e-6), ("server_tx_packets_per_s", 1),
    ("server_tx_bytes_per_s", 8e-6), ("client_tx_packets_per_s", 1), ("client_rx_packets_per_s", 1),
)  # fmt: skip


HOSTS_TEXT = Markup(
    "The load generator ran on another host. Packets and bits are those of the busiest interface of each host in the "
    "window, from <code>/proc/net/dev</code>; each account's password was made for one run and is stored nowhere."
)


def client_section(study: ResolvedStudy, runs: pd.DataFrame, records: list[Run]) -> Section | None:
    """Return both hosts and the traffic between them; None where sysbench ran on the host of the server."""
    remote_runs = _with_client_host(records)
    if not remote_runs:
        return None
    remote = [run.client_host for run in remote_runs]
    sides = [run.host for run in remote_runs], [side_facts.host for side_facts in remote]
    rows = [
        (label, tuple(written_options([getattr(host, key) for host in hosts]) for hosts in sides))
        for key, label in HOST_ROWS.items()
    ]
    traffic = [side_facts.network.server for side_facts in remote], [side_facts.network.client for side_facts in remote]
    rows += [
        (
            "busiest interface",
            tuple(written_options([side_facts.interface for side_facts in side]) for side in traffic),
        ),
        (
            "listens on",
            (written_options([f"{side_facts.address} port {side_facts.port}" for side_facts in remote]), ""),
        ),
        ("reached by", ("", written_options([_way(side_facts.reached_by) for side_facts in remote]))),
    ]
    network = [
        (variant, workload, str(clients), *map(count, amounts))
        for (variant, workload, clients), amounts in traffic_means(study, runs).items()
    ]
    blocks = (Prose(HOSTS_TEXT), sided(("", "server's host", "client host"), rows), grid(CLIENT_HEAD, network, 2))
    return Section("hosts", "Two hosts", blocks, nav="Two hosts")


def _with_client_host(records: list[Run]) -> list[Run]:
    return [run for run in records if run.client_host and not run.running]


def traffic_sentences(study: ResolvedStudy, runs: pd.DataFrame, records: list[Run]) -> Iterator[str]:
    """Yield what went over the network in each cell; nothing where sysbench ran on the host of the server."""
    for (variant, workload, clients), amounts in (
        traffic_means(study, runs).items() if _with_client_host(records) else ()
    ):
        packets, mbit, packets_back, mbit_back, *_ = map(count, amounts)
        sent, received = f"{packets} packets and {mbit} Mbit", f"{packets_back} packets and {mbit_back} Mbit"
        cell = f"{variant}, {workload}, {clients} clients"
        yield f"{cell}: {sent} per second went to the server, {received} came from it."


def _way(reached_by: Mapping[str, Any]) -> str:
    return f"ssh {reached_by['ssh']}" if "ssh" in reached_by else shlex.join(reached_by["command"])


def traffic_means(study: ResolvedStudy, runs: pd.DataFrame) -> dict[tuple[str, str, int], tuple[float, ...]]:
    """Return cell -> the quantities of CLIENT_COLUMNS in the windows, means over the runs, in the study's order."""
    names = [name for name, _ in CLIENT_COLUMNS]
    ok = runs[(runs["outcome"] == "ok") & ~runs["variant"].isin(CONTROLS)].astype(dict.fromkeys(names, float))
    means = ok.groupby(list(CELL))[names].mean()
    cells = [
        (variant, workload, clients)
        for variant in study.variants
        for workload in study.workloads
        for clients in study.clients
    ]
    return {
        cell: tuple(float(means.loc[cell, name]) * factor for name, factor in CLIENT_COLUMNS)
        for cell in cells
        if cell in means.index
    }


STORAGE_HEAD = (
    *("variant", "storage", "file system", "mount options", "device"),
    *("shortest", "median", "95 % within", "longest", "runs"),
)


STORAGE_TEXT = (
    "The data directory of every run was cloned to its variant's storage. Before the server started, fsync was timed "
    "there repeatedly, each time after 4 KiB of a file were overwritten: a commit waits for the same. Times are in "
    "milliseconds."
)


def storage_section(study: ResolvedStudy, runs: pd.DataFrame, records: list[Run]) -> Section | None:
    """Return where the data lay and how long an fsync took; None for a study that names no storage."""
    if not has_storages(study, runs, records):
        return None
    rows = _storage_rows(study, records)
    table = grid(STORAGE_HEAD, [*rows, *_published_storage(study)], 5)
    blocks = (Prose(STORAGE_TEXT), table, Items(list(storage_sentences(study, runs))))
    return Section("storage", "Where the data lay", blocks, nav="Storage")


def has_storages(study: ResolvedStudy, runs: pd.DataFrame, records: list[Run]) -> bool:
    """Return whether a study names a storage on which fsync was timed."""
    named = any(variant.storage for variant in study.variants.values())
    return bool(named and runs["fsync_p50_ms"].notna().any() and _storage_rows(study, records))


def _storage_rows(study: ResolvedStudy, records: list[Run]) -> list[tuple[str, ...]]:
    """Return one row per variant: where its data lay, and times of fsync over its runs, in ms."""
    rows: list[tuple[str, ...]] = []
    for name, variant in study.variants.items():
        timed = [run for run in records if run.variant == name and run.fsync_ms]
        if name in CONTROLS or not timed:
            continue
        fsyncs = pd.DataFrame([run.fsync_ms.values() for run in timed], dtype=float)
        fsync_ms = fsyncs["min"].min(), fsyncs["p50"].median(), fsyncs["p95"].median(), fsyncs["max"].max()
        folders = ", ".join(dict.fromkeys(run.storage or "" for run in timed))
        where = f"{variant.storage} ({folders})" if variant.storage else "the disk of /var/tmp"
        media = [(run.medium.file_system, run.medium.mount_options, run.medium.device) for run in timed]
        kinds = [", ".join(dict.fromkeys(value or NOTHING for value in values)) for values in zip(*media, strict=True)]
        rows.append((name, where, *kinds, *map(milliseconds, fsync_ms), number(len(timed))))
    return rows


def _published_storage(study: ResolvedStudy) -> list[tuple[str, ...]]:
    """Return one row per published variant with its published shortest and longest time."""
    rows = published.frame(study)
    lines: list[tuple[str, ...]] = []
    for name in dict.fromkeys(rows["variant"][rows["metric"].isin(published.OF_STORAGE)]):
        of_variant = rows[rows["variant"] == name].set_index("metric")["value"]
        times = [count(of_variant.get(key)) if key in of_variant else NOTHING for key in published.OF_STORAGE]
        lines.append((f"published: {name}", *(NOTHING,) * 4, times[0], NOTHING, NOTHING, times[1], NOTHING))
    return lines


def storage_sentences(study: ResolvedStudy, runs: pd.DataFrame) -> Iterator[str]:
    """Yield, per workload, the differences in latency and fsync at the fewest clients, where commits wait alone."""
    reference, clients = study.reference, min(study.clients)
    chosen = runs[(runs["outcome"] == "ok") & (runs["clients"] == clients)]
    for workload in study.workloads:
        of_workload = chosen[chosen["workload"] == workload]
        of_workload = of_workload.set_index(["variant", block_names(of_workload)])
        for name in study.variants:
            if name in (reference, *CONTROLS) or not {name, reference} <= set(of_workload.index.get_level_values(0)):
                continue
            pairs = of_workload.loc[name][["latency_mean_ms", "fsync_p50_ms"]].astype(float)
            apart = (pairs - of_workload.loc[reference][["latency_mean_ms", "fsync_p50_ms"]].astype(float)).dropna()
            if len(apart):
                yield _storage_sentence(workload, clients, name, reference, apart)


def _storage_sentence(workload: str, clients: int, name: str, reference: str, apart: pd.DataFrame) -> str:
    slower, fsync = (_times_apart(apart[key].to_numpy()) for key in ("latency_mean_ms", "fsync_p50_ms"))
    cell = f"{workload} with {plural(clients, 'client')}"
    waits = f"on {name} a transaction took {slower} than on {reference}, an fsync {fsync}"
    return f"{cell}: {waits}; {plural(len(apart), 'block')}."


def _times_apart(values: np.ndarray) -> str:
    """Return a mean difference in ms with its t interval, as so much more or less."""
    mean, low, high = map(float, stats.t_interval(values))
    word, sign = ("more", 1) if mean >= 0 else ("less", -1)
    bounds = sorted((sign * low, sign * high))
    spread = "" if missing(low) else f" (interval {' to '.join(map(count, bounds))})"
    return f"{count(abs(mean))} ms {word}{spread}"


NO_RESTART = (
    "The servers already ran. Nothing restarts between blocks, so intervals hold for these processes and "
    "machines only: what a restart, another machine or another day would change is not in them."
)
UNKNOWN = (
    "Of the servers only what they say of themselves is known; their CPUs, builds and memory are unknown, and who else "
    "used them meanwhile is, too."
)
GATE = (
    "Only the clients' gate separates the arms: a server that waits for its turn was neither stopped nor frozen, and "
    "A/A is a second set of clients of the reference's server and tables."
)
ENCRYPTED = "Connections were encrypted with TLS; certificate and name of each server were checked ({ciphers})."
PLAIN = "Connections of {variants} were not encrypted, and the server's certificate was not checked (`tls: false`)."


def running_sentences(records: Sequence[Run]) -> list[str]:
    """Return the sentences about servers that already ran; none for a study of others."""
    reached_runs = [run for run in records if run.running]
    if not reached_runs:
        return []
    plain = dict.fromkeys(str(run.variant) for run in reached_runs if run.running.tls is False)
    ciphers = dict.fromkeys(str(run.running.cipher) for run in reached_runs if run.running.tls)
    reached = [ENCRYPTED.format(ciphers=", ".join(ciphers))] if ciphers and not plain else []
    reached += [PLAIN.format(variants=", ".join(plain))] if plain else []
    return [NO_RESTART, UNKNOWN, GATE, *reached]


def machine_rows(records: Sequence[Run]) -> list[tuple[str, str]]:
    """Return (property, value): of the host, or the addresses of servers that already ran and the clients' host."""
    reached_runs = [run for run in records if run.running]
    hosts = [run.client_host.host for run in reached_runs] or [run.host for run in records if run.host]
    facts = [(label, written_options([getattr(host, key) for host in hosts])) for key, label in HOST_ROWS.items()]
    if not reached_runs:
        return facts
    servers = {f"{run.variant}: {run.running.address}, release {run.running.release}" for run in reached_runs}
    return [
        ("servers that already ran", "; ".join(sorted(servers))),
        ("their machines", "unknown"),
        *((f"load generator: {label}", value) for label, value in facts),
    ]
