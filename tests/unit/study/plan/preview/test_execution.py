"""A file system mounted noexec stops what would run programs from there, and nothing else."""

import pytest

from scripts.lib.host import workplace
from scripts.lib.host.storage import FileSystem
from scripts.study.plan.preview.due import Due
from scripts.study.plan.preview.execution import noexec_limits
from tests.made.studies import PREBUILT_MARIADB, paths

DISK, CLOSED = FileSystem(1, "ext4", 500_000, "rw,nosuid,relatime"), FileSystem(2, "tmpfs", 500_000, "rw,nosuid,noexec")
INSTALLED = {"variants": dict.fromkeys(("baseline", "pgo"), PREBUILT_MARIADB)}
STORED = {
    "storage": {"fast": "/fast"},
    "variants": {name: {"server": "postgresql-15", "build": name, "storage": "fast"} for name in ("baseline", "pgo")},
}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty working directory that the servers' user can enter."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workplace, "reachable", lambda path: True)


def found(edit, *closed):
    system = lambda path: CLOSED if str(path) in closed else DISK  # noqa: E731
    return list(noexec_limits(Due(paths(**edit)), "/cache", system))


def test_usual_file_systems_stop_nothing():
    assert found({}) == found(STORED) == []


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("/cache", ["the compiler wrapper", "build tools"]),
        ("results", ["configure", "servers from their install trees"]),
    ],
)
def test_folder_from_which_compiled_servers_are_made_or_run_refuses_the_study(folder, words):
    (limit,) = found({}, folder)
    assert (limit.certain, limit.refused) == (True, True)
    assert limit.text.startswith(
        f"noexec: {folder} is on a file system (tmpfs) that runs no programs, expected one for "
    )
    assert all(word in limit.text for word in words)
    assert "remount,exec" in limit.remedy


def test_nothing_runs_from_data_directories():
    assert found(STORED, "/fast") == []


def test_installed_server_runs_from_where_it_is():
    assert found(INSTALLED, "/cache", "results") == []


def test_copies_of_install_trees_run_from_the_cache(monkeypatch):
    monkeypatch.setattr(workplace, "reachable", lambda path: False)
    told = [limit.text.partition(" expected one for ")[2] for limit in found({}, "/cache", "results")]
    assert told[0] == "configure and other scripts of the sources"
    assert told[1].endswith("servers from copies of their install trees, as nobody cannot enter results")
