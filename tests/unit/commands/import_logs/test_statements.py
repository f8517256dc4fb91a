"""The page of imported logs states only what the logs show: order, resolution, worse cells, means."""

import os
import re
import signal

import numpy as np
import pandas as pd
import pytest

from scripts.commands.import_logs import __main__ as import_logs
from scripts.commands.import_logs.imported_description import numbered, study_description
from scripts.commands.import_logs.logs import read_tree
from scripts.commands.import_logs.pattern import natural_key
from scripts.commands.import_logs.pattern_file import read_pattern
from scripts.jobs import plot_figures
from scripts.lib.host.parallel import in_batches
from scripts.lib.json_record import read
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.measure.loadgen.output import BUCKET_RATIO, HISTOGRAM_END_MS
from scripts.report.analysis import dictionary, printed_digits
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import imported_findings, levels_section
from scripts.report.page.figures.naming import figure_names
from scripts.report.page.imported_answers import imported_answers
from tests.made.logs import LAID_OUT, OF_0_5, log, tree, write

pytestmark = pytest.mark.slow

FOLDER = import_logs.STUDIES / "shared"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tables(here, *more, path=LAID_OUT):
    """Import up to the tables, which are returned by name."""
    rules = read_pattern(write(here, "p.yaml", "\n".join([f'path: "{path}"', *more])))
    found = read_tree(here / "logs", rules)
    found.logs = numbered(found.logs)
    declared = study_description("shared", here / "logs", rules, found)
    import_logs.write_records(FOLDER, here / "logs", declared, found.logs)
    import_logs.write_tables(FOLDER)
    return {path.stem: read_csv(path) for path in (FOLDER / "tables").glob("*.csv")}


def dated(here, moment):
    for path in (here / "logs").rglob("*.log"):
        os.utime(path, (0, 1e9 + moment(path.parent.name == "pgo", int(path.stem[-1]))))


def test_logs_unpacked_at_one_moment_show_no_order(here):
    tree(here / "logs")
    dated(here, lambda pgo, turn: 0)
    found = imported_findings.order_finding(tables(here, "date: mtime")["runs"], "mtime")
    assert found.text.startswith(
        "Runs overlap: several machines, or wrong dates. 9 runs began before another one ended"
    )


def test_single_runs_one_variant_after_the_other_were_not_made_in_turns(here):
    tree(here / "logs", clients=(4, 8, 16), repetitions=1)
    dated(here, lambda pgo, turn: 0)
    for place, path in enumerate(sorted((here / "logs").rglob("*.log"))):
        os.utime(path, (0, 1e9 + 1000 * place))
    text = imported_findings.order_finding(tables(here, "date: mtime")["runs"], "mtime").text
    assert "all runs of one variant were made before those of the next" in text


def test_single_runs_mixed_in_time_show_no_turns_within_a_cell(here):
    tree(here / "logs", clients=(4, 8), repetitions=1)
    for place, name in enumerate(("baseline/oltp_4", "pgo/oltp_4", "baseline/oltp_8", "pgo/oltp_8")):
        os.utime(here / "logs" / f"{name}_1.log", (0, 1e9 + 1000 * place))
    text = imported_findings.order_finding(tables(here, "date: mtime")["runs"], "mtime").text
    assert "With one run per variant the dates do not show turns within a cell" in text


def test_without_a_measurement_the_order_is_unknown():
    runs = pd.DataFrame({"outcome": ["failed"], "started_at": [np.nan], "variant": ["pgo"]})
    assert "When the runs were made is unknown" in imported_findings.order_finding(runs).text


def test_dates_that_cannot_be_read_are_counted(here):
    tree(here / "logs", repetitions=2)
    text = imported_findings.order_finding(tables(here, "date: first_line")["runs"], "first_line").text
    assert "4 of 4 logs" in text or "4 logs of 4 have no date (first_line)" in text


def test_the_step_of_percentiles_is_that_of_sysbench():
    assert pytest.approx(BUCKET_RATIO) == printed_digits.PERCENTILE_STEP
    assert HISTOGRAM_END_MS == printed_digits.HISTOGRAM_END_MS


