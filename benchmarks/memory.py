"""What a connection takes: memory of a server's process or processes, and of sysbench, by the number of clients.

Runs a load that reads on the installed servers and on binaries of MySQL's vendor with few and with many clients, and
reads the proportional set sizes (proc_pid_smaps, Pss) of both while it runs. Writes memory.csv. The plan's estimate
(scripts/study/plan/memory_room.py) must not be below what is found here.
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import psutil

from benchmarks.side_by_side import measured_on
from scripts.measure.loadgen import sysbench
from scripts.measure.servers import data_directory
from scripts.measure.servers import options as servers_options
from scripts.measure.servers.server import running
from scripts.study.plan import memory_room
from tests.endtoend.ready_made import OPTIONS, TABLES, Ready

OUT = Path(__file__).with_suffix(".csv")
SERVERS = ("postgresql-installed", "mariadb-installed", "mysql-5.6.14-binary", "mysql-8.0.33-binary")
CLIENTS = (1, 500)
POOL_MIB = 64
RUN_S, READ_AFTER_S = 10, 6


def pss_mib(process: psutil.Process) -> float:
    """Return the proportional set size of a process and its descendants in MiB. Raises NoSuchProcess."""
    total = process.memory_full_info().pss
    for one in process.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # PostgreSQL's helpers come and go
            total += one.memory_full_info().pss
    return total / memory_room.MIB


def found(ready: Ready, clients: int) -> dict[str, float]:
    """Return the MiB of a server and of sysbench under so many clients, the server's pool taken off."""
    own = OPTIONS if ready.entry["family"] != "postgresql" else {"shared_buffers": f"{POOL_MIB}MB"}
    options = servers_options.server_options(ready.family, own)
    log = ready.folder / "server.log"
    with (
        data_directory.cloned(ready.folder / "set" / "snapshot", None) as data,
        running(ready.family, ready.install, data, options, log) as server,
    ):
        flags, known = ready.family.sysbench_flags(server.sockets), sysbench.read_capabilities()
        sizes = TABLES.values()
        call = sysbench.measuring_call(known, "oltp_read_only", flags, *sizes, {}, clients, RUN_S, seed=1)
        with subprocess.Popen(call.argv, stdout=subprocess.DEVNULL) as load:
            time.sleep(READ_AFTER_S)
            sizes = pss_mib(psutil.Process(server.process.pid)), pss_mib(psutil.Process(load.pid))
        if load.returncode != 0:
            raise RuntimeError(f"{' '.join(call.argv)}: ended with status {load.returncode}, expected 0")
        server.stop(keep_data=False)
    return {"server": ready.name, "clients": clients, "server_mib": sizes[0], "sysbench_mib": sizes[1]}


def per_client(rows: pd.DataFrame, name: str) -> dict[str, float]:
    """Return the MiB of one more client at a server and in sysbench, and what the plan counts for both."""
    (few, many), family = rows.sort_values("clients").to_dict("records"), Ready(name, Path()).family
    more = many["clients"] - few["clients"]
    return {
        "server": name,
        "base_mib": few["server_mib"],
        "planned_base_mib": family.BASE_MIB + POOL_MIB,
        "connection_mib": (many["server_mib"] - few["server_mib"]) / more,
        "planned_connection_mib": family.CONNECTION_MIB,
        "client_mib": (many["sysbench_mib"] - few["sysbench_mib"]) / more,
        "planned_client_mib": memory_room.CLIENT_MIB,
    }


def measured(name: str) -> dict[str, float]:
    """Fetch, load and run a server; returns its row."""
    with tempfile.TemporaryDirectory(prefix="bench-memory-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        ready = Ready(name, Path(folder))
        if said := ready.fetch():
            raise RuntimeError(f"{name}: cannot be had: {said}")
        ready.take()
        ready.load()
        return per_client(pd.DataFrame([found(ready, clients) for clients in CLIENTS]), name)


def main(out: Path) -> int:
    """Measure, write the table and print it; returns 1 where the plan counts less than was found."""
    table = pd.DataFrame([measured(name) for name in SERVERS]).assign(**measured_on())
    table.to_csv(out, index=False, float_format="%.4g")
    print(table.to_string(index=False))
    kinds = ("base_mib", "connection_mib", "client_mib")
    return int(any((table[kind] > table[f"planned_{kind}"]).any() for kind in kinds))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="where the table is written")
    sys.exit(main(**vars(parser.parse_args())))
