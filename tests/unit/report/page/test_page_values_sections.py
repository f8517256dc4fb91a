"""The values of the page come from one section each."""

import pytest

from scripts.report.page.page_values import merged


def test_sections_are_merged():
    assert merged({"trust": {"findings": []}, "why": {"bounds": []}}) == {"findings": [], "bounds": []}


def test_value_that_two_sections_set_is_refused_by_name():
    with pytest.raises(ValueError, match="value 'noise' is set by the sections trust and where, expected one"):
        merged({"trust": {"noise": ""}, "where": {"noise": ""}})