def test_an_interval_of_p95_reaches_as_far_as_sysbench_rounds(here):
    tree(here / "logs", clients=(4, 16))
    found = tables(here)
    for name in ("cells", "overall", "levels"):
        table = found[name].query("metric == 'p95_ms' and variant == 'pgo'")
        assert len(table)
        assert (table["ratio_low"] <= table["ratio"] / 1.018).all()
        assert (table["ratio_high"] >= table["ratio"] * 1.018).all()


def test_logs_of_sysbench_0_5_are_not_rounded(here):
    tree(here / "logs", like=OF_0_5)
    runs = tables(here)["runs"]
    assert not printed_digits.is_rounded("p95_ms", runs)
    assert printed_digits.rounding(runs, "pgo", "p95_ms")["high"].max() < 0.001


def test_cells_on_the_worse_side_are_named_with_both_quantities(here):
    tree(here / "logs", {"baseline": 0.0, "pgo": 0.1})
    for path in (here / "logs/pgo").glob("*.log"):
        text = path.read_text()
        old = next(line for line in text.splitlines() if "95th percentile:" in line)
        path.write_text(text[: text.index("Latency histogram")] + text[text.index("SQL statistics") :]
                        .replace(old, "         95th percentile:    99.33"))  # fmt: skip
    found = tables(here)
    (worse,) = imported_findings.worse_findings(read_study(FOLDER / "study.json"), found["cells"])
    assert worse.text.startswith("Of 2 intervals, those on the worse side of 1: 1;")
    assert "pgo, oltp, 4 clients: " in worse.details[0]
    assert "TPS there 1.1" in worse.details[0]


def test_an_unequal_effect_explains_the_two_kinds_of_means(here):
    tree(here / "logs", {"baseline": 0.0}, workloads=("a", "b"))
    tree(here / "logs", {"pgo": 0.0}, workloads=("a",))
    tree(here / "logs", {"pgo": 0.7}, workloads=("b",))
    found = tables(here)
    means = levels_section.level_means(read_study(FOLDER / "study.json"), found["levels"])
    section = levels_section.level_section(read_study(FOLDER / "study.json"), found["levels"])
    assert "The geometric mean gives 0 %" in section.blocks[0].text
    assert [row.cells[0].text for row in means.rows] == ["all cells", "a", "b"]
    assert {row.cells[1].text for row in means.rows} == {"pgo"}
    assert means.rows[0].cells[4].text == levels_section.signed(found["levels"]["arithmetic_change"].iloc[0])
    row = found["levels"].query("metric == 'tps' and axis == 'all'").iloc[0]
    assert row["change"] == pytest.approx(42, abs=4)
    assert row["arithmetic_change"] == pytest.approx(51, abs=5)
    changes = found["levels"].query("metric == 'tps' and axis == 'workload'").set_index("level")["change"]
    assert changes["a"] == pytest.approx(0, abs=4)


def test_a_date_as_repetition_counts_nothing(here):
    for variant in ("baseline", "pgo"):
        for date in (20260501, 20260502):
            write(here / "logs", f"{variant}/oltp_4_{date}.log", log(4, date % 1000 + len(variant)))
    found = tables(here)
    assert read(FOLDER / "study.json")["repetitions"] == 2
    assert set(found["runs"]["repetition"]) == {1, 2}


def test_no_table_compares_blocks_that_do_not_exist(here):
    tree(here / "logs")
    found = tables(here)
    assert found["overall_unflagged"].empty
    assert found["comparisons"]["ratio"].isna().all()


def test_names_follow_by_the_numbers_in_them():
    names = ["Tier12G", "Tier2G", "Tier32G", "A"]
    assert sorted(names, key=natural_key) == ["A", "Tier2G", "Tier12G", "Tier32G"]


