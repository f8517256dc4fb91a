"""One real block per family: two servers of one program up at the same time, measured slice by slice."""

import subprocess

import pytest

from scripts.lib import json_record
from scripts.lib.host import priority
from scripts.report.page.slices_section import STOPPING_S
from tests.endtoend import installed_mariadb
from tests.endtoend.installed_mariadb import MEASURE_S, Place, finish
from tests.endtoend.watching import leftovers

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-"),
]
ARMS = ("baseline", "aa")
POINT_SELECT = {"script": "oltp_point_select", "options": {}}
PAGE_BYTES = 16384
CLIENT_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2"}


@pytest.fixture(scope="module")
def place():
    with Place.loaded("side-by-side-", client_environment=CLIENT_ENVIRONMENT) as made:
        yield made


@pytest.fixture(scope="module")
def measured(place):
    """The record of the block, and those of its arms by name."""
    before = leftovers()
    status, said = finish(place.run_command("block", "slices", ARMS, load={"series": True, "stop": "slow"}))
    assert status == 0, said
    assert leftovers() == before
    return json_record.read(place.run("block", "block")), {
        arm: json_record.read(place.run("block", arm)) for arm in ARMS
    }


def test_both_arms_went_well_and_are_listed_with_the_checksums_of_their_files(place, measured):
    block, arms = measured
    assert {name: facts["outcome"] for name, facts in arms.items()} == dict.fromkeys(ARMS, "ok"), arms
    for name, listed in block["arms"].items():
        for ending, sha256 in listed["sha256"].items():
            assert json_record.file_sha256(place.run("block", name).with_suffix(f".{ending}")) == sha256


def test_sysbench_had_the_environment_of_the_study(measured):
    for facts in measured[1].values():
        assert (facts["client_environment"], facts["client_preloaded"]) == (CLIENT_ENVIRONMENT, {})


def test_both_arms_had_asynchronous_io_and_it_is_recorded(measured):
    one, other = (facts["supplies"] for facts in measured[1].values())
    assert one == other
    assert one["aio_contexts"] + one["io_urings"] > 0
    assert one["huge_pages_mib"] == 0


def test_servers_and_clients_went_before_other_programs_where_they_may(measured):
    lowered = subprocess.run(["nice", "-n", str(priority.NICE), "nice"], stdout=subprocess.PIPE, check=True).stdout
    own = priority.nice()
    assert {facts["nice"] for facts in measured[1].values()} == {own if own != priority.ORDINARY else int(lowered)}


def test_each_arm_had_each_place_equally_often(measured):
    block, arms = measured
    assert sorted(block["starts"]) == sorted(ARMS)
    counts = set(block["places"].values())
    assert max(counts) - min(counts) <= 1
    assert set(block["predecessors"]) == {"baseline before aa", "aa before baseline"}
    assert max(block["predecessors"].values()) - min(block["predecessors"].values()) <= 1
    for facts in arms.values():
        assert facts["sliced"]["rounds"] == len(facts["sliced"]["places"]) == len(facts["series"]["tps"]) >= 6


def test_open_time_is_what_the_study_asks_for_and_waiting_servers_used_no_cpu(measured):
    for facts in measured[1].values():
        assert facts["sliced"]["open_s"] >= MEASURE_S * 0.95
        assert facts["sliced"]["waiting_cpu_s"] <= STOPPING_S * facts["sliced"]["rounds"]
        assert facts["window"]["duration_s"] == pytest.approx(facts["sliced"]["open_s"])


def test_data_that_fit_are_in_the_pool_before_warm_up(measured):
    for facts in measured[1].values():
        pool, misses = facts["pool"], facts["counters"]["buffer_pool_misses"]
        assert pool["fill_s"] > 0
        assert pool["table_bytes"] * 0.7 < pool["used_bytes"] < pool["pool_bytes"]
        # Pages of the system tablespace and of undo logs may be read once; of the table's own, all would be.
        assert misses["after"] - misses["before"] < 0.1 * pool["table_bytes"] / PAGE_BYTES


def test_figures_fit_together(measured):
    for facts in measured[1].values():
        window, cpu = facts["window"], facts["cpu"]
        assert sum(facts["histogram"]["count"]) <= window["transactions"]
        assert window["tps"] == pytest.approx(facts["sliced"]["tps_trimmed"], rel=0.5)
        assert window["p50_ms"] <= window["p95_ms"] <= window["p99_ms"]
        assert 0 < cpu["server_user_s"] + cpu["server_system_s"] <= facts["sliced"]["open_s"] * cpu["cpus"]
        assert (window["errors"], window["reconnects"]) == (0, 0)
        assert "clock" not in {warning["code"] for warning in facts["warnings"]}


def test_servers_own_counters_lie_at_both_edges_of_the_rounds(measured):
    for facts in measured[1].values():
        changed = [name for name, edges in facts["counters"].items() if edges["after"] > edges["before"]]
        assert changed, facts["counters"]
        assert facts["files"]["before"].keys() == facts["files"]["after"].keys()


def test_slow_stops_follow_one_another(measured):
    took_s = [facts["slow_stop_s"] for facts in measured[1].values()]
    assert min(took_s) > 0
    assert sum(took_s) <= measured[0]["phases_s"]["stop"]


def test_counters_are_read_once_per_second_of_each_servers_own_open_time(measured):
    for facts in measured[1].values():
        read, open_s = facts["counter_series"], facts["sliced"]["open_s"]
        assert len(read["second"]) == int(open_s)
        assert all(number <= second < number + 1 for number, second in enumerate(read["second"], start=1))
        grown = [name for name in facts["counters"] if name in read and read[name][-1] > read[name][0]]
        assert grown
        for name in ("context_switches", "interrupts", "data_fsyncs"):
            assert read[name] == sorted(read[name]), name
            assert read[name][-1] > read[name][0] > 0, name


def test_more_clients_than_one_sysbench_can_have_are_held_by_one_gate(place):
    status, said = finish(place.run_command("many", "slices", ARMS, context={"clients": 1030}, load=POINT_SELECT))
    assert status == 0, said
    for arm in ARMS:
        facts = json_record.read(place.run("many", arm))
        assert {"measure", "measure 2"} <= facts["commands"].keys()
        assert facts["window"]["errors"] == 0
        assert facts["sliced"]["waiting_cpu_s"] <= STOPPING_S * facts["sliced"]["rounds"]


# Each transaction meets one error that is ignored, and then asks once.
ERRING = """
local fails = false
function thread_init() connection = sysbench.sql.driver():connect() end
function event()
   fails = not fails
   if fails then connection:query("SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213") end
   connection:query("SELECT 1")
end
"""


def test_errors_and_queries_are_those_of_the_rounds_and_not_of_the_warm_up(place):
    script = place.folder / "erring.lua"
    script.write_text(ERRING)
    status, said = finish(place.run_command("erring", "slices", ARMS, load={"script": str(script), "options": {}}))
    assert status == 0, said
    for arm in ARMS:
        facts = json_record.read(place.run("erring", arm))
        assert facts["outcome"] == "ok", facts["reason"]
        window = facts["window"]
        assert window["errors"] == window["transactions"] > 0
        assert (window["reconnects"], window["queries"] >= window["transactions"]) == (0, True)
