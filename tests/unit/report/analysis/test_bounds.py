"""What set the pace of a cell: shares of the CPUs, the code, and the sentence."""

import pandas as pd
import pytest

from scripts.jobs.compare_variants import main
from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis import bounds, dictionary, run_tables, statement_times
from scripts.report.page.bounds_section import bound_sentence
from tests.made import synthetic
from tests.made.run import records_of

PLAN = synthetic.Plan(workloads=("oltp",), variants={"baseline": 0.0}, repetitions=2)
USED = {
    "cpus": 4, "server_user_s": 0.0, "server_system_s": 0.0, "client_user_s": 0.0, "client_system_s": 0.0,
    "host_user_s": 0.0, "host_system_s": 0.0, "host_irq_s": 0.0, "host_steal_s": 0.0, "host_iowait_s": 0.0,
    "host_idle_s": 0.0,
}  # fmt: skip


def bound_of(clients=8, server=(0, 1), client=(2, 3), machine="kvm", **cpu):
    """Return the only row of a study whose windows are 10 s; `cpu` holds seconds, host's user time all of it."""
    records = synthetic.runs(PLAN)
    for facts in records:
        busy_s = sum(seconds or 0.0 for name, seconds in cpu.items() if name.startswith(("server", "client")))
        facts["cpu"] = {**USED, "host_user_s": busy_s, **cpu}
        facts["window"]["duration_s"], facts["clients"] = 10.0, clients
        facts["placement"] = {"server_cpus": list(server), "client_cpus": list(client)}
        facts["host"]["virtualisation"] = machine
    runs = pd.DataFrame([run_tables.run_row(run) for run in records_of(records)])
    return next(bounds.table(runs).itertuples())


@pytest.mark.parametrize(
    ("bound", "told"),
    [
        ("server_cpu", {"server_user_s": 12.0, "server_system_s": 5.0, "client_user_s": 4.0}),
        ("waiting", {"server_user_s": 12.0, "server_system_s": 4.9, "client_user_s": 4.0}),
        ("load_generator", {"server_user_s": 15.0, "client_user_s": 17.0}),
        ("load_generator", {"server_user_s": 18.0, "client_user_s": 19.0}),
        ("server_cpu", {"server_user_s": 9.0, "clients": 1}),
        ("waiting", {"server_user_s": 6.0, "client_user_s": 3.0, "clients": 1}),
        ("server_cpu", {"server_user_s": 12.0, "client_user_s": 6.0, "server": (0, 1), "client": (0, 1)}),
        ("load_generator", {"server_user_s": 8.0, "client_user_s": 10.0, "server": (0, 1), "client": (0, 1)}),
    ],
)
def test_the_pace_is_set_by_who_is_busy_for_85_of_100_of_what_it_could_use(bound, told):
    assert bound_of(**told).bound == bound


def test_what_was_not_measured_bounds_nothing_and_says_so():
    row = bound_of(server_user_s=None, client_user_s=1.0, host_user_s=1.0)
    assert (row.bound, row.n_measured) == (None, 0)
    assert bound_sentence(row) == "What set the pace was not measured."


def test_the_shares_are_of_the_whole_hosts_time_and_add_up():
    row = bound_of(server_user_s=10.0, client_user_s=4.0, host_user_s=16.0, host_steal_s=2.0, host_iowait_s=1.0)
    shares = row.server_share, row.client_share, row.other_share, row.iowait_share, row.steal_share, row.idle_share
    assert shares == pytest.approx((0.25, 0.1, 0.05, 0.025, 0.05, 0.525))
    assert (row.server_busy, row.client_busy) == pytest.approx((0.5, 0.2))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("on a virtual machine (kvm) this measures mostly the time to wake idle CPUs", {"clients": 1}),
        ("take turns, and the time to wake idle CPUs counts as theirs", {"clients": 1, "machine": None}),
        ("waited for locks, log flushes or wake-ups", {"clients": 8}),
        ("idled 12.5 % of the time while a disk worked", {"clients": 8, "host_iowait_s": 5.0}),
        ("The server's CPUs set the pace (server 95.0 %", {"server_user_s": 19.0}),
        ("gains of the server are understated", {"client_user_s": 19.0}),
    ],
)
def test_the_sentence_says_what_the_speedup_means(said, told):
    spoken = bound_sentence(bound_of(**{"server_user_s": 2.0, **told}), with_shares=True).replace("\u202f", " ")
    assert said in spoken


def test_a_cell_of_failed_runs_has_its_row_and_no_bound(tmp_path):
    lost = frozenset(("pgo", "oltp", 8, repetition) for repetition in (1, 2))
    tree = synthetic.write_tree(synthetic.Plan(workloads=("oltp",), repetitions=2, failures=lost), tmp_path)
    runs, _ = run_tables.collect(
        ResolvedStudy.of(synthetic.study(PLAN) | {"variants": {"baseline": {}, "pgo": {}, "aa": {}}}), records(tree)
    )
    tree.tables.mkdir(parents=True)
    run_tables.write_csv(runs, tree.tables / "runs.csv")
    run_tables.write_csv(statement_times.executions([]), tree.tables / "executions.csv")
    tables = dictionary.files(tree.tables)
    main(tree.study, tables["runs"], tables["executions"], tables)
    found = run_tables.read_csv(tree.tables / "bounds.csv").set_index("variant")
    assert found.loc["pgo", ["n_runs", "n_measured"]].tolist() == [2, 0]
    assert found["bound"].isna().tolist() == [name == "pgo" for name in found.index]
    assert found.loc["baseline", "bound"] == "server_cpu"


def records(tree):
    return run_tables.read_records(path for path in map(type(tree.study), tree.runs_list.read_text().split()))
