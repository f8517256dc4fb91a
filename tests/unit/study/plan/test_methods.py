"""Which blocks are measured in slices, and why the others are not."""

import pytest

from scripts.lib.vocabulary import SLICES, TURNS
from scripts.study.plan.methods import Method, Methods
from tests.made.studies import SMALL, plan

KEY = ("oltp", 8)
MEMORY_MIB = 16000
OWN_LOOP = "function thread_run(thread_id)\nend\n"


def test_sysbench_scripts_and_ours_are_measured_in_slices():
    for key in (KEY, ("oltp", 2000), ("simple_select", 1)):
        assert method(plan(series=True), *key, memory_mib=96000) == Method(SLICES, "", 6)


def method(made, workload, clients, memory_mib=MEMORY_MIB):
    return Methods(made, memory_mib).of(workload, clients)


@pytest.mark.parametrize(
    ("edit", "key", "why"),
    [
        ({"together": 1}, KEY, "together: 1"),
        ({"client": {"ssh": "loadgen"}}, KEY, "the load generator runs on another host"),
        (
            {"workloads": {"paced": {"script": "oltp_read_only", "dataset": "sbtest", "options": {"rate": 10}}}},
            ("paced", 8),
            "the load has a rate of its own",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_block_that_no_gate_can_hold_is_measured_by_turns_and_says_why(edit, key, why):
    assert method(plan(**edit), *key) == Method(TURNS, why, 3)


def test_script_with_a_loop_of_its_own_is_measured_by_turns(tmp_path):
    (tmp_path / "own.lua").write_text(OWN_LOOP)
    script = str(tmp_path / "own.lua")
    made = plan(workloads={**SMALL["workloads"], "own": {"script": script, "dataset": "sbtest"}})
    assert method(made, "own", 8) == Method(TURNS, f"{script} has a loop of its own (thread_run)", 3)


@pytest.mark.parametrize(
    ("edit", "seconds"),
    [({}, 20), ({"turn_s": 60}, 60), ({"measure_s": 30}, 30), ({"together": 6}, None),
     ({"together": 1}, 20), ({"together": 1, "turn_s": 3}, 5), ({"restart": "never"}, None)],
    ids=str,
)  # fmt: skip
def test_windows_by_turns_of_blocks_planned_so_and_of_those_in_slices_that_may_go_so(edit, seconds):
    assert Methods(plan(**edit), MEMORY_MIB).turn_s(*KEY) == seconds


def test_no_more_servers_are_up_at_the_same_time_than_fit_into_memory():
    rows = {"datasets": {"sbtest": {"tables": 4, "rows": 10_000_000}}, "options": {"shared_buffers": "2GB"}}
    assert method(plan(**rows), *KEY).most_arms == 6
    assert method(plan(**rows), *KEY, memory_mib=9000) == Method(SLICES, "", 4)
    why = "3 servers at the same time do not fit into 5.9 GiB of memory"
    assert method(plan(**rows), *KEY, memory_mib=6000) == Method(TURNS, why, 3)


def test_no_more_servers_are_up_than_their_clients_may_be_processes():
    def found(processes):
        return Methods(plan(), 96000, processes).of("oltp", 100)

    assert found(100 + 6 * 200).most_arms == 6
    assert found(100 + 4 * 200 + 199) == Method(SLICES, "", 4)
    assert found(699) == Method(TURNS, "699 processes may run, too few for the clients of 3 servers", 3)


def test_a_pool_fills_with_data_only_and_clients_count():
    assert method(plan(options={"shared_buffers": "80GB"}), *KEY, memory_mib=4000).most_arms == 6
    assert method(plan(), "oltp", 900, memory_mib=4000).name == TURNS
