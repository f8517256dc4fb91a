"""The record of a run, from recorded output of sysbench and made-up samples of the machine."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.lib import json_record
from scripts.lib.host import cpus as host_cpus
from scripts.lib.host import machine_facts, usage
from scripts.measure.engine import run_record
from scripts.measure.engine.run_facts import printed_run, series
from scripts.measure.engine.run_parts import ServerFacts, Sysbench, TimesFacts, Workflow
from scripts.measure.engine.run_record import MeasuredRun, Run
from scripts.measure.engine.setting import Setting
from scripts.measure.loadgen.output import SysbenchFailed, parse
from scripts.measure.loadgen.run_sysbench import FinishedLoad, Moment
from scripts.measure.loadgen.sysbench import Capabilities
from tests.made import studies

RECORDED = Path(__file__).parents[3] / "data" / "sysbench" / "1.0.20-mariadb-oltp_read_only.txt"
IDLE = usage.CpuTimes(0, 0, 0, 0, 0, 0)
NOBODY = usage.ProcessTimes(1, 0, 0, 0, 0, 0)
BEFORE = usage.Sample(0.0, IDLE, NOBODY, NOBODY, {"cpu": 0.0, "io": None, "memory": 0.0}, 4000.0, 0.0)
AFTER = replace(
    BEFORE,
    host=usage.CpuTimes(3.0, 1.5, 0.1, 0.2, 0.0, 1.0),
    server=usage.ProcessTimes(1, 2.0, 1.0, 500, 0, 4096),
    client=usage.ProcessTimes(1, 0.5, 0.25, 90, 0, 0),
    pressure_s={"cpu": 0.4, "io": None, "memory": 0.0},
    available_mib=3990.0,
)
IDENTITY = {
    "server": "mariadb-10.11",
    "family": "mariadb",
    "release": "10.11.18",
    "build": "pgo",
    "build_id": "ab",
    "sha256": "cd",
    "server_file": "bin/mariadbd",
    "source_path": "source",
}


@pytest.fixture
def finished():
    output = parse(RECORDED.read_text())
    moments = [Moment(number, 100.0 + number, 1e9 + number, (7,), (8,)) for number in range(1, len(output.reports) + 1)]
    return FinishedLoad(output, tuple(moments), 5.5)


def measured(finished, samples):
    return printed_run(Run(outcome="ok"), finished, samples)


def sampled(finished, first=1, last=4):
    return [(finished.moments[first - 1], BEFORE), (finished.moments[last - 1], AFTER)]


def test_window_lies_between_the_two_sampled_reports(finished):
    run = measured(finished, sampled(finished))
    expected = [report.tps for report in finished.output.reports[1:4]]
    assert run.window.duration_s == pytest.approx(3.0)
    assert run.window.transactions == round(sum(expected))
    assert run.window.tps == pytest.approx(sum(expected) / 3)
    assert run.times == TimesFacts(window_started_at=1e9 + 1, window_ended_at=1e9 + 4)


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
def test_clock_that_is_set_in_the_window_changes_no_figure(finished, step_s):
    moments = [replace(each, epoch_s=each.epoch_s + step_s * (each.number > 2)) for each in finished.moments]
    stepped = measured(replace(finished, moments=tuple(moments)), [(moments[0], BEFORE), (moments[3], AFTER)])
    assert stepped.window == measured(finished, sampled(finished)).window
    assert stepped.times.window_ended_at - stepped.times.window_started_at == pytest.approx(3 + step_s)


def test_percentiles_rise_and_agree_with_sysbenchs_own(finished):
    window = measured(finished, sampled(finished)).window
    assert window.p50_ms < window.p95_ms < window.p99_ms
    assert window.p95_ms == pytest.approx(finished.output.latency.percentile_ms, abs=0.0051)
    assert window.latency_mean_ms == finished.output.latency.mean_ms


def test_cpu_memory_and_pressure_are_differences_over_the_window(finished):
    run = measured(finished, sampled(finished))
    assert (run.cpu.server_user_s, run.cpu.server_system_s) == (2.0, 1.0)
    assert (run.cpu.client_user_s, run.cpu.host_steal_s) == (0.5, 0.2)
    assert run.memory.available_mib_after == 3990.0
    assert run.pressure.io_some_s is None
    assert run.io.write_bytes == 4096


def test_series_keeps_every_second_of_the_call_in_columns(finished):
    columns = series(finished).values()
    assert columns["second"] == [report.second for report in finished.output.reports]
    assert {len(column) for column in columns.values()} == {len(finished.output.reports)}
    assert set(columns) == {"second", "tps", "qps", "p95_ms", "errors_per_s"}


def test_histogram_holds_all_transactions_of_the_call(finished):
    run = measured(finished, sampled(finished))
    assert sum(run.histogram.count) == finished.output.totals.transactions


@pytest.mark.parametrize("count", [0, 1])
def test_call_that_ended_before_its_last_report_is_a_failure_of_the_load(finished, count):
    with pytest.raises(SysbenchFailed, match="sysbench printed 5 per-second reports, expected one for each second"):
        measured(finished, sampled(finished)[:count])


def test_facts_known_before_the_start_name_server_generator_machine_and_cpus(tmp_path):
    json_record.write(tmp_path / "identity.json", IDENTITY)
    schedule = studies.paths()
    arm = schedule.planned(next(iter(schedule.to_measure.values()))).arms[0]
    generator = Capabilities("sysbench", "1.0.20", "", "ef", (), frozenset())
    cpus, machine = host_cpus.Placement("automatic", (0,), (1,), "one each"), machine_facts.read_host()
    files = [tmp_path / name for name in ("identity.json", "dataset.json", "3.txt", "3.log")]
    run = Setting(arm.recipe, replace(arm.context, repetition=3), *files, generator, cpus, machine).planned
    assert (run.study, run.variant, run.clients, run.repetition) == ("small", "baseline", 8, 3)
    kept = {name: IDENTITY[name] for name in ("family", "release", "build", "build_id", "sha256")}
    assert run.server == ServerFacts("mariadb-10.11", **kept)
    assert run.sysbench == Sysbench("1.0.20", "sysbench", "ef", "3.txt")
    assert run.placement.server_cpus == (0,)
    assert run.recipe == arm.recipe.dump()
    assert run.host.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_facts_of_a_run_can_be_written_and_read_again(finished, tmp_path):
    run, file = measured(finished, sampled(finished)), tmp_path / "runs" / "1.json"
    run_record.write(file, MeasuredRun(run))
    again = run_record.read(file)
    assert json_record.dump(replace(again, path=None, format=None, workflow=Workflow())) == json_record.dump(run)
