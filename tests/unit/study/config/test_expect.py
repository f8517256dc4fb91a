"""The key `expect` names variants beside the reference, quantities and limits; a mistake is named with its key."""

import pytest

from scripts import ROOT
from scripts.study.config.loading import load
from scripts.study.config.scalars import as_written
from scripts.study.config.yaml_lines import ConfigError
from tests.made.studies import config

NAMES = [name for name in config()["variants"] if name != config()["reference"]]
OTHER, REFERENCE = NAMES[0], config()["reference"]


def test_limits_of_a_variant_are_accepted():
    expect = {OTHER: {"tps": "> 1.05", "p95_ms": "<= 1.02"}}
    assert as_written(load(config(expect=expect), ROOT, "x.yaml").declared.expect) == expect


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ({"nosuch": {"tps": "> 1"}}, "expect.nosuch: 'nosuch' is unknown"),
        ({REFERENCE: {"tps": "> 1"}}, f"expect.{REFERENCE}: '{REFERENCE}' is the reference, expected a variant"),
        ({OTHER: {"tps": 1.05}}, 'expected a limit of a ratio in quotes, such as "> 1.05"'),
        ({OTHER: {"tps": "= 1.05"}}, 'expected a limit of a ratio in quotes, such as "> 1.05"'),
        ({OTHER: {"tsp": "> 1.05"}}, "did you mean 'tps'"),
    ],
)
def test_a_wrong_expectation_is_refused_by_its_key(expect, message):
    with pytest.raises(ConfigError) as caught:
        load(config(expect=expect), ROOT, "x.yaml")
    assert message in str(caught.value)
