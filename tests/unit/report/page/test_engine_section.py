"""Counters over time, files and the change buffer stand on the page where the runs have them, and nowhere else."""

import pandas as pd
import pytest

from scripts.lib.resolved_study import ResolvedStudy
from scripts.measure.servers import families
from scripts.measure.servers.families import innodb_status, postgresql_status
from scripts.report.analysis import metrics, run_columns, run_tables
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import engine_section
from scripts.report.page.figures.naming import look_of
from scripts.report.page.figures.values import MOST_POINTS, seconds_chart, thinned_series
from tests.made import synthetic
from tests.made.rendering import Elements, rendered, worded
from tests.made.run import records_of

PLAN = synthetic.Plan(workloads=("oltp",), repetitions=2)
MIB = 2**20
BUFFER = {
    "change_buffer_merges": {"before": 10.0, "after": 250.0},
    "change_buffer_merged_inserts": {"before": 0.0, "after": 1000.0},
    "change_buffer_merged_delete_marks": {"before": 5.0, "after": 5.0},
    "change_buffer_merged_deletes": {"before": 0.0, "after": 7.0},
    "change_buffer_pages": {"before": 1.0, "after": 90.0},
}
FILES = {
    "before": {"sbtest.t1": {"kind": "table", "apparent_bytes": 8 * MIB, "allocated_bytes": 8 * MIB},
               "sbtest.t2": {"kind": "table", "apparent_bytes": 8 * MIB, "allocated_bytes": 8 * MIB},
               "system": {"kind": "system", "apparent_bytes": 76 * MIB, "allocated_bytes": 76 * MIB}},
    "after": {"sbtest.t1": {"kind": "table", "apparent_bytes": 16 * MIB, "allocated_bytes": 5 * MIB},
              "sbtest.t2": {"kind": "table", "apparent_bytes": 8 * MIB, "allocated_bytes": 3 * MIB},
              "system": {"kind": "system", "apparent_bytes": 76 * MIB, "allocated_bytes": 76 * MIB},
              "undo": {"kind": "undo", "apparent_bytes": 16 * MIB, "allocated_bytes": 16 * MIB}},
}  # fmt: skip


def sampled(facts):
    """Return counters of six seconds: 100 rows a second are changed, the history list grows, two readings are lost."""
    return {
        "second": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "rows_updated": [100.0, 200.0, None, 400.0, 500.0, 600.0],
        "rows_inserted": [0.0] * 6,
        "history_list_length": [5.0, 10.0, None, 20.0, 25.0, 30.0],
        "dirty_pages": [0.0] * 6,
    }


def watched(facts):
    """Give a run what a server with InnoDB tells, and its study the key that asks for it."""
    if "order" in facts:
        return {**facts, "series": True, "rest_s": 7}
    if "counters" not in facts or facts.get("outcome") != "ok":
        return facts
    more = {"counters": {**facts["counters"], **BUFFER}, "files": FILES, "counter_series": sampled(facts)}
    return {**facts, **more, "engine_report": {"before": "Ibuf: <none>", "after": "Ibuf: 240 merges"}}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return rendered(PLAN, tmp_path_factory.mktemp("watched"), edit=watched)


def test_every_counter_of_every_family_has_a_meaning():
    named = {
        *innodb_status.COUNTERS.values(),
        *innodb_status.NUMBERS,
        *innodb_status.ROW_OPERATIONS,
        "checkpoint_age_bytes",
    }
    named |= {f"change_buffer_{how}_{what}" for how in ("merged", "discarded") for what in innodb_status.OPERATIONS}
    assert set(innodb_status.UNREPORTED.values()) < named
    named |= {*postgresql_status.COUNTERS, *postgresql_status.CLUSTER_COUNTERS, "database_pages"}
    named |= {
        "context_switches",
        "interrupts",
        innodb_status.SYNCED_COMMITS,
        *innodb_status.METRICS.values(),
        *innodb_status.WAITED.values(),
    }
    assert named == set(metrics.COUNTERS)
    assert {kind for _, kind in families.of("mysql").FILE_KINDS + families.of("postgresql").FILE_KINDS} < set(
        engine_section.FILE_KIND_WORDS
    )


def test_samples_are_a_table_and_a_counter_without_a_column_is_refused(page):
    table = read_csv(page[0].tables / "counters.csv")
    assert len(table) == 3 * 2 * 6
    assert list(table.columns) == run_columns.COUNTER_SERIES.names
    assert table["history_list_length"].isna().sum() == 3 * 2
    assert table["commits"].isna().all()
    with pytest.raises(ValueError, match="counter_series: sheep unknown, expected dirty_pages"):
        run_tables.sample_table(records_of([{"counter_series": {"second": [1.0], "sheep": [2.0]}}]))


