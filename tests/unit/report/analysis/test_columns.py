"""Columns and tables as declared values."""

import pytest

from scripts.report.analysis.columns import COUNT, TEXT, Column, CsvTable

WHO = Column("variant", "arm of the experiment", TEXT)
RUNS = Column("n_runs", "planned runs", COUNT)


def test_table_names_its_columns_in_order():
    table = CsvTable("made_up", "a variant", (WHO, RUNS))
    assert table.names == ["variant", "n_runs"]
    assert table["n_runs"] is RUNS


def test_unknown_column_is_an_error_that_names_table_and_column():
    with pytest.raises(KeyError, match="table made_up has no column 'speediness'"):
        CsvTable("made_up", "a variant", (WHO,))["speediness"]


def test_column_declared_twice_is_refused():
    with pytest.raises(ValueError, match="table made_up: columns declared twice: n_runs"):
        CsvTable("made_up", "a variant", (RUNS, RUNS))


def test_column_keeps_name_and_unit_with_another_meaning():
    assert RUNS.meaning_here("of all cells") == Column("n_runs", "of all cells", COUNT)
