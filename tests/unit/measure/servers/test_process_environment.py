"""A server has the environment that a study states, and its preloaded libraries are mapped."""

import shutil
from pathlib import Path

import pytest

from scripts.lib.json_record import file_sha256
from scripts.measure.servers import process_environment, server
from scripts.measure.servers.server import ServerFailed
from tests.unit.measure.servers.test_server import READY, made_family, place

__all__ = ["place"]


@pytest.fixture
def library(tmp_path):
    """A copy of a library that this process has mapped, so that nothing else maps it."""
    mapped = (line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines())
    return Path(shutil.copy(next(path for path in mapped if "/libm.so" in path or "/libz.so" in path), tmp_path))


def started(tmp_path, place, given):
    family = made_family(tmp_path, READY.format(status=0))
    return server.running(family, tmp_path, place.data, {}, place.log, environment=given)


def test_preloaded_library_is_mapped_and_recorded(tmp_path, place, library):
    given = {"LD_PRELOAD": str(library), "MALLOC_CONF": "stats_print:false"}
    with started(tmp_path, place, given) as one:
        libraries = process_environment.require(one, given)
    assert libraries == {str(library): file_sha256(library)}


def test_library_that_the_loader_left_out_is_named(tmp_path, place):
    given = {"LD_PRELOAD": "/nowhere/lib.so"}
    with (
        started(tmp_path, place, given) as one,
        pytest.raises(ServerFailed, match=r"without environment.LD_PRELOAD /nowhere/lib.so: not mapped"),
    ):
        process_environment.require(one, given)


def test_variable_that_the_server_lacks_is_named(tmp_path, place):
    with (
        started(tmp_path, place, {"ONE": "1"}) as one,
        pytest.raises(ServerFailed, match=r"runs without environment.ONE=2, TWO=2 \(log: "),
    ):
        process_environment.require(one, {"ONE": "2", "TWO": "2"})


def test_server_without_an_environment_has_no_facts(tmp_path, place):
    with started(tmp_path, place, {}) as one:
        assert process_environment.require(one, {}) == {}


@pytest.mark.parametrize("value", ["/a/b.so:/c.so", "/a/b.so /c.so", " /a/b.so  /c.so "])
def test_libraries_are_split_as_the_loader_does(value):
    assert process_environment.preloaded({"LD_PRELOAD": value}) == [Path("/a/b.so"), Path("/c.so")]
    assert process_environment.preloaded({}) == []
