"""A dataset loaded and a run measured on the distribution's own MariaDB server, by the entry scripts themselves."""

import os
import time

import pytest

from scripts.lib import json_record
from scripts.lib.host import workplace
from scripts.lib.vocabulary import CountedBy
from scripts.measure.engine.run_record import read
from scripts.measure.engine.warnings import THRESHOLDS
from tests.endtoend import installed_mariadb, recomputing
from tests.endtoend.installed_mariadb import MEASURE_S, Place, finish, release, start
from tests.endtoend.watching import PLACES, leftovers, processes, wait_until_gone, watched

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-"),
]
PROGRAMS = ["mariadbd", "sysbench"]
DOUBTS = {*THRESHOLDS, "not_measured"}


@pytest.fixture(scope="module")
def place():
    """The laid-out server and its dataset, in a folder that every user can enter."""
    before = leftovers()
    with Place.loaded("installed-mariadb-") as made:
        assert leftovers() == before
        yield made


@pytest.fixture(scope="module")
def measured(place):
    """The record of one run, and what was seen of it."""
    before = leftovers()
    with watched(PROGRAMS, PLACES) as seen:
        status, said = finish(place.run_command("measured"))
    assert status == 0, said
    return json_record.read(place.run("measured")), said, seen, leftovers() - before


def test_dataset_is_a_snapshot_with_its_tables(place):
    facts = json_record.read(place.dataset)
    assert (facts["tables"], facts["rows"], facts["server"]) == (2, 1000, installed_mariadb.NAME)
    assert facts["bytes"] > 2**20
    tables = [path.name for path in (place.folder / "set" / "snapshot" / "data" / "sbtest").glob("*.ibd")]
    assert sorted(tables) == ["sbtest1.ibd", "sbtest2.ibd"]


def test_run_went_well_and_was_measured_for_its_seconds(measured):
    facts, *_ = measured
    assert (facts["outcome"], facts["reason"]) == ("ok", None)
    assert facts["window"]["duration_s"] == pytest.approx(MEASURE_S, abs=0.3)
    assert facts["window"]["tps"] > 0
    assert facts["window"]["p50_ms"] <= facts["window"]["p95_ms"] <= facts["window"]["p99_ms"]
    assert len(facts["series"]["tps"]) in (MEASURE_S + 1, MEASURE_S + 2)


# The gate's window and that of sysbench's reports begin some hundredths of a second apart, more on a busy machine.
@pytest.mark.alone
def test_transactions_are_counted_by_the_gate_and_sysbench_prints_as_many(place, measured):
    facts, *_ = measured
    text = place.run("measured").with_suffix(".txt")
    assert facts["counted_by"] == CountedBy.GATE
    assert facts["window"]["tps"] == pytest.approx(recomputing.tps(text, MEASURE_S), rel=0.01)
    assert facts["window"]["p95_ms"] == pytest.approx(recomputing.counted_p95_ms(facts), rel=1e-6)


def test_cpu_time_of_server_and_client_was_read(measured):
    facts, *_ = measured
    cpu, duration_s = facts["cpu"], facts["window"]["duration_s"]
    assert 0 < cpu["server_user_s"] < duration_s * cpu["cpus"]
    assert 0 < cpu["client_user_s"] < duration_s * cpu["cpus"]
    assert cpu["host_user_s"] >= 0.9 * (cpu["server_user_s"] + cpu["client_user_s"])


def test_counters_of_the_server_moved(measured):
    counters = measured[0]["counters"]
    assert counters["commits"]["after"] > counters["commits"]["before"]
    assert counters["questions"]["after"] > counters["questions"]["before"]


def test_exact_commands_options_and_variables_are_kept(place, measured):
    facts, *_ = measured
    assert facts["commands"]["server"][0].endswith("/bin/mariadbd")
    assert facts["commands"]["warmup"] != facts["commands"]["measure"]
    assert all("--threads=2" in facts["commands"][name] for name in ("warmup", "measure"))
    assert "innodb_buffer_pool_size=64M" in facts["option_file"]
    variables = read(place.run("measured")).server_variables()
    assert variables["innodb_buffer_pool_size"] == str(64 * 2**20)
    assert variables["version"].startswith(release())
    assert variables["skip_networking"] == "ON"


def test_warnings_are_a_list_of_known_doubts(measured):
    facts, *_ = measured
    assert {warning["code"] for warning in facts["warnings"]} <= DOUBTS
    assert all(warning["text"] for warning in facts["warnings"])


def test_user_was_told_one_line(measured):
    lines = [line for line in measured[1].splitlines() if line.startswith("[run ")]
    assert len(lines) == 1
    assert lines[0].startswith("[run 1 of 1] ")
    assert " TPS, p95 " in lines[0]


def test_server_ran_as_whom_it_should_on_its_cpus(measured):
    facts, _, seen, _ = measured
    assert seen["mariadbd"].users == {workplace.server_identity().get("user", os.getuid())}
    assert tuple(facts["placement"]["server_cpus"]) in seen["mariadbd"].cpus


def test_nothing_is_left_of_server_clone_and_sockets(measured):
    assert wait_until_gone(PROGRAMS, PLACES) == []
    assert measured[3] == set()


def started_run(place, name):
    """Start a run and return it with its server once the load has begun."""
    text = place.run(name).with_suffix(".txt")
    process = start(place.run_command(name))
    deadline_s = time.monotonic() + 60
    while not (text.exists() and text.stat().st_size and (servers := processes("mariadbd", PLACES))):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    return process, servers[0]


def test_death_of_the_server_under_load_is_a_result(place):
    before = leftovers()
    process, server = started_run(place, "died")
    server.kill()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    facts = json_record.read(place.run("died"))
    assert facts["outcome"] == "failed"
    assert facts["reason"]
    assert facts.get("window") is None
    assert "FAILED" in said
    assert leftovers() == before


def test_interrupted_run_writes_nothing_and_leaves_nothing(place):
    before = leftovers()
    process, _ = started_run(place, "interrupted")
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 128 + 15
    assert not place.run("interrupted").exists()
    assert wait_until_gone(PROGRAMS, PLACES) == []
    assert leftovers() == before


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"innodb_bufer_pool_size": "64M"}, "unknown variable 'innodb_bufer_pool_size=64M'"),
        (
            {"max_connections": "many"},
            "options.max_connections: 'many', but the server reports: option 'max_connections': ",
        ),
        ({"innodb_thread_concurrency": 4}, "'innodb-thread-concurrency' was removed"),
    ],
)
def test_run_with_an_option_the_server_lacks_fails_and_names_it(place, option, why):
    before = leftovers()
    status, said = finish(place.run_command("wrong", variant=place.with_options(**option)))
    facts = json_record.read(place.run("wrong"))
    assert (status, facts["outcome"], facts.get("window")) == (0, "failed", None)
    assert why in facts["reason"].splitlines()[0]
    assert f"FAILED, {facts['reason'].splitlines()[0]}" in said
    assert str(place.log_of("wrong").with_suffix(".server.log")) in facts["reason"]
    assert leftovers() == before