def test_only_and_leave_out_choose_by_parts(here):
    tree(here / "logs", {"baseline": 0.0, "pgo": 0.1, "lto": 0.1, "o3": 0.0}, repetitions=1)
    found = tables(here, "only: {variant: [baseline, pgo, lto]}", "leave_out: {variant: l*}")
    study = read(FOLDER / "study.json")
    assert list(study["variants"]) == ["baseline", "pgo"]
    assert [reason for _, reason in study["imported"]["left_out"]] == [
        "left out by `leave_out`: variant", "left out by `only`: variant"
    ]  # fmt: skip
    assert len(found["runs"]) == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("rename: [x]", "rename: ['x'], expected parts of the path"),
        ("rename: {variant: [x]}", "expected a mapping from the name in the path to the name to show"),
        ("only: {tier: [x]}", "only: 'tier', expected clients, path, repetition, variant, workload"),
        ('variant: "{build}"', "names build, expected parts of the path: variant, workload"),
        ('variant: "{build"', "variant: '{build': "),
    ],
)
def test_a_wrong_choice_of_names_is_refused(here, more, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_pattern(write(here, "p.yaml", f'path: "{LAID_OUT}"\n{more}\n'))


def test_one_log_that_was_cut_short_takes_no_repetition_from_the_headline(here):
    tree(here / "logs", clients=(4, 8), repetitions=3)
    cut = here / "logs/pgo/oltp_4_2.log"
    cut.write_text(cut.read_text()[:900])
    found = tables(here)
    row = found["overall"].query("metric == 'tps' and variant == 'pgo'").iloc[0]
    assert (row["n_repetitions"], row["n_blocks_least"]) == (3, 2)
    (answer,) = imported_answers(read_study(FOLDER / "study.json"), found)
    assert "geometric mean over 2 cells, 2 to 3 logs of each;" in answer.headline


def test_only_metrics_that_some_log_holds_are_in_tables_and_figures(here):
    tree(here / "logs", clients=(4, 8), repetitions=2)
    for path in (here / "logs").rglob("*.log"):
        text = path.read_text()
        path.write_text(text[: text.index("Latency histogram")] + text[text.index("SQL statistics") :])
    found = tables(here)
    study = read(FOLDER / "study.json")
    measured = {"tps", "p95_ms", "latency_mean_ms", "qps"}
    for name in ("cells", "overall", "comparisons"):
        assert set(found[name]["metric"]) == measured
    assert not {each for each in figure_names(ResolvedStudy.of(study), factors=False) if "cpu" in each or "p99" in each}


def test_logs_are_read_and_written_alike_by_one_process_and_by_several(here, monkeypatch):
    tree(here / "logs", workloads=("a", "b"), clients=(4, 8), repetitions=20)
    write(here / "logs", "pgo/a_4_7.log", "no log")
    results = []
    for cpus, folder in (({0}, FOLDER), ({0, 1, 2}, FOLDER.with_name("again"))):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cpus=cpus: cpus)
        found = read_tree(here / "logs", read_pattern(write(here, "p.yaml", f'path: "{LAID_OUT}"\n')))
        declared = study_description("shared", here / "logs", read_pattern(here / "p.yaml"), found)
        import_logs.write_records(folder, here / "logs", declared, found.logs)
        files = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*") if path.name != "runs.txt"}
        listed = (folder / "runs.txt").read_text().replace(str(folder), "")
        results.append((found, files, listed))
    assert results[0] == results[1]
    assert [name for name, _ in results[0][0].unread] == ["pgo/a_4_7.log"]
    assert len(results[0][1]) == 2 * 159 + 1


def test_figures_drawn_by_several_processes_are_those_of_one(here, monkeypatch):
    tree(here / "logs", workloads=("a", "b"), clients=(4, 8), repetitions=2)
    tables(here)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    drawn = []
    for processes in (1, 3):
        folder = here / str(processes)
        plot_figures.main(FOLDER / "study.json", dictionary.files(FOLDER / "tables"), folder, processes)
        drawn.append({path.name: path.read_text() for path in folder.iterdir()})
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {f"{name}.svg" for name in figure_names(read_study(FOLDER / "study.json"), False)}


def test_a_killed_reader_ends_the_import_with_its_reason(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    with pytest.raises(OSError, match="a process that works on some of the files was killed"):
        list(in_batches(killed, list(range(1000))))


def killed(_: list[int]) -> list[int]:
    """Be killed, as by the kernel when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)
    return []
