"""Shares and times are read as they are written, and what is none is refused by the schema."""

import pytest

from scripts.study.config.loading import load
from scripts.study.config.run_time import seconds_of, share_of
from scripts.study.config.yaml_lines import ConfigError
from tests.made.studies import CHECKOUT, config


@pytest.mark.parametrize(("written", "share"), [("2 %", 0.02), ("2%", 0.02), ("0.5 %", 0.005), (0.02, 0.02), (1, 1)])
def test_share(written, share):
    assert share_of(written) == pytest.approx(share)
    assert load(config(matters=written, precision=written), CHECKOUT, "study.yaml").declared.matters == written


@pytest.mark.parametrize(("written", "seconds"), [("90 s", 90), ("20 min", 1200), ("1.5 h", 5400), ("2h", 7200)])
def test_seconds(written, seconds):
    assert seconds_of(written) == seconds
    assert load(config(precision=0.02, at_most=written), CHECKOUT, "study.yaml").declared.at_most == written


@pytest.mark.parametrize("change", [{"matters": each} for each in ("0 %", "0.0 %", "101 %", "-1 %", "2", 0, 1.5)])
def test_what_is_no_share_is_refused(change):
    with pytest.raises(ConfigError, match=r"expected a share such as 2 % or 0\.02"):
        load(config(**change), CHECKOUT, "study.yaml")


@pytest.mark.parametrize("written", ["0 min", "20", 20, "20 days", "min", "-5 s"])
def test_what_is_no_time_is_refused(written):
    with pytest.raises(ConfigError, match="expected a time such as 90 s, 20 min or 2 h"):
        load(config(precision=0.02, at_most=written), CHECKOUT, "study.yaml")


def test_a_longest_time_without_a_precision_is_refused():
    with pytest.raises(ConfigError, match=r"at_most.*expected `precision` beside it"):
        load(config(at_most="20 min"), CHECKOUT, "study.yaml")
