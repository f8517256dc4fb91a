"""A cache folder for each test, and reports that several test modules read, each made once a session."""

import tempfile
from pathlib import Path

import pytest

from scripts.lib.host import cache
from tests import own_cache
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


@pytest.fixture(scope="session")
def caches():
    """A folder that the servers' user can enter, as the real cache is."""
    with tempfile.TemporaryDirectory(prefix="tests-cache-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        yield folder


@pytest.fixture(autouse=True)
def cache_of_its_own(request, caches, monkeypatch):
    """Give a test a cache of its own; one marked `real` has the machine, or a part of it, to itself."""
    if request.node.get_closest_marker("real"):
        yield
        return
    parent = Path(tempfile.mkdtemp(dir=caches))
    parent.chmod(0o755)
    monkeypatch.setattr(cache, "PARENT", parent)
    with own_cache.refused(request.node.nodeid):
        yield
