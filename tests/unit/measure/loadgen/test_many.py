"""Several sysbench processes as one load: what is added up, and real processes that begin together."""

import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.lib.host import usage
from scripts.measure.engine import run_facts, warnings
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Setting
from scripts.measure.loadgen.many import (
    MOST_CLIENTS,
    added,
    client_parts,
    counted,
    named_commands,
    report_times_due,
    run_processes,
)
from scripts.measure.loadgen.output import SysbenchFailed, SysbenchMisused, parse, percentile, window

DATA = Path(__file__).parents[3] / "data" / "sysbench"
READ, WRITE = (parse((DATA / f"1.0.20-mariadb-oltp_read_{kind}.txt").read_text()) for kind in ("only", "write"))
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


def together(*outputs):
    """The sum of processes that gave each report at one moment."""
    return added(outputs, [[float(report.second) for report in output.reports] for output in outputs])


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
    monkeypatch.setattr(Setting, "command", lambda self, server, seconds, seed, clients: told.append((seed, clients)))
    names = ("identity", "dataset", "text", "log", "generator", "cpus")
    Setting({}, {"clients": 2500}, **dict.fromkeys(names), remote=there).commands(None, 5, seed=3)
    assert [clients for _, clients in told] == threads
    assert len({seed for seed, _ in told}) == len(threads)
    assert told[0][0] == 3


def test_commands_of_several_processes_have_names_of_their_own():
    assert named_commands([["a"]]) == {"measure": ["a"]}
    assert list(named_commands([["a"], ["b"], ["c"]])) == ["measure", "measure 2", "measure 3"]


def test_rates_counts_and_histograms_add_up():
    both = together(READ, WRITE)
    reports = list(zip(READ.reports, WRITE.reports, strict=False))
    for name in ("tps", "qps", "clients", "errors_per_s"):
        assert [getattr(report, name) for report in both.reports] == pytest.approx(
            [getattr(one, name) + getattr(other, name) for one, other in reports]
        )
    assert both.totals.transactions == READ.totals.transactions + WRITE.totals.transactions
    assert both.totals.queries == READ.totals.queries + WRITE.totals.queries
    assert sum(both.histogram.count) == sum(READ.histogram.count) + sum(WRITE.histogram.count)
    assert list(both.histogram.latency_ms) == sorted(set(READ.histogram.latency_ms) | set(WRITE.histogram.latency_ms))
    assert both.clients == READ.clients + WRITE.clients


def test_percentiles_come_from_the_summed_histogram_and_from_nothing_else():
    both = together(READ, WRITE)
    assert {report.percentile_ms for report in both.reports} == {None}
    assert (both.latency.percentile, both.latency.percentile_ms) == (None, None)
    each = [percentile(output.histogram, 0.95) for output in (READ, WRITE)]
    assert min(each) < percentile(both.histogram, 0.95) < max(each)
    alike = together(READ, READ, READ)
    assert [percentile(alike.histogram, share) for share in (0.5, 0.95, 0.99)] == [
        percentile(READ.histogram, share) for share in (0.5, 0.95, 0.99)
    ]


def test_mean_latency_counts_every_transaction_alike():
    both, transactions = together(READ, WRITE), READ.totals.transactions + WRITE.totals.transactions
    waited_ms = sum(output.latency.mean_ms * output.totals.transactions for output in (READ, WRITE))
    assert both.latency.mean_ms == pytest.approx(waited_ms / transactions)
    assert both.latency.min_ms == min(READ.latency.min_ms, WRITE.latency.min_ms)
    assert both.latency.max_ms == max(READ.latency.max_ms, WRITE.latency.max_ms)


def test_processes_apart_are_added_up_by_the_clock_and_not_by_the_number_of_the_report():
    slow = [replace(READ.reports[0], tps=tps, qps=None) for tps in (100.0, 200.0, 300.0, 400.0)]
    fast = [replace(READ.reports[0], tps=10.0) for _ in range(4)]
    stamps = [[1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5, 4.5]]
    both = added([replace(READ, reports=tuple(slow)), replace(READ, reports=tuple(fast))], stamps)
    assert [report.tps for report in both.reports] == pytest.approx([160, 260, 360, 410])
    assert {report.qps for report in both.reports} == {None}
    stretch = window(both.reports, report_times_due(stamps))
    assert (stretch.duration_s, stretch.transactions) == (3.0, round(0.5 * 200 + 300 + 400 + 0.5 * 400 + 30))


def test_rates_are_those_of_the_counts_where_reports_come_late():
    reports = tuple(replace(READ.reports[0], tps=tps, qps=None) for tps in (100.0, 600.0, 50.0))
    text = "[ counted ] 100 0 0 0\nelse\n[ counted ] 300 0 6 0\n[ counted ] 40 0 0 0\n"
    found = counted(replace(READ, reports=reports), text, [1.0, 4.0, 4.5])
    assert [report.tps for report in found.reports] == [100.0, 100.0, 80.0]
    assert [report.errors_per_s for report in found.reports[1:]] == [2.0, 0.0]
    assert {report.qps for report in found.reports} == {None}
    with pytest.raises(ValueError, match="shorter"):
        counted(replace(READ, reports=reports), text[:30], [1.0, 4.0, 4.5])


def test_what_one_process_does_not_tell_is_missing_and_not_zero():
    silent = replace(READ, histogram=None, totals=replace(READ.totals, errors=None))
    both = together(WRITE, silent)
    assert (both.histogram, both.totals.errors) == (None, None)


@pytest.fixture
def load(tmp_path):
    """A function that gives the command of a process of the load."""
    if not shutil.which("sysbench"):
        pytest.skip("sysbench is not installed")
    (tmp_path / "load.lua").write_text(LOAD)

    def command(*options: str, clients: int = 2, seconds: int = 3) -> list[str]:
        more = [f"--threads={clients}", f"--time={seconds}", "--report-interval=1", "--histogram=on", "run"]
        return ["sysbench", str(tmp_path / "load.lua"), *options, *more]

    return command


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
    assert run_facts.generators(finished) == {"generators": {"processes": 2, "apart_s": round(finished.apart_s, 3)}}


def test_one_command_is_run_as_ever(load, tmp_path):
    finished = run_processes([load(seconds=2)], tmp_path / "log.txt", timeout_s=60)
    assert (finished.processes, finished.apart_s, run_facts.generators(finished)) == (1, 0.0, {})


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
    assert options[0] in str(caught.value)
    assert str(log) in str(caught.value)
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
