"""Data that exceed the buffer pool are named in the plan, unless that is meant; reading the others in takes time."""

import pytest

from scripts.study.plan.preview.due import Due
from scripts.study.plan.preview.pools import READ_MIB_PER_S, beyond_pool, filling_s
from tests.made.studies import paths

SMALL_POOL = {"options": {"shared_buffers": "64MB"}, "datasets": {"sbtest": {"tables": 4, "rows": 1_000_000}}}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)


def beyond(**edit):
    return beyond_pool(Due(paths(**edit)), 64_000)


def test_data_larger_than_the_pool_are_named_once_with_both_sizes():
    [text] = beyond(**SMALL_POOL)
    assert text.startswith("sbtest takes about ")
    assert "the buffer pool of baseline, aa, pgo holds 64 MiB" in text


def test_nothing_is_named_where_data_fit_or_where_it_is_meant():
    assert beyond() == []
    meant = {"datasets": {"sbtest": {**SMALL_POOL["datasets"]["sbtest"], "fill": False}}}
    assert beyond(**{**SMALL_POOL, **meant}) == []


def filled_s(**edit):
    return filling_s(Due(paths(**edit)), 64_000)


def test_time_to_read_tables_into_the_pool_is_that_of_their_size():
    large = {**SMALL_POOL, "options": {"shared_buffers": "8GB"}}
    [text] = beyond(**SMALL_POOL)
    tables_mib = float(text.split()[3])
    assert filled_s(**large) == pytest.approx(tables_mib / READ_MIB_PER_S, rel=0.01)


def test_no_time_passes_where_tables_are_not_read_in():
    assert filled_s(**SMALL_POOL) == 0
    large = {**SMALL_POOL, "options": {"shared_buffers": "8GB"}}
    assert filled_s(**{**large, "datasets": {"sbtest": {**SMALL_POOL["datasets"]["sbtest"], "fill": False}}}) == 0
