"""The cache belongs to the user who runs the workflow, and nobody else can put something in its place."""

import os
import stat

import pytest

from scripts.lib.host import cache
from tests.own_cache import CACHE_OF_USER

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")


def test_cache_belongs_to_this_user_and_is_nobodys_to_write(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "PARENT", tmp_path)
    folder = cache.cache_directory()
    assert folder == tmp_path / f"{cache.NAME}-{os.getuid()}"
    assert stat.S_IMODE(folder.stat().st_mode) & 0o022 == 0
    assert cache.cache_directory() == folder


def test_link_in_place_of_the_cache_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "PARENT", tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"{cache.NAME}-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match=f"{cache.NAME}-{os.getuid()}: belongs to another user"):
        cache.cache_directory()


@AS_ROOT
def test_cache_of_another_user_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "PARENT", tmp_path)
    os.chown(cache.cache_directory(), 65534, 65534)
    with pytest.raises(PermissionError, match="belongs to another user, expected a folder of uid 0; remove it"):
        cache.cache_directory()


def test_test_that_touches_the_cache_of_the_user_fails():
    message = r"test_cache\.py::.*: os\.listdir of .* touches the user's own cache"
    with pytest.raises(RuntimeError, match=message):
        list(CACHE_OF_USER.iterdir())
    with pytest.raises(RuntimeError, match="touches the user's own cache"):
        (CACHE_OF_USER / "held-x").open("rb")
    assert cache.cache_path() != CACHE_OF_USER
    assert not list(cache.cache_directory().iterdir())
