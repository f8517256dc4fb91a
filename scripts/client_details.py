"""The client host for the page: what it is beside the server's, and what went over the network between them."""

import shlex
from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.comparison import AA
from scripts.origin_details import HOST, written
from scripts.place_columns import SIDES
from scripts.tables import CELL, fact
from scripts.wording import count

HEAD = (
    "variant", "workload", "clients", "packets/s to the server", "Mbit/s", "packets/s from it", "Mbit/s",
    "packets/s the client host sent", "and received",
)  # fmt: skip
# Column of runs.csv, and what makes it the unit of its head.
COLUMNS = (
    ("server_rx_packets_per_s", 1), ("server_rx_bytes_per_s", 8e-6), ("server_tx_packets_per_s", 1),
    ("server_tx_bytes_per_s", 8e-6), ("client_tx_packets_per_s", 1), ("client_rx_packets_per_s", 1),
)  # fmt: skip


def view(study: Mapping[str, Any], runs: pd.DataFrame, records: list[tuple[str, dict]]) -> dict[str, Any]:
    """Return what the page says of a client host; nothing where the load generator ran beside the server."""
    own = [facts for _, facts in records if facts.get("client_host")]
    if not own:
        return {"hosts": []}
    rows = [(label, tuple(written(values) for values in _both(own, f"host.{key}"))) for key, label in HOST.items()]
    busiest = [written([fact(facts, f"client_host.network.{side}.interface") for facts in own]) for side in SIDES]
    rows += [
        ("busiest interface", tuple(busiest)),
        ("listens on", (written([_listens(facts["client_host"]) for facts in own]), "")),
        ("reached by", ("", written([_way(facts["client_host"]["reached_by"]) for facts in own]))),
    ]
    return {"hosts": rows, "network_head": HEAD, "network": _network(study, runs)}


def _both(records: list[dict[str, Any]], where: str) -> tuple[list[Any], list[Any]]:
    """Return a fact of the server's host and of the client's, a value a run."""
    return [fact(facts, where) for facts in records], [fact(facts, f"client_host.{where}") for facts in records]


def _listens(client_host: Mapping[str, Any]) -> str:
    return f"{client_host['address']} port {client_host['port']}"


def _way(reached_by: Mapping[str, Any]) -> str:
    return f"ssh {reached_by['ssh']}" if "ssh" in reached_by else shlex.join(reached_by["command"])


def _network(study: Mapping[str, Any], runs: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return a row a cell: what went to the server and from it in the windows, the mean over the runs."""
    names = [name for name, _ in COLUMNS]
    ok = runs[(runs["outcome"] == "ok") & (runs["variant"] != AA)].astype(dict.fromkeys(names, float))
    means = ok.groupby(list(CELL))[names].mean()
    cells = [
        (variant, workload, clients)
        for variant in study["variants"]
        for workload in study["workloads"]
        for clients in study["clients"]
    ]
    return [
        (cell[0], cell[1], str(cell[2]), *(count(means.loc[cell, name] * factor) for name, factor in COLUMNS))
        for cell in cells
        if cell in means.index
    ]
