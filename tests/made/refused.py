"""A made-up study with a variant that has a misspelt option: each of its servers ends at once for the same reason."""

from typing import Any

from scripts.lib.vocabulary import FailureKind
from tests.made import synthetic
from tests.made.run import failed

PLAN = synthetic.Plan(
    variants={"baseline": 0.0, "pgo": 1.0, "typo": 0.0, "aa": 0.0}, workloads=("simple_select", "oltp")
)
CAUSE = (
    'unrecognized configuration parameter "work_memm" in file "/var/tmp/pgobench-0/data/{folder}/server.cnf" line 11'
)


def reason(number: int) -> str:
    """Return what the record of one failed run says: folder, time, process id and log are those of the run."""
    folder = f"pgobench-{number * 0x9E3779B1 % 2**32:08x}"
    data, log = f"/var/tmp/pgobench-0/data/{folder}", f"{number * 0x9E3779B97F4A % 2**48:012x}.typo.server.log"
    stamp = f"2026-11-28 16:{number:02}:09.{number * 67 % 1000:03} GMT [{31000 + number * 17}]"
    return "\n".join(
        [
            f"postgres did not start: it ended with status 1: {CAUSE.format(folder=folder)}; its last lines "
            f"(log: results/logs/measure_block/made_up/oltp/8/{number}/{log}):",
            f"{stamp} LOG:  {CAUSE.format(folder=folder)}",
            f'{stamp} FATAL:  configuration file "{data}/server.cnf" contains errors',
        ]
    )


def runs(kind: FailureKind | None = FailureKind.OPTION, plan: synthetic.Plan = PLAN) -> list[dict[str, Any]]:
    """Return the facts of all runs; without a `kind` those that a release before it wrote."""
    made = []
    for number, facts in enumerate(synthetic.runs(plan), start=1):
        if facts["variant"] == "typo":
            known = {"kind": kind, "cause": CAUSE.format(folder=f"pgobench-{number:08x}")}
            facts = {**failed(facts), "reason": reason(number), **({"failure": known} if kind else {})}
        made.append(facts)
    return made