def test_files_are_a_table_with_holes_where_a_part_was_not_there(page):
    table = read_csv(page[0].tables / "files.csv")
    undo = table[table["part"] == "undo"]
    assert len(table) == 3 * 2 * 4
    assert undo["before_apparent_bytes"].isna().all()
    assert set(undo["after_allocated_bytes"]) == {16 * MIB}


def test_panel_is_a_rate_for_what_grows_and_a_level_for_a_state():
    samples = pd.DataFrame(sampled(None))
    by_heading = {panel.heading: panel.of(samples) for panel in metrics.PANELS}
    assert list(by_heading["Rows changed per second"]["value"]) == [100.0] * 4
    assert list(by_heading["Rows changed per second"]["second"]) == [2.0, 4.0, 5.0, 6.0]
    assert list(by_heading["History list, transactions"]["value"]) == [5.0, 10.0, 20.0, 25.0, 30.0]
    assert by_heading["Free buffers, pages"].empty


def test_figure_has_a_panel_for_what_moved_below_the_transactions(page):
    tree, *_ = page
    figure = (tree.figures / "seconds-oltp-8.svg").read_text()
    shown = [heading for heading in ("Transactions per second", *(panel.heading for panel in metrics.PANELS))
             if f">{heading}<" in figure]  # fmt: skip
    assert shown == ["Transactions per second", "Rows changed per second", "History list, transactions"]


def test_line_of_many_points_keeps_its_mean_and_its_span():
    line = pd.DataFrame({"second": range(3000), "value": range(3000)})
    drawn = thinned_series(line)
    assert len(drawn) == MOST_POINTS
    assert drawn["value"].mean() == pytest.approx(line["value"].mean())
    assert drawn["second"].is_monotonic_increasing


def test_figure_of_a_cell_without_a_run_says_so():
    look = look_of(["baseline", "aa"], "baseline")
    empty = pd.DataFrame(columns=["variant", "workload", "clients", "repetition", "second", "tps"])
    assert "No run was measured" in seconds_chart(empty, empty, look, "seconds-oltp-8")


def test_page_shows_series_files_change_buffer_and_reports(page):
    said = Elements(page[1]).said()
    sections = ["Second by second, with what the server counted", "InnoDB's change buffer"]
    for text in [
        *sections,
        "Files of the data directory",
        "Ibuf: 240 merges",
        "Ibuf: <none>",
        "7 s of rest before each run",
    ]:
        assert text in said
    assert "<none>" not in page[1]


def test_page_of_runs_without_such_data_has_no_such_section(tmp_path):
    said = Elements(worded(PLAN, tmp_path)[1]).said()
    for text in ("Second by second", "change buffer", "Files of the data directory", "own report", "s of rest"):
        assert text not in said


def test_change_buffer_is_told_as_means_of_what_a_call_did():
    study = {"variants": {"none": {}, "all": {}}, "workloads": {"w": {}}, "clients": [4]}
    unused = {name: {"before": 1.0, "after": 1.0} for name in BUFFER}
    runs = records_of(
        {"outcome": "ok", "variant": variant, "workload": "w", "clients": 4, "counters": found}
        for variant, found in (("none", unused), ("all", BUFFER), ("all", BUFFER))
    )
    assert engine_section.change_buffer_rows(ResolvedStudy.of(study), runs) == [
        ("none", "w", "4", "1", "0", "0", "0", "0", "–", "1", "1"),
        ("all", "w", "4", "2", "240", "1\u202f000", "0", "7", "–", "1", "90"),
    ]
    assert engine_section.change_buffer_rows(ResolvedStudy.of(study), runs[:1]) == []


def test_sizes_are_of_all_tables_with_growth_and_what_is_allocated():
    facts = {"variant": "all", "workload": "w", "clients": 4, "repetition": 1, "files": FILES}
    study = {"variants": {"none": {}, "all": {}}, "workloads": {"w": {}, "other": {}}, "clients": [4]}
    files = run_tables.file_table(records_of([facts]))
    assert not engine_section.size_table(ResolvedStudy.of(study), "other", files[files["workload"] == "other"])
    table = engine_section.size_table(ResolvedStudy.of(study), "w", files)
    (row,) = table.rows
    told = {head.text: (cell.text, cell.notes) for head, cell in zip(table.heads, row.cells, strict=True)}
    assert told == {
        "variant": ("all", ()),
        "clients": ("4", ()),
        "tables": ("24.0 MiB", ("+8.0 MiB", "8.0 MiB allocated")),
        "system table space": ("76.0 MiB", ()),
        "undo logs": ("16.0 MiB", ("new",)),
    }
