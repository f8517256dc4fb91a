"""The gate with a real sysbench on a script without a database: who waits, what is counted, what goes wrong."""

import re
import shutil
import stat
import time
from pathlib import Path

import numpy as np
import pytest

from scripts.measure.loadgen import gated, slice_gate
from scripts.measure.loadgen.output import SysbenchFailed, parse
from scripts.measure.loadgen.sysbench import SysbenchCall

# Slices are wall time: another test on the same CPUs would leave a client without any.
pytestmark = [
    pytest.mark.real,
    pytest.mark.alone,
    pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed"),
]
SPIN = "function event() local x = 0; for i = 1, 20000 do x = x + i end end\n"
CLIENTS = 8


def call(script, clients=CLIENTS):
    return SysbenchCall(("sysbench",), str(script), (), clients=clients, seconds=9)


@pytest.fixture
def load(tmp_path):
    """A function that has a gated sysbench on a script's text."""

    def started(text=SPIN, clients=CLIENTS):
        script = tmp_path / "script.lua"
        script.write_text(text)
        calls = [call(script, part) for part in (clients if isinstance(clients, list) else [clients])]
        return gated.gated(calls, tmp_path, tmp_path / "log.txt")

    return started


def printed(tmp_path):
    """Return the transactions that sysbench printed."""
    return parse((tmp_path / "log.txt").read_text()).totals.transactions


def test_clients_wait_at_a_closed_gate_and_all_counts_are_those_of_sysbench(load, tmp_path):
    with load() as held:
        assert held.gate.completed == 0
        slices = [held.slice(0.05, 0.005, within_s=10) for _ in range(5)]
        between = held.gate.completed
        assert held.gate.completed == between  # nobody works while the gate is closed
        held.end()
        assert printed(tmp_path) == held.gate.events == held.gate.completed == held.gate.positions().sum()
        assert held.gate.sent == slice_gate.Sent(0, 0, 0)
    counted = sum(one.transactions for one in slices)
    assert counted == held.gate.histogram().sum() < held.gate.completed
    assert all(0 <= one.clients <= CLIENTS for one in slices)
    assert any(one.transactions for one in slices)


def test_a_client_without_a_slot_of_its_own_writes_nowhere(load, monkeypatch):
    own = slice_gate.SliceGate.environment
    monkeypatch.setattr(slice_gate.SliceGate, "environment", lambda gate, script, _: own(gate, script, 1))
    with pytest.raises(SysbenchFailed, match="no slot 1 in the"), load(clients=1):
        pass


def test_rate_adds_up_clients_each_over_its_own_time():
    busy_ns = np.array([10, 4, 0, 0]) * 10**8
    assert slice_gate.rates(np.array([10, 20, 0, 0]), busy_ns) == (30, pytest.approx(10 / 1.0 + 20 / 0.4), 2)


def test_latency_has_steps_of_half_a_percent(load):
    sleep = (
        'local ffi = require("ffi"); ffi.cdef("int usleep(unsigned int us);"); function event() ffi.C.usleep(5000) end'
    )
    with load(sleep) as held:
        held.slice(0.2, 0, within_s=10)
        histogram = held.gate.histogram()
        held.end()
    ends_us = slice_gate.BUCKET_STEP ** np.arange(1, slice_gate.BUCKETS + 1)
    shortest_us = ends_us[np.flatnonzero(histogram)[0]]
    assert 5000 <= shortest_us < 5600  # usleep is never early; the scheduler adds at most some hundred us to the best


def test_file_is_nobody_elses_as_large_as_stated_and_gone_at_the_end(tmp_path):
    with slice_gate.made(tmp_path, clients=5) as gate:
        status = gate.path.stat()
        assert stat.S_IMODE(status.st_mode) == 0o600
        assert status.st_size == slice_gate.file_bytes(5)
        assert slice_gate.SLOT_BYTES % slice_gate.CACHE_LINE_BYTES == 0
    assert list(tmp_path.iterdir()) == []


def test_several_processes_share_a_gate_and_their_counts_add_up(load, tmp_path):
    with load(clients=[3, 2]) as held:
        counts = [held.slice(0.05, 0, within_s=10) for _ in range(5)]
        assert len(held.pids) == 2
        assert all(len(one.counted) == 5 for one in counts)
        held.end()
    assert np.all(np.sum([one.counted for one in counts], axis=0) > 0)  # each client has a slot of its own
    text = (tmp_path / "log.txt").read_text()
    assert text.count("Number of threads: ") == 2
    parts = [part for part in re.split("^(?=sysbench 1)", text, flags=re.MULTILINE) if part.startswith("sysbench 1")]
    assert [parse(part).clients for part in parts] == [3, 2]
    assert sum(parse(part).totals.transactions for part in parts) == held.gate.completed


