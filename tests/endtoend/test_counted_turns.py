"""By turns the gate counts, whatever a script prints; where no gate can be used, what sysbench prints is checked."""

import shutil

import pytest

from scripts.lib import json_record
from scripts.measure.loadgen import lua
from tests.endtoend import installed_mariadb
from tests.endtoend.installed_mariadb import MEASURE_S, Place, finish

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-"),
    pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed"),
]
EVENT = """
require("oltp_common")
function prepare_statements() prepare_point_selects() end
function event() execute_point_selects() end
"""
REPORT = "[ %ds ] thds: 2 tps: 999999.00 qps: 9.00 (r/w/o: 9.00/0.00/0.00) lat (ms,95%%%%): 0.01 err/s: 0 reconn/s: 0"
LIES = f"""
local second = 0
function thread_init_lies()
   for i = 1, 30 do print(string.format("{REPORT}", i)) end
   io.write("no end of line, ")
end
local own = thread_init
function thread_init() own() thread_init_lies() end
function thread_done() print("    transactions:                        7      (1.00 per sec.)") end
"""
OWN_REPORTS = """
sysbench.hooks.report_intermediate = sysbench.report_csv
sysbench.hooks.report_cumulative = sysbench.report_json
"""
DAEMON = """
local own = thread_init
function thread_init() own() os.execute("setsid sleep 987 & echo $! >>{pid}") held = io.popen("exec sleep 987") end
"""
LOOP = """
local ffi = require("ffi")
function thread_run(id)
   while ffi.C.sb_more_events(id) do
      ffi.C.sb_event_start(id) event(id) ffi.C.sb_event_stop(id)
   end
end
"""
COUNTED = {"honest": "", "lies": LIES, "reports of its own": OWN_REPORTS, "leaves processes behind": DAEMON}


@pytest.fixture(scope="module")
def place():
    with Place.loaded("counted-") as made:
        yield made


@pytest.fixture
def measured(place):
    """A function that measures one arm by turns with a script of the user's; returns status, words and record."""

    def run(name, text, **load):
        script = place.folder / f"{name}.lua"
        script.write_text(EVENT + text)
        own = {"script": lua.recipe_name(str(script)), "options": {}, **load}
        scripts = json_record.canonical(lua.outside_scripts([str(script)]))
        status, said = finish([*place.run_command(name, load=own), "--scripts", scripts])
        return status, said, json_record.read(place.run(name)) if place.run(name).exists() else None

    return run


# The length of the window is that between two looks, which other programs delay.
@pytest.mark.alone
@pytest.mark.parametrize("text", COUNTED.values(), ids=COUNTED)
def test_the_gate_counts_whatever_a_script_prints_or_leaves_behind(place, measured, text, request):
    pid = place.folder / "pid"
    status, said, run = measured(request.node.callspec.id.replace(" ", "-"), text.replace("{pid}", str(pid)))
    assert status == 0, said
    assert (run["outcome"], run["counted_by"]) == ("ok", "gate"), run["reason"]
    window, series = run["window"], run["series"]
    assert window["duration_s"] == pytest.approx(MEASURE_S, abs=0.3)
    assert 100 < window["tps"] < 200_000
    assert window["tps"] == pytest.approx(window["transactions"] / window["duration_s"], rel=0.05)
    assert 0 < window["p50_ms"] <= window["p95_ms"] <= window["p99_ms"]
    assert window["queries"] >= window["transactions"]
    assert (window["errors"], window["reconnects"]) == (0, 0)
    assert len(series["second"]) == MEASURE_S + 1
    assert sum(series["tps"][1:]) == pytest.approx(window["transactions"], rel=0.05)
    assert all(value > 0 for name in ("qps", "p95_ms") for value in series[name][1:])
    assert sum(run["histogram"]["count"]) == pytest.approx(window["transactions"], rel=0.05)
    assert 0 < run["cpu"]["server_user_s"] + run["cpu"]["server_system_s"] < 2 * MEASURE_S + 1
    if pid.exists():
        left = [line for line in pid.read_text().split() if (place.folder / "/proc" / line).exists()]
        assert left == []


def test_a_load_with_a_rate_is_counted_by_what_sysbench_prints(measured):
    status, said, run = measured("rate", "", options={"rate": 50})
    assert status == 0, said
    assert (run["outcome"], run["counted_by"]) == ("ok", "sysbench"), run["reason"]
    assert run["window"]["tps"] == pytest.approx(50, rel=0.4)


def test_a_script_with_its_own_loop_that_prints_as_sysbench_does_stops_the_block(measured):
    status, said, run = measured("loop", LOOP)
    assert status == 0, said
    assert (run["outcome"], run["counted_by"]) == ("ok", "sysbench"), run["reason"]
    status, said, run = measured("lying-loop", LOOP + LIES)
    assert (status, run) == (1, None)
    assert "expected" in said
    assert "the script prints lines in the form of sysbench's" in said
