"""What set the pace of each cell: who used the CPUs in the measured windows, as bounds.csv."""

from enum import StrEnum

import numpy as np
import pandas as pd

from scripts.lib.vocabulary import CELL
from scripts.lib.wording import missing
from scripts.measure.engine.warnings import WarningLimit
from scripts.report.analysis.table_columns import BOUNDS


class PaceSetter(StrEnum):
    """What set the pace of a cell; the table holds these codes."""

    SERVER_CPU = "server_cpu"
    LOAD_GENERATOR = "load_generator"
    WAITING = "waiting"


FULL_SHARE = 0.85
FULL = WarningLimit(
    FULL_SHARE,
    "the rest of a busy CPU's time goes to interrupts, kernel threads, the hypervisor and the gap before each wake-up; "
    "a CPU that idles longer does not set the pace",
)
USERS = ("server", "client", "other", "iowait", "steal")
NEEDED = ("capacity", "server_room", "client_room", "generator", *USERS)


def table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return bounds.csv: one row per variant, workload and clients, over the ok runs whose CPU time is known.

    The shares are of the CPU capacity of the host in the windows and add up to 1. Those of server and load generator
    come from their processes' CPU time. `other` is the remaining use of the host: kernel threads, interrupts, other
    programs; as the kernel counts processes and hosts differently, a negative remainder is set to 0. `iowait` and
    `steal` come from the kernel, `idle` is the rest. `server_busy` and `client_busy` are shares of what each could
    use: one CPU per connection, up to the number of its CPUs. Both may exceed 1 a little, since servers have threads
    that serve no connection. `bound` is the result of the function `bound`.
    """
    seconds = runs.assign(**_seconds(runs))
    ok = seconds[seconds["outcome"] == "ok"].dropna(subset=list(NEEDED))
    groups = ok.groupby(list(CELL))
    cells = runs.groupby(list(CELL), sort=False).size().rename("n_runs").to_frame()
    cells = cells.join(groups.size().rename("n_measured")).fillna({"n_measured": 0}).astype({"n_measured": int})
    cells = cells.join(groups[["n_server_cpus", "n_client_cpus", "n_shared_cpus", "virtualisation"]].first())
    sums = groups[list(NEEDED)].sum().reindex(cells.index)
    for who in USERS:
        cells[f"{who}_share"] = sums[who] / sums["capacity"]
    cells["idle_share"] = (1 - cells[[f"{who}_share" for who in USERS]].sum(axis=1, skipna=False)).clip(lower=0)
    # With a load generator on another host, `client` is the process here that relays its output.
    for who, used in (("server", "server"), ("client", "generator")):
        cells[f"{who}_busy"] = sums[used] / sums[f"{who}_room"]
    busy = cells[["server_busy", "client_busy", "n_shared_cpus"]].itertuples(index=False, name=None)
    return cells.assign(bound=[bound(*shares) for shares in busy]).reset_index()[BOUNDS.names]


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


def bound(server_busy: float, client_busy: float, n_shared_cpus: float) -> PaceSetter | None:
    """Return what set the pace of a cell, by columns of bounds.csv; None when it was not measured.

    It is the busier of server and load generator if that one is at least `FULL` busy; where both share CPUs, the sum
    must reach `FULL`. Otherwise connections waited: for a disk, a lock, or each other.
    """
    if missing(server_busy) or missing(client_busy):
        return None
    if (server_busy + client_busy if n_shared_cpus else max(server_busy, client_busy)) < FULL_SHARE:
        return PaceSetter.WAITING
    return PaceSetter.LOAD_GENERATOR if client_busy > server_busy else PaceSetter.SERVER_CPU
