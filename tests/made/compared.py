"""Comparisons of a made-up study as frames."""

from scripts.analysis import comparison
from scripts.analysis import runs as analysis_runs
from tests.made import synthetic
from tests.made.run import records_of

PLAN = synthetic.Plan(workloads=("simple_select", "oltp"))


def frames(plan=PLAN, edit=None, span_s=1800):
    records = synthetic.runs(plan)
    for facts in records:
        if edit:
            edit(facts)
    runs, _ = analysis_runs.collect(synthetic.study(plan), records_of(records))
    pairs = comparison.pair_runs(runs, "baseline", span_s)
    compared = comparison.compare_pairs(pairs)
    floors = comparison.noise_floors(compared)
    return runs, compared, floors, comparison.cells(runs, compared, floors)


def of(table, variant="pgo", metric="tps", **more):
    chosen = (table["variant"] == variant) & (table["metric"] == metric)
    for column, value in more.items():
        chosen &= table[column] == value
    return table[chosen]
