"""What stands beside the tables: the meaning and unit of every column, and the tables as one JSON."""

import csv
import json
import math
import re

import pytest

from scripts.jobs import export_tables
from scripts.report.analysis import dictionary
from scripts.report.analysis.run_tables import read_csv
from tests.made import synthetic
from tests.made.rendering import computed, exported

# Tables that only studies with such factors, loads or counters fill; each has tests of its own.
OF_SOME = {"effects", "counters", "files", "operations", "executions", "relinked", "statements", "against", "ladder"}
BUILDS = {"baseline": 0.0, "aa": 0.0, "lto": 0.2, "pgo": 1.0, "pgo_lto": 1.1}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A study with factors, lost runs and a split block, exported."""
    lost = frozenset([("pgo", "oltp", 8, 2)])
    plan = synthetic.Plan(variants=BUILDS, workloads=("oltp",), failures=lost, reboot_before_run=8)
    made = synthetic.write_tree(plan, tmp_path_factory.mktemp("exported"))
    computed(made)
    exported(made)
    return made


def told(tree):
    return json.loads((tree.tables / "results.json").read_text(encoding="utf-8"))


def test_every_table_that_is_written_has_an_entry_and_no_entry_lacks_its_table(tree):
    assert {path.stem for path in tree.tables.glob("*.csv")} == set(dictionary.TABLES)


@pytest.mark.parametrize("name", dictionary.TABLES)
def test_every_column_has_its_meaning_and_unit_in_the_order_of_the_table(tree, name):
    assert (len(read_csv(tree.tables / f"{name}.csv")) > 0) == (name not in OF_SOME)
    with (tree.tables / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        written = next(csv.reader(stream))
    assert dictionary.TABLES[name].names == written
    assert all(len(column.meaning) > 4 and column.unit for column in dictionary.TABLES[name])


def test_text_beside_the_tables_has_a_row_of_three_fields_for_every_column(tree):
    text = (tree.tables / "README.md").read_text(encoding="utf-8")
    for name in dictionary.TABLES:
        part = text.split(f"## {name}.csv\n")[1].split("\n## ")[0]
        fields = [re.split(r"(?<!\\)\|", line)[1:-1] for line in part.splitlines() if line.startswith("| `")]
        assert [first.strip(" `") for first, _, _ in fields] == dictionary.TABLES[name].names


@pytest.mark.parametrize(
    ("table", "name", "unit"),
    [
        ("runs", "variant", "text"),
        ("overall", "lowest_workload", "text"),
        ("runs", "clients", "count"),
        ("cells", "n_blocks", "count"),
        ("comparisons", "flagged", "true or false"),
        ("runs", "p95_ms", "ms"),
        ("runs", "latency_mean_ms", "ms"),
        ("cells", "p_holm", "probability"),
        ("runs", "cpu_us_per_tx", "µs per transaction"),
        ("runs", "host_user_s", "s"),
        ("series", "errors_per_s", "1/s"),
        ("runs", "started_at", "s since 1970, UTC"),
        ("cells", "ratio_low", "ratio"),
        ("calibration", "chi2", "number"),
        ("cells", "log_ratio", "natural logarithm of a ratio"),
        ("executions", "read_bytes", "bytes"),
        ("bounds", "steal_share", "share, 0 to 1"),
    ],
)
def test_columns_have_the_unit_of_their_numbers(table, name, unit):
    assert dictionary.TABLES[table][name].unit == unit


@pytest.mark.parametrize("name", export_tables.EXPORTED)
def test_json_holds_every_value_of_the_table_and_null_where_a_field_is_empty(tree, name):
    found = told(tree)["tables"][name]
    with (tree.tables / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        fields = list(csv.DictReader(stream))
    assert len(found) == len(fields)
    assert (len(found) > 0) == (name not in OF_SOME)
    for row, written in zip(found, fields, strict=True):
        assert list(row) == list(written)
        for column, field in written.items():
            assert (row[column] is None) == (field == ""), column
            if isinstance(row[column], bool | str | None):
                assert str(row[column] if field else "") == field
            else:
                assert row[column] == float(field)


def test_json_tells_its_study_and_what_its_columns_mean(tree):
    whole = told(tree)
    assert (whole["study"], whole["reference"], whole["format"]) == ("made_up", "baseline", 1)
    for name, rows in whole["tables"].items():
        assert all(list(whole["columns"][name]) == list(row) for row in rows[:1])
    assert whole["columns"]["cells"]["p"] == {"meaning": "two-sided p of no difference", "unit": "probability"}


def test_missing_values_are_null_and_whole_numbers_have_no_point(tree):
    lost = next(row for row in told(tree)["tables"]["runs"] if row["outcome"] == "failed")
    assert lost["tps"] is None
    assert lost["transactions"] is None
    sound = next(row for row in told(tree)["tables"]["runs"] if row["outcome"] == "ok")
    assert type(sound["transactions"]) is int
    assert type(sound["tps"]) is float
    assert math.isfinite(sound["tps"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("metric,n_cells\ntps,2.5\n", r"calibration.csv, line 2, column n_cells: '2.5', expected a whole number"),
        ("metric,chi2\ntps,inf\n", r"line 2, column chi2: 'inf', expected a finite number"),
        ("metric,n_blocks\ntps,many\n", r"line 2, column n_blocks: could not convert"),
        ("metric,speediness\ntps,1\n", r"calibration.csv: column 'speediness', expected one of metric, n_cells"),
    ],
)
def test_table_that_is_not_as_described_is_refused_by_line_and_column(tmp_path, line, message):
    (tmp_path / "calibration.csv").write_text(line)
    with pytest.raises(ValueError, match=message):
        export_tables.read_rows(tmp_path / "calibration.csv")