def test_script_with_a_loop_of_its_own_is_refused_in_words(load):
    with (
        pytest.raises(SysbenchFailed, match=r"script\.lua: has a thread_run of its own"),
        load(SPIN + "function thread_run(id) while true do event() end end\n"),
    ):
        pass


def test_client_that_never_comes_back_is_a_named_failure(load):
    with load("function event() while true do end end\n", clients=1) as held:
        with pytest.raises(SysbenchFailed, match=r"1 of 1 clients did not finish their transaction within 0\.3 s"):
            held.slice(0.05, 0, within_s=0.3)


def test_error_of_a_transaction_ends_the_load_with_the_words_of_the_script(load):
    with load('function event() error("no such table: sbtest9") end\n') as held:
        with pytest.raises(SysbenchFailed, match=r"(?s)no such table: sbtest9"):
            held.slice(0.05, 0, within_s=5)


def test_one_client_that_gives_up_is_not_waited_for(load):
    with load('function event(id) if id == 0 then error("row 7 is gone") end end\n') as held:
        with pytest.raises(SysbenchFailed, match=r"(?s)(1 of 8 clients gave up|the load ended).*row 7 is gone"):
            held.slice(0.05, 0, within_s=600)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_output_that_cannot_be_written_is_the_error_of_the_disk(load, tmp_path):
    (tmp_path / "log.txt").symlink_to("/dev/full")
    with load() as held, pytest.raises(OSError, match="No space left on device"):
        held.slice(0.05, 0, within_s=10)
        held.end()


def test_restarted_events_are_one_transaction(load, tmp_path):
    text = """
calls = 0
function event()
   calls = calls + 1
   if calls % 2 == 1 then error({errcode = sysbench.error.RESTART_EVENT}) end
end
"""
    with load(text, clients=2) as held:
        held.slice(0.02, 0, within_s=5)
        held.end()
    assert printed(tmp_path) == held.gate.completed > 0


LIES = """
function thread_init() print("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)") end
function thread_done() print("    transactions:                        7      (1.00 per sec.)") end
"""
REPORTS = """
sysbench.hooks.report_intermediate = sysbench.report_csv
sysbench.hooks.report_cumulative = sysbench.report_json
"""


@pytest.mark.parametrize("text", [LIES, REPORTS], ids=["prints totals", "has reports of its own"])
def test_what_a_script_prints_does_not_touch_the_counts(load, text):
    with load(SPIN + text, clients=2) as held:
        counts = held.slice(0.05, 0, within_s=10)
        held.end()
    assert held.gate.events == held.gate.completed == counts.completed > 0


def test_counts_that_differ_are_no_result(load):
    with load(clients=2) as held:
        held.slice(0.05, 0, within_s=10)
        held.gate._slots["completed"][0] += 1
        with pytest.raises(gated.CountsDisagree, match=r"the gate counted \d+ transactions, sysbench \d+; expected"):
            held.end()


def test_each_full_second_is_told_with_the_counts_of_sysbench_up_to_it(load):
    text = 'ffi.cdef("int usleep(unsigned int us);"); function event() ffi.C.usleep(5000) end'
    told = []
    with load(f'ffi = require("ffi"); {text}', clients=2) as held:
        held.slice(2, 0, 10, at_second=lambda second: told.append((second, held.gate.completed, held.gate.events)))
        held.end()
    assert [second for second, _, _ in told] == [1, 2]
    for _, completed, events in told:
        assert 0.7 * completed < events <= completed
    assert told[0][1] < told[1][1]


@pytest.mark.parametrize("left", ['io.popen("exec sleep 987")', 'os.execute("setsid sleep 987 &")'])
def test_programs_that_a_script_started_do_not_hold_its_end(load, left):
    begin_s = time.monotonic()
    with load(f"function thread_init() held = {left} end\n" + SPIN, clients=2) as held:
        held.slice(0.05, 0, within_s=10)
        held.end()
    assert time.monotonic() - begin_s < gated.ENDED_WITHIN_S
