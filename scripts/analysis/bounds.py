"""What bound the pace of each cell: who used the CPUs in the window, and what that says about its speedup."""

from typing import Any

import numpy as np
import pandas as pd

from scripts.measure.warnings import THRESHOLDS, WarningLimit
from scripts.vocabulary import CELL
from scripts.wording import missing, percent

SERVER, CLIENT, WAITING = "server CPU", "load generator", "waiting"
FULL = WarningLimit(
    0.85,
    "the rest of a busy CPU's time goes to interrupts, kernel threads, the hypervisor and the gap before each wake-up; "
    "a CPU that idles longer does not set the pace",
)
USERS = ("server", "client", "other", "iowait", "steal")
NEEDED = ("capacity", "server_room", "client_room", "generator", *USERS)
COLUMNS = (
    *CELL, "n_runs", "n_measured", "n_server_cpus", "n_client_cpus", "n_shared_cpus", "virtualisation",
    *(f"{who}_share" for who in (*USERS, "idle")), "server_busy", "client_busy", "bound",
)  # fmt: skip


def table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return bounds.csv: one row per variant, workload and clients, over the ok runs whose CPU time is known.

    The shares are of the CPU capacity of the host in the windows and add up to 1: server and load generator by their
    processes' CPU time; other is what else the host used (kernel threads, interrupts, other programs; the two are
    counted in different ways, so that a share under 0 is taken for 0); iowait and steal by the kernel; idle is the
    rest. `server_busy` and `client_busy` are shares of what each could use: one CPU for each connection, up to the
    number of its CPUs. Both may exceed 1 a little, since servers have threads that serve no connection. `bound` is
    that of `bound`.
    """
    seconds = runs.assign(**_seconds(runs))
    ok = seconds[seconds["outcome"] == "ok"].dropna(subset=list(NEEDED))
    groups = ok.groupby(list(CELL))
    found = runs.groupby(list(CELL), sort=False).size().rename("n_runs").to_frame()
    found = found.join(groups.size().rename("n_measured")).fillna({"n_measured": 0}).astype({"n_measured": int})
    found = found.join(groups[["n_server_cpus", "n_client_cpus", "n_shared_cpus", "virtualisation"]].first())
    sums = groups[list(NEEDED)].sum().reindex(found.index)
    for who in USERS:
        found[f"{who}_share"] = sums[who] / sums["capacity"]
    found["idle_share"] = (1 - found[[f"{who}_share" for who in USERS]].sum(axis=1, skipna=False)).clip(lower=0)
    # Of this host, a load generator elsewhere takes what passes its words on.
    for who, used in (("server", "server"), ("client", "generator")):
        found[f"{who}_busy"] = sums[used] / sums[f"{who}_room"]
    found = found.reset_index()
    return found.assign(bound=[bound(row) for row in found.itertuples()])[list(COLUMNS)]


def _seconds(runs: pd.DataFrame) -> dict[str, pd.Series]:
    """Return CPU seconds by user, and the seconds the host, the server and the load generator could have used."""

    def used(who: str, *kinds: str) -> pd.Series:
        return sum(runs[f"{who}_{kind}_s"].astype(float) for kind in kinds)

    def room(who: str) -> pd.Series:
        cpus = np.minimum(runs[f"n_{who}_cpus"].astype(float), runs["clients"])
        return cpus * runs["duration_s"].astype(float)

    server, client = used("server", "user", "system"), used("client", "user", "system")
    return {
        "capacity": runs["cpus"].astype(float) * runs["duration_s"].astype(float),
        "server": server,
        "client": client,
        "generator": runs["generator_cpu_s"].astype(float),
        "other": (used("host", "user", "system", "irq") - server - client).clip(lower=0),
        "iowait": used("host", "iowait"),
        "steal": used("host", "steal"),
        "server_room": room("server"),
        "client_room": room("client"),
    }


def bound(row: Any) -> str | None:
    """Return who set the pace of a row of bounds.csv, None when it was not measured.

    Whoever is at least `FULL` busy, the load generator when it is the busier one: gains of the server are understated
    then. Where both share CPUs, their sum must reach `FULL`. Else waiting: for a disk, a lock, or each other.
    """
    if missing(row.server_busy) or missing(row.client_busy):
        return None
    busy = row.server_busy, row.client_busy
    if (sum(busy) if row.n_shared_cpus else max(busy)) < FULL.threshold:
        return WAITING
    return CLIENT if row.client_busy > row.server_busy else SERVER


def reason(row: Any) -> str:
    """Return the sentence on what bound the cell of a row of bounds.csv, and what its speedup therefore means."""
    used = f"server {percent(row.server_busy)}, load generator {percent(row.client_busy)} of the CPUs each could use"
    match row.bound:
        case "server CPU":
            return f"The server's CPUs set the pace ({used}): less CPU time per transaction gives more transactions."
        case "load generator":
            return f"The load generator set the pace ({used}): gains of the server are understated."
        case "waiting":
            return f"Neither set the pace ({used}): {_awaited(row)}"
    return "What bound it was not measured."


def _awaited(row: Any) -> str:
    if row.iowait_share > THRESHOLDS["iowait"].threshold:
        return f"CPUs idled {percent(row.iowait_share)} of the time while a disk worked."
    if row.clients > row.n_server_cpus:
        return "connections waited for locks, log flushes or wake-ups."
    turns = "with a CPU for each connection, server and load generator take turns"
    if missing(row.virtualisation):
        return f"{turns}, and the wake-up of idle CPUs counts with them."
    return (
        f"{turns}, and on a virtual machine ({row.virtualisation}) this measures mostly the wake-up of idle CPUs. A "
        "small gain here says little about the server."
    )
