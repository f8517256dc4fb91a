"""Several sysbench processes as one load: how they are composed, and real ones that begin together."""

import os
import re
import shlex
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.lib.host import usage
from scripts.measure.engine import run_facts, warnings
from scripts.measure.engine.run_parts import Generators
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Setting
from scripts.measure.loadgen import client_host, run_sysbench
from scripts.measure.loadgen.output import SysbenchFailed, SysbenchMisused, window
from scripts.measure.loadgen.processes import MOST_CLIENTS, client_parts, named_commands, run_processes
from scripts.measure.loadgen.sysbench import SysbenchCall

# A load without a database: its clients connect after a delay, and an event takes ten milliseconds.
LOAD = """
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned int);")
sysbench.cmdline.options = { delay_ms = {"", 0}, broken = {"", false}, dies = {"", false} }
function thread_init()
   ffi.C.usleep(sysbench.opt.delay_ms * 1000)
   if sysbench.opt.broken then error("no such door") end
end
function event()
   ffi.C.usleep(10000)
   if sysbench.opt.dies then os.exit(3) end
end
"""


def test_clients_are_split_above_what_one_process_can_carry():
    cases = {1: [1], 1024: [1024], 1025: [513, 512], 2049: [683] * 3, 4096: [1024] * 4}
    assert {clients: client_parts(clients) for clients in cases} == cases
    assert all(
        sum(client_parts(clients)) == clients and max(client_parts(clients)) <= MOST_CLIENTS
        for clients in range(1, 4097, 13)
    )


@pytest.mark.parametrize(("there", "threads"), [(None, [834, 833, 833]), ("another host", [2500])])
def test_processes_of_one_load_draw_other_keys_and_a_client_host_has_one(there, threads, monkeypatch):
    told = []
    monkeypatch.setattr(client_host, "generator_of_commands", lambda *_: None)
    monkeypatch.setattr(run_sysbench, "call_of_load", lambda *given: told.append((given[-1], given[-3])))
    names = ("identity", "dataset", "text", "log", "generator", "cpus", "machine")
    recipe, context = SimpleNamespace(load=None), SimpleNamespace(clients=2500)
    Setting(recipe, context, **dict.fromkeys(names), remote=there).calls_by([], 5, seed=3)
    assert [clients for _, clients in told] == threads
    assert len({seed for seed, _ in told}) == len(threads)
    assert told[0][0] == 3


def test_commands_of_several_processes_have_names_of_their_own():
    call = SysbenchCall(("sysbench",), "cpu", (), clients=1, seconds=1)
    assert named_commands([call]) == {"measure": call.argv}
    assert list(named_commands([call] * 3)) == ["measure", "measure 2", "measure 3"]


@pytest.fixture
def load(tmp_path):
    """A function that gives the call of a process of the load."""
    if not shutil.which("sysbench"):
        pytest.skip("sysbench is not installed")
    (tmp_path / "load.lua").write_text(LOAD)

    def call(*options: str, clients: int = 2, seconds: int = 3) -> SysbenchCall:
        return SysbenchCall(("sysbench",), str(tmp_path / "load.lua"), options, clients, seconds)

    return call


def test_processes_begin_together_though_one_is_slow_to_connect(load, tmp_path):
    heard, log = [], tmp_path / "log.txt"

    def on_report(moment):
        heard.append((moment, usage.sample_usage(os.getpid(), *moment.pids).client))

    finished = run_processes([load(), load("--delay_ms=1500", clients=3)], log, timeout_s=60, on_report=on_report)
    assert (finished.processes, finished.output.clients) == (2, 5)
    assert [moment for moment, _ in heard] == list(finished.moments)
    assert len(finished.moments) == len(finished.output.reports) >= 2
    assert finished.apart_s < 1
    assert heard[0][1].processes == 2 * 2  # each sysbench has a keeper
    seen = window(finished.output.reports, [moment.monotonic_s for moment in finished.moments])
    assert 0 < seen.transactions <= finished.output.totals.transactions
    assert seen.tps == pytest.approx(500, rel=0.4)
    assert sum(finished.output.histogram.count) == finished.output.totals.transactions
    assert len(re.findall("Threads started!", log.read_text())) == 2
    assert run_facts.generators(finished) == Generators(2, round(finished.apart_s, 3))


def test_one_command_is_run_as_ever(load, tmp_path):
    finished = run_processes([load(seconds=2)], tmp_path / "log.txt", timeout_s=60)
    assert (finished.processes, finished.apart_s, run_facts.generators(finished)) == (1, 0.0, Generators())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (["--broken=on"], SysbenchFailed, "no such door"),
        (["--nosuch=1"], SysbenchMisused, "invalid option: --nosuch=1"),
        (["--dies=on"], SysbenchFailed, "ended with status 3"),
    ],
    ids=["cannot connect", "wrong option", "dies under load"],
)
def test_process_that_fails_ends_the_others_and_is_named(load, tmp_path, options, error, words):
    log, begin_s = tmp_path / "log.txt", time.monotonic()
    with pytest.raises(error, match=words) as caught:
        run_processes([load(seconds=2), load(*options, seconds=2)], log, timeout_s=60)
    assert time.monotonic() - begin_s < 20
    named = f"(command: {shlex.join(load(*options, seconds=2).argv)}; log: {log})"
    assert str(caught.value).splitlines()[-1] == named
    assert "sysbench" in log.read_text()


def test_process_that_never_connects_is_killed_in_time(load, tmp_path):
    with pytest.raises(SysbenchFailed, match=r"still running after 1\.5 s and was killed"):
        run_processes([load(), load("--delay_ms=60000")], tmp_path / "log.txt", timeout_s=1.5)


def test_caller_that_fails_leaves_no_process(load, tmp_path):
    pids = []

    def on_report(moment):
        pids.extend(moment.pids)
        raise RuntimeError("counters are gone")

    with pytest.raises(RuntimeError, match="counters are gone"):
        run_processes([load(), load()], tmp_path / "log.txt", timeout_s=60, on_report=on_report)
    assert len(pids) == 2
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize(("apart_s", "codes"), [(0.1, []), (0.7, ["apart"])])
def test_reports_that_are_not_of_one_second_are_doubted(apart_s, codes):
    found = warnings.warnings_of(Run.of({"generators": {"processes": 4, "apart_s": apart_s}}))
    assert [warning.code for warning in found if warning.code != "not_measured"] == codes
