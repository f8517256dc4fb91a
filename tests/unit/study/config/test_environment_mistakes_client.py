"""What the environment of the load generator may not hold."""

import pytest

from tests.made.studies import config
from tests.unit.study.config.test_cross_checks import QUERIES, mistakes

GIVEN = {"LD_PRELOAD": "/usr/lib/liballoc.so"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"client": {"ssh": "loadgen"}},
            "expected none beside `client`: sysbench has the environment of the other host",
        ),
        (
            {"client_environment": {"GATE_FILE": "x"}},
            "client_environment.GATE_FILE: the workflow itself sets variables",
        ),
        ({"workloads": {"queries": QUERIES}, "clients": [1]}, "client_environment: all workloads are timed SQL"),
        ({"client_environment": {"path": "x"}}, "client_environment.path: the name 'path' cannot be used"),
    ],
    ids=["other host", "the gate's own", "timed SQL", "small letters"],
)
def test_environment_that_cannot_be_is_a_mistake_of_the_config(changes, told):
    assert told in mistakes(config(**{"client_environment": GIVEN, **changes}))
