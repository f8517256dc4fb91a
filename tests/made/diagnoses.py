"""Made-up records of diagnoses: a server that spends its time in three functions, waits, calls and syncs."""

import random
from collections import Counter
from typing import Any

from scripts.measure.engine import tracer
from tests.made.run import Asked, one_run

PROGRAM = "mariadbd"
HEAD = (("connection", ""), ("start_thread", "libc.so.6"), ("do_command", PROGRAM))
REPORTS = {"before": "INNODB MONITOR OUTPUT, early", "after": "INNODB MONITOR OUTPUT, late"}


def stacks(parse: int, search: int, write: int) -> Counter[tracer.Stack]:
    """Return so many samples of parsing, of searching and of writing in the kernel."""
    return Counter(
        {
            (*HEAD, ("parse", PROGRAM)): parse,
            (*HEAD, ("row_search.constprop.0", PROGRAM), ("memcmp", "libc.so.6")): search,
            (*HEAD, ("log_write", PROGRAM), ("pwrite64", "libc.so.6"), ("vfs_write", "kernel")): write,
        }
    )


def found(variant: str, tool: str) -> dict[str, Any]:
    """Return what a tool found in a variant; all but the baseline parse less."""
    plain = variant == "baseline"
    match tool:
        case "perf":
            return {
                **tracer.stack_facts(stacks(4000 if plain else 1000, 3000, 2000), "cpu-clock:ppp"),
                "command": ["perf"],
            }
        case "waits":
            log = {"who": "connections", "event": "wait/io/file/log", "count": 900.0, "seconds": 2.0}
            client = {
                "who": "connections",
                "event": "wait/io/socket/sql/client_connection",
                "count": 9e3,
                "seconds": 9.0,
            }
            own = {"who": "background", "event": "wait/synch/cond/idle", "count": 10.0, "seconds": 30.0}
            return {"samples": None, "waits": [own, client, log]}
        case "syscalls":
            return {"calls": [{"name": "futex", "calls": 5000, "errors": 50, "system_s": 0.2}], "command": ["strace"]}
    return {"syncs": {"fdatasync": {"duration_us": [400, 2000], "count": [95, 5]}}, "command": ["strace"]}


def diagnosed(place: dict[str, Any], tool: str) -> dict[str, Any]:
    """Return the record of a diagnosis at its place in the study (study, variant, workload, clients)."""
    names = [place[key] for key in ("study", "variant", "workload", "clients")]
    run = one_run(Asked(*names, 1, 0.0, 0.0, 0.0, 1_760_000_000.0), random.Random(1))
    run["commands"]["server"] = [f"/opt/bin/{PROGRAM}", *run["commands"]["server"][1:]]
    return {**run, "tool": tool, "diagnosis": found(place["variant"], tool), "engine_report": REPORTS}
