"""From raw facts to tidy tables."""

import json
import re

import pandas as pd
import pytest

from scripts.jobs import collect_runs
from scripts.lib.json_record import file_sha256
from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis import dictionary, run_columns, run_tables
from scripts.report.analysis.run_tables import demand_unaltered
from tests.made import synthetic
from tests.made.run import failed, record_of, records_of

PLAN = synthetic.Plan(workloads=("oltp",), repetitions=2)


def row(**changes):
    facts = synthetic.runs(PLAN)[0]
    facts.update(changes)
    return run_tables.run_row(record_of(facts))


def test_cpu_per_transaction_is_seconds_over_transactions_in_microseconds():
    facts = synthetic.runs(PLAN)[0]
    facts["window"]["transactions"] = 1000
    facts["cpu"] |= {"server_user_s": 0.2, "server_system_s": 0.1}
    found = run_tables.run_row(record_of(facts))
    assert found["cpu_user_us_per_tx"] == pytest.approx(200)
    assert found["cpu_system_us_per_tx"] == pytest.approx(100)
    assert found["cpu_us_per_tx"] == pytest.approx(300)


def test_host_cpu_holds_interrupts_and_not_the_client():
    facts = synthetic.runs(PLAN)[0]
    facts["window"]["transactions"] = 1000
    facts["cpu"] |= {
        "host_user_s": 1.0, "host_system_s": 0.5, "host_irq_s": 0.1, "client_user_s": 0.3, "client_system_s": 0.2,
    }  # fmt: skip
    assert run_tables.run_row(record_of(facts))["host_cpu_us_per_tx"] == pytest.approx(1100)


def test_steal_is_a_share_of_all_cpu_time_of_the_window():
    facts = synthetic.runs(PLAN)[0]
    facts["window"]["duration_s"] = 5.0
    facts["cpu"] |= {"cpus": 2, "host_steal_s": 1.0}
    assert run_tables.run_row(record_of(facts))["steal_share"] == pytest.approx(0.1)


def test_what_is_missing_stays_missing_and_never_becomes_zero():
    lost = row(cpu=None, window=None, pressure=None, io=None)
    assert all(
        lost[name] is None for name in ("tps", "cpu_us_per_tx", "host_cpu_us_per_tx", "steal_share", "read_bytes")
    )


def test_a_window_without_transactions_has_no_cpu_per_transaction():
    facts = synthetic.runs(PLAN)[0]
    facts["window"]["transactions"] = 0
    assert run_tables.run_row(record_of(facts))["cpu_us_per_tx"] is None


def test_a_failed_run_keeps_its_reason_and_has_no_values():
    lost = run_tables.run_row(record_of(failed(synthetic.runs(PLAN)[0])))
    assert lost["outcome"] == "failed"
    assert "signal 11" in lost["reason"]
    assert lost["tps"] is None
    assert lost["warnings"] == 0


def test_warnings_are_counted_and_their_codes_joined():
    found = row(warnings=[{"code": "steal", "text": "a"}, {"code": "not_steady", "text": "b"}])
    assert (found["warnings"], found["warning_codes"]) == (2, "steal;not_steady")


def collected(records, plan=PLAN):
    return run_tables.collect(ResolvedStudy.of(synthetic.study(plan)), records_of(records))


def test_one_row_a_run_in_the_order_of_measuring():
    runs, _ = collected(reversed(synthetic.runs(PLAN)))
    assert list(runs["run_number"]) == [1, 2, 3, 4, 5, 6]


def test_series_has_one_row_a_second_of_every_run():
    _, series = collected(synthetic.runs(PLAN))
    assert len(series) == 6 * 5
    assert list(series.columns) == run_columns.SERIES.names


def test_a_planned_run_without_a_file_is_a_row_of_its_own():
    runs, _ = collected(synthetic.runs(PLAN)[:-1])
    assert list(runs["outcome"]).count("missing") == 1
    assert len(runs) == 6


def test_two_files_of_one_run_are_refused_by_name():
    records = synthetic.runs(PLAN)
    with pytest.raises(ValueError, match=r"6\.json and 0\.json both describe run"):
        collected([*records, records[0]])


def test_a_run_of_a_variant_the_study_does_not_have_is_refused():
    records = synthetic.runs(PLAN)
    records[0]["variant"] = "stranger"
    with pytest.raises(ValueError, match=r"0\.json: variant 'stranger', expected one of baseline, pgo, aa"):
        collected(records)


def test_every_column_of_the_tables_is_in_the_data_dictionary():
    runs, series = collected(synthetic.runs(PLAN))
    assert list(runs.columns) == run_columns.RUNS.names == dictionary.TABLES["runs"].names
    assert list(series.columns) == run_columns.SERIES.names == dictionary.TABLES["series"].names
    assert all(len(column.meaning) > 5 for column in [*run_columns.RUNS, *run_columns.SERIES])


def test_a_variant_may_be_called_nan_or_null(tmp_path):
    path = tmp_path / "runs.csv"
    run_tables.write_csv(pd.DataFrame({"variant": ["nan", "null", "none"], "tps": [1.0, None, 3.0]}), path)
    back = run_tables.read_csv(path)
    assert list(back["variant"]) == ["nan", "null", "none"]
    assert back["tps"].isna().tolist() == [False, True, False]


def test_a_checksum_of_digits_stays_text(tmp_path):
    path = tmp_path / "runs.csv"
    run_tables.write_csv(pd.DataFrame({"build_id": ["0012", "1e10"]}), path)
    assert list(run_tables.read_csv(path)["build_id"]) == ["0012", "1e10"]


def test_a_damaged_run_file_is_named(tmp_path):
    tree = synthetic.write_tree(PLAN, tmp_path)
    broken = run_tables.listed(tree.runs_list)[0]
    broken.write_text(json.dumps({"format": 1})[:-3])
    with pytest.raises(ValueError, match=str(broken)):
        collect_runs.main(tree.study, tree.runs_list, dictionary.files(tree.tables))
    assert not (tree.tables / "runs.csv").exists()


def test_a_record_that_was_altered_after_its_block_was_measured_is_refused(tmp_path):
    arm, block = tmp_path / "aa.json", tmp_path / "block.json"
    arm.write_text('{"tps": 1000}')
    block.write_text(json.dumps({"arms": {"aa": {"sha256": {"json": file_sha256(arm)}}}}))
    demand_unaltered([arm])
    arm.write_text('{"tps": 9000}')
    with pytest.raises(ValueError, match=rf"{re.escape(str(arm))}: has sha256 .*, which {re.escape(str(block))} lists"):
        demand_unaltered([arm])
    block.unlink()
    demand_unaltered([arm])
