"""The benchmarks' table: ratios, limits, what counts as a change, and what a command took."""

import resource
import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks import restarts, snakemake_share, table, windows
from benchmarks.table import Row
from benchmarks.timed import spent

ROW = Row("planning", "new, 100 runs", 2.0, "s", 0.5, 4)
BEFORE = [Row("planning", "new, 100 runs", 20.0, "s", 5.0, 4), Row("planning", "new, 100 runs", 9.0, "MiB", 1.0)]


def test_ratio_is_to_the_reference_of_the_same_run_so_that_a_slower_machine_changes_nothing():
    assert ROW.ratio == 4
    assert table.change(ROW, BEFORE) == 0
    assert table.change(ROW, []) is None


@pytest.mark.parametrize(
    ("value", "unit", "limit", "said"),
    [
        (2.0, "s", 4, ""),
        (2.4, "s", 4, ""),
        (2.6, "s", 4, "WORSE"),
        (1.4, "s", 4, "better"),
        (4.1, "s", 4, "OVER THE LIMIT, WORSE"),
        (4.0, "s", 4, "WORSE"),
        (2.6, "s", None, "WORSE"),
        (4.4, "MiB", None, ""),
        (4.9, "MiB", None, "WORSE"),
        (4.1, "CPU s", 4, "OVER THE LIMIT"),
    ],
)
def test_change_beyond_the_noise_and_a_limit_are_told(value, unit, limit, said):
    row = Row("planning", "new, 100 runs", value, unit, 0.5, limit)
    assert table.verdict(row, table.change(row, BEFORE)) == said
    text, good = table.compared([row], BEFORE)
    assert said in text
    assert good == (said in ("", "better"))


def test_table_keeps_rows_of_other_benchmarks_and_reads_back_what_it_wrote(tmp_path):
    file = tmp_path / "table.csv"
    other = Row("snakemake_share", "study, 9 runs", 0.33, "%", 1.5, 1)
    table.keep([other], file)
    table.keep([ROW], file)
    table.keep([Row("planning", "new, 1000 runs", 3.0, "CPU s", 0.5)], file)
    assert table.read(file.read_text()) == [Row("planning", "new, 1000 runs", 3.0, "CPU s", 0.5), other]
    assert file.read_text().splitlines()[0] == "bench,what,value,unit,reference,ratio,limit,ok"


def test_every_unit_of_the_committed_table_has_a_stated_noise():
    assert {row.unit for row in table.read(table.FILE.read_text())} <= set(table.NOISE)


def test_share_counts_the_gaps_between_blocks_and_no_interruption():
    times = [(0.0, 9.0), (9.5, 19.5), (20.0, 30.0), (9000.0, 9010.0)]
    share, between = snakemake_share.rows("four runs", times, [0.2, 0.2, 0.2, 0.2])
    assert share.value == pytest.approx(100 * 1 / 40)
    assert share.ok is False
    assert between.value == 0.5
    assert between.ratio == pytest.approx(2.5)


def test_study_that_was_not_measured_is_refused(tmp_path):
    with pytest.raises(ValueError, match="0 blocks under blocks/, expected a measured study"):
        snakemake_share.measured(tmp_path)


def test_benchmark_that_cannot_be_run_here_is_told_and_leaves_the_others(tmp_path, monkeypatch, capsys):
    def refused():
        raise ValueError("no build")

    monkeypatch.setattr(table, "FILE", tmp_path / "table.csv")
    monkeypatch.setattr(table, "committed", lambda: [])
    assert table.run([refused, lambda: [ROW]]) == 1
    assert table.read(table.FILE.read_text()) == [ROW]
    assert capsys.readouterr().out.endswith("new\nNOT MEASURED: no build\n")
    assert table.run([lambda: [ROW]]) == 0


def test_what_a_command_took_includes_the_processes_it_waited_for(tmp_path):
    inner = "kept = bytearray(b'x') * (200 << 20); sum(range(10_000_000))"
    command = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"]
    took = spent(command, tmp_path)
    # A process begins with the memory of the one it was forked from.
    own_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert 200 < took.peak_mib < 300 + own_mib
    assert 0.05 < took.cpu_s <= took.wall_s * 1.1


def test_command_that_fails_is_told_with_its_last_words(tmp_path):
    with pytest.raises(ValueError, match=r"status 3; it said:\nwhy"):
        spent([sys.executable, "-c", "print('why'); raise SystemExit(3)"], tmp_path)


def test_what_restarts_add_is_the_spread_between_blocks_less_that_of_slices():
    low, high = restarts.restart_limits(block_sd=0.03, degrees=18, alone_sd=0.01)
    assert low < (0.03**2 - 0.01**2) ** 0.5 < high
    assert restarts.restart_limits(block_sd=0.01, degrees=18, alone_sd=0.02)[0] == 0.0


def test_interval_of_the_spread_between_restarts_holds_it_in_95_of_100_cases():
    draw, held = np.random.default_rng(1), 0
    for _ in range(1000):
        block_sd = float(np.std(draw.normal(0, np.hypot(0.02, 0.01), size=19), ddof=1))
        low, high = restarts.restart_limits(block_sd, 18, 0.01)
        held += low <= 0.02 <= high
    assert 930 <= held <= 970


def campaigns_of(load, moved, half):
    """Return rows of windows.csv of one variant: slices differ by e^moved[i] from windows in campaign i + 1."""
    rows = [
        {"date": "2026-11-01", "campaign": number, "load": load, "variant": "x", "method": method, "log": log}
        for number, each in enumerate(moved, 1)
        for method, log in ((windows.TURNS, 0.1), ("slices-3", 0.1 + each))
    ]
    table = pd.DataFrame(rows).assign(cpu_model="one")
    ends = {"ratio": 0.0, "ratio_low": -half, "ratio_high": half}
    return table.assign(**{name: np.exp(table["log"] + end) for name, end in ends.items()}).drop(columns="log")


def test_slices_and_windows_are_compared_in_each_campaign_and_over_all_campaigns():
    half = 0.035 / np.sqrt(2)
    *each, over_all = windows.verdicts(campaigns_of("cpu", [0.015, -0.005], half))
    assert [line.partition("against windows: ")[2] for line in each] == ["not known to 3 %"] * 2
    assert over_all == "all campaigns, cpu slices-3 x: +0.5% ± 2.5% against windows: agrees"


def test_slices_that_differ_from_windows_by_more_than_the_error_are_named():
    (line,) = windows.verdicts(campaigns_of("cpu", [0.05], 0.02))
    assert line == "2026-11-01, campaign 1, one, cpu slices-3 x: +5.0% ± 2.8% against windows: differs"
