"""Reports that several test modules read, each made once a session."""

import pytest

from tests.made import synthetic
from tests.made.rendering import rendered


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """A whole study: two workloads, one client count."""
    return rendered(synthetic.Plan(workloads=("simple_select", "oltp")), tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="session")
def report_with_holes(tmp_path_factory):
    """Two client counts, one of which always fails for pgo, and a reboot on the way."""
    lost = frozenset([*(("pgo", "oltp", 64, repetition) for repetition in range(1, 6)), ("pgo", "oltp", 8, 2)])
    plan = synthetic.Plan(workloads=("oltp",), clients=(8, 64), failures=lost, reboot_before_run=14)
    return rendered(plan, tmp_path_factory.mktemp("holes"))
