"""A run whose load generator is in another network namespace: the server listens for it alone, its password is kept.

The distribution's servers, measured by the run's own code in this process, so that the test knows the password.
"""

import os
import tempfile
from pathlib import Path

import psutil
import pytest

from scripts.lib import json_record
from scripts.lib.host import machine_facts
from scripts.lib.host.entry import started_s
from scripts.lib.recipe_models import LoadRecipe, MadeFrom, RunRecipe, TablesRecipe, VariantRecipe
from scripts.measure.engine import by_turns, observe
from scripts.measure.engine.planned import RunContext
from scripts.measure.engine.setting import Phases, setting_of
from scripts.measure.loadgen import client_host
from tests.endtoend import namespaces
from tests.endtoend.ready_made import Ready
from tests.endtoend.watching import leftovers

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(namespaces.missing()), reason=namespaces.missing() or "-"),
]
SERVERS = {"mariadb-installed": "mariadb", "postgresql-installed": "postgresql"}
PROGRAMS = {"mariadbd", "postgres"}
PASSWORD = "a-password_that-would_be-seen"
OPTIONS = {"mariadb": {"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "16M"}, "postgresql": {}}
TABLES = TablesRecipe(tables=2, rows=1000)
# What the folders hold that a run has here and over there.
OURS = ("client.json", "scripts/measure/loadgen/client_agent.py")


@pytest.fixture(scope="module")
def away():
    with namespaces.away() as found:
        yield found


@pytest.fixture(scope="module", params=sorted(SERVERS))
def ready(request):
    """An installed server with two small tables."""
    with tempfile.TemporaryDirectory(prefix="two-hosts-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        made = Ready(request.param, Path(name))
        if said := made.fetch():
            pytest.skip(f"{request.param} is not installed: {said.splitlines()[-1]}")
        made.take()
        made.load()
        yield made


@pytest.fixture(scope="module")
def measured(ready, away):
    """The facts of one run, the listeners of the server while it ran, and where the password was seen."""
    cpus = {"server": str(min(os.sched_getaffinity(0))), "client": str(max(os.sched_getaffinity(0)))}
    family = SERVERS[ready.name]
    variant = VariantRecipe(
        server=ready.name, family=family, build="prebuilt", build_digest="-", options=OPTIONS[family]
    )
    load = LoadRecipe(
        recipe=1, campaign=1, script="oltp_read_write", tables=TABLES, dataset=MadeFrom(name="small", digest="-"),
        warmup_s=1, measure_s=3, client=away.client, placement=cpus,
    )  # fmt: skip
    context = RunContext(
        study="two-hosts", variant=ready.name, workload="oltp", clients=2, repetition=1, block="-", position=1,
        run_number=1, runs_total=1, log_statements=True,
    )  # fmt: skip
    files = (
        ready.identity,
        ready.folder / "set" / "dataset.json",
        ready.folder / "run.txt",
        ready.folder / "logs" / "run.log",
    )
    listened = set()
    with pytest.MonkeyPatch.context() as patch, namespaces.told_anywhere(PASSWORD) as seen:
        patch.setattr(client_host, "new_password", lambda: PASSWORD)
        real = observe.read_edge
        patch.setattr(observe, "read_edge", lambda *what: listened.update(listeners()) or real(*what))
        setting = setting_of(RunRecipe(variant=variant, load=load), context, *files, machine_facts.read_host())
        (measured_run,) = by_turns.runs_of_levels([setting], Phases(started_s()), None)
    facts = json_record.dump(measured_run.run)
    json_record.write(ready.folder / "run.json", facts)
    return facts, listened, seen, [folder for folder in leftovers() if any((folder / name).exists() for name in OURS)]


def listeners():
    """Return the addresses and ports that database servers of ours listen on."""
    known = {process.pid for process in psutil.process_iter() if process.name() in PROGRAMS}
    return {tuple(one.laddr) for one in psutil.net_connections("tcp") if one.status == "LISTEN" and one.pid in known}


def test_several_suites_have_another_host_at_once(away):
    with namespaces.away() as second:
        assert second.name != away.name
        assert second.here != away.here


def test_run_there_is_measured_like_any_other(measured):
    facts, *_ = measured
    assert (facts["outcome"], facts["reason"]) == ("ok", None)
    assert facts["window"]["duration_s"] == pytest.approx(3, abs=0.3)
    assert facts["window"]["tps"] > 0
    assert facts["counters"]["commits"]["after"] > facts["counters"]["commits"]["before"]
    assert facts["statements"]["total"] > 10


def test_server_listens_on_the_one_address_and_nowhere_else(measured, away):
    assert measured[1] == {(away.here, client_host.DEFAULT_PORT)}


def test_password_is_in_no_command_environment_log_or_record(ready, measured):
    assert measured[2] == []
    files = [path for path in ready.folder.rglob("*") if path.is_file()]
    assert {"run.json", "run.txt", "run.warmup.txt", "run.event.txt", "run.server.log"} <= {path.name for path in files}
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []


def test_both_hosts_and_the_way_between_them_are_in_the_record(measured, away):
    facts = measured[0]
    there = facts["client_host"]
    assert there["reached_by"] == {"command": away.client["command"]}
    assert there["host"]["boot_id"] == facts["host"]["boot_id"]
    assert there["cpus"] == [max(os.sched_getaffinity(0))]
    assert 0 < there["cpu"]["user_s"] + there["cpu"]["system_s"] <= 1.1 * there["cpu"]["duration_s"]
    sides = there["network"]
    assert (sides["server"]["interface"][:4], sides["client"]["interface"][:4]) == ("here", "away")
    for one, other in (("rx", "tx"), ("tx", "rx")):
        sent, came = sides["client"][f"{other}_packets_per_s"], sides["server"][f"{one}_packets_per_s"]
        assert came == pytest.approx(sent, rel=0.1)
        assert sides["server"][f"{one}_bytes_per_s"] > 20 * came
    # A statement and its answer are a packet each at least: sysbench's mixed load has twenty of them.
    assert sides["server"]["rx_packets_per_s"] > 15 * facts["window"]["tps"]


def test_nothing_is_left_of_either_side(measured):
    assert measured[3] == []
