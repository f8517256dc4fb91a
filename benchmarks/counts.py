"""Compare the gate's counts with what sysbench prints of the same window, on scripts that print nothing of their own.

`python -m benchmarks.counts`: on the installed PostgreSQL; writes counts.csv with date and CPU.
"""

import argparse
import csv
import datetime
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts.lib.host import machine_facts
from scripts.lib.recipe_models import TablesRecipe
from scripts.measure.loadgen import gated, lua, output, run_sysbench, sysbench
from scripts.measure.servers.server import Server, running
from tests.endtoend.installed import initialised

WINDOW_S, MEASURED_S, CLIENTS = 15, 18, 4
LIMIT = 0.005
TABLE = Path(__file__).with_name("counts.csv")
TPCC_LIKE = Path(__file__).parents[1] / "tests" / "data" / "tpcc_like" / "tpcc_like.lua"
SCRIPTS = {
    "oltp_point_select": ("oltp_point_select", {}),
    "oltp_read_write": ("oltp_read_write", {}),
    "tpcc_like": (str(TPCC_LIKE), {"scale": 10}),
}


@dataclass(frozen=True)
class Row:
    """One window of one script, by both counts."""

    date: str
    cpu: str
    script: str
    clients: int
    window_s: float
    gate_transactions: int
    gate_tps: float
    printed_tps: float
    ratio: float
    gate_total: int
    printed_total: int
    gate_p95_ms: float
    printed_p95_ms: float


def compared(server: Server, name: str, folder: Path) -> Row:
    """Measure a script once; each report of sysbench notes what the gate has counted at its arrival."""
    script, options = SCRIPTS[name]
    generator, flags = sysbench.read_capabilities(), server.family.sysbench_flags(server.sockets)
    sizes = (None, None) if options else (2, 10_000)
    text, seen = folder / f"{name}.txt", []
    tables = {"script": script, "options": options} if options else {"script": script, "tables": 2, "rows": 10_000}
    run_sysbench.fill(TablesRecipe(**tables), flags, 2, folder / f"{name}.load.txt")
    call = sysbench.measuring_call(generator, script, flags, *sizes, options, CLIENTS, MEASURED_S, seed=1)
    follow = run_sysbench.follow
    run_sysbench.follow = lambda process, log, _: follow(
        process, log, lambda moment: seen.append((moment, load.gate.completed))
    )
    try:
        with gated.connected([call], text) as load:
            load.slice(MEASURED_S, 0.0, 60)
            gate_p95_ms = output.percentile(output.Histogram(*map(tuple, load.gate.latencies())), 0.95)
            load.end()
    finally:
        run_sysbench.follow = follow
    return _row(name, output.parse(text.read_text()), seen, load, gate_p95_ms)


def _row(name: str, printed: output.Output, seen: list, load: gated.GatedLoad, gate_p95_ms: float) -> Row:
    opened_s = load.gate.opened_s
    inside = [n for n, (moment, _) in enumerate(seen) if opened_s + 1 < moment.monotonic_s < opened_s + MEASURED_S]
    first, last = inside[0], inside[0] + WINDOW_S
    window = output.window(printed.reports, [moment.monotonic_s for moment, _ in seen], first, last)
    counted = seen[last][1] - seen[first][1]
    host, tps = machine_facts.read_host(), counted / window.duration_s
    return Row(
        datetime.date.today().isoformat(),
        host.cpu_model,
        name,
        CLIENTS,
        round(window.duration_s, 3),
        counted,
        round(tps, 2),
        round(window.tps, 2),
        round(tps / window.tps, 5),
        load.gate.completed,
        printed.totals.transactions,
        round(gate_p95_ms, 4),
        printed.latency.percentile_ms,
    )


def rows() -> Iterator[Row]:
    """Yield the row of each script, measured on a server of its own."""
    for name in SCRIPTS:
        with initialised(f"counts-{name.replace('_', '-')}-", "postgresql") as ready:
            log = ready.folder / "server.log"
            with running(ready.family, ready.install, ready.data, ready.options, log) as server:
                yield compared(server, name, ready.folder)
                server.stop(keep_data=False)


def main() -> int:
    """Measure, write the table, and return 1 when the counts of a window differ by more than the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=TABLE)
    # Jobs find the modules beside a script of the user's by this.
    os.environ.update(lua.job_environment([str(TPCC_LIKE)]))
    found = list(rows())
    with parser.parse_args().output.open("w", newline="") as file:
        table = csv.DictWriter(file, [*asdict(found[0])], lineterminator="\n")
        table.writeheader()
        table.writerows(map(asdict, found))
    for row in found:
        sys.stdout.write(f"{row.script}: gate {row.gate_tps} TPS, printed {row.printed_tps} TPS, ratio {row.ratio}\n")
    wrong = [row for row in found if abs(row.ratio - 1) > LIMIT or row.gate_total != row.printed_total]
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
