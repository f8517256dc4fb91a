"""Comparisons of a made-up study as frames."""

from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis import run_tables
from scripts.report.analysis.comparison import compare, terms_of
from tests.made import synthetic
from tests.made.run import records_of

PLAN = synthetic.Plan(workloads=("simple_select", "oltp"))


def compared(plan=PLAN, edit=None, **terms):
    records = synthetic.runs(plan)
    for facts in records:
        if edit:
            edit(facts)
    study = {**synthetic.study(plan), **terms}
    runs, _ = run_tables.collect(ResolvedStudy.of(study), records_of(records))
    return compare(runs, terms_of(ResolvedStudy.of(study)))


def of(table, variant="pgo", metric="tps", **more):
    chosen = (table["variant"] == variant) & (table["metric"] == metric)
    for column, value in more.items():
        chosen &= table[column] == value
    return table[chosen]
