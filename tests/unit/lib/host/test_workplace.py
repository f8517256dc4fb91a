"""Places outside the results belong to whom they should, have short enough names, and are told when unusable."""

import os
import pwd
import stat
import tempfile
from pathlib import Path

import pytest

from scripts.lib import json_record
from scripts.lib.host import workplace

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root runs servers as another user")


@pytest.fixture
def open_folder():
    """A folder every user can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="workplace-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def cache(monkeypatch, open_folder):
    """A cache of this test's own in place of the user's."""
    folder = open_folder / "cache"
    folder.mkdir()
    monkeypatch.setattr(workplace, "cache_directory", lambda: folder)
    return folder


@pytest.fixture
def build(tmp_path):
    """A build of one program, with its identity."""
    program = tmp_path / "build" / "install" / "bin" / "server"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    identity = tmp_path / "build" / "identity.json"
    json_record.write(identity, {"server_file": "bin/server", "sha256": json_record.file_sha256(program)})
    return identity


@AS_ROOT
def test_root_runs_servers_as_an_unprivileged_user_without_groups():
    user = pwd.getpwnam(workplace.SERVER_USER)
    assert workplace.server_identity() == {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    assert user.pw_uid != 0


def test_other_users_run_servers_as_themselves(monkeypatch, tmp_path):
    (tmp_path / "private").mkdir(mode=0o700)
    monkeypatch.setattr(workplace.os, "getuid", lambda: 1000)
    assert workplace.server_identity() == {}
    assert workplace.reachable(tmp_path / "private" / "x")


@AS_ROOT
def test_what_is_given_belongs_to_the_servers_user_links_themselves_included(tmp_path):
    (tmp_path / "given" / "sub").mkdir(parents=True)
    (tmp_path / "given" / "sub" / "file").touch()
    (tmp_path / "kept").touch()
    (tmp_path / "given" / "link").symlink_to(tmp_path / "kept")
    workplace.give(tmp_path / "given")
    owners = {path.lstat().st_uid for path in [tmp_path / "given", *(tmp_path / "given").rglob("*")]}
    assert owners == {workplace.server_identity()["user"]}
    assert (tmp_path / "kept").stat().st_uid == 0


@AS_ROOT
def test_folder_behind_a_closed_one_is_out_of_reach(open_folder):
    (open_folder / "closed" / "inner").mkdir(parents=True)
    assert workplace.reachable(open_folder / "closed" / "inner")
    (open_folder / "closed").chmod(0o700)
    assert not workplace.reachable(open_folder / "closed" / "inner")


def test_socket_folder_is_private_short_and_new(monkeypatch):
    with workplace.socket_directory() as one, workplace.socket_directory() as other:
        assert one != other
        assert stat.S_IMODE(one.stat().st_mode) == 0o700
        assert one.stat().st_uid == workplace.server_identity().get("user", os.getuid())
        assert len(os.fsencode(one / ".s.PGSQL.5432.lock")) <= 107
    assert not one.exists()
    assert not other.exists()


def test_folder_too_long_for_a_socket_is_refused_and_removed(monkeypatch, tmp_path):
    long = tmp_path / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with pytest.raises(ValueError, match=r"TMPDIR: .* is too long for a Unix socket, whose path may have 107 bytes"):
        with workplace.socket_directory():
            pass
    assert list(long.iterdir()) == []


def test_data_directory_lies_in_the_cache_unless_a_storage_is_named(cache, open_folder):
    with workplace.data_directory(None) as folder:
        assert folder.parent == cache / "data"
    with workplace.data_directory(str(open_folder / "fast")) as folder:
        assert folder.parent == open_folder / "fast"


def test_storage_that_is_no_folder_is_named(open_folder):
    (open_folder / "file").touch()
    with pytest.raises(ValueError, match=r"storage: .*/file cannot hold data directories"):
        with workplace.data_directory(str(open_folder / "file")):
            pass


@AS_ROOT
def test_storage_the_servers_user_cannot_enter_is_named_and_left_clean(open_folder):
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(ValueError, match=r"storage: .*/closed cannot be entered by user nobody, who runs the servers"):
        with workplace.data_directory(str(closed)):
            pass
    assert list(closed.iterdir()) == []


def test_install_tree_is_used_where_it_is_when_it_can_be_reached(monkeypatch, build):
    monkeypatch.setattr(workplace, "reachable", lambda path: True)
    assert workplace.installed(build) == build.parent / "install"


def test_install_tree_out_of_reach_is_copied_once(monkeypatch, build, cache):
    monkeypatch.setattr(workplace, "reachable", lambda path: False)
    copy = workplace.installed(build)
    assert copy.parent == cache / "install"
    assert (copy / "bin" / "server").read_text() == "#!/bin/sh\n"
    assert (copy / "bin" / "server").stat().st_mode & 0o777 == 0o755
    stamp = (copy / "bin").stat().st_ino
    assert workplace.installed(build) == copy
    assert (copy / "bin").stat().st_ino == stamp
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]


@pytest.mark.parametrize("alter", [lambda program: program.unlink(), lambda program: program.write_text("other")])
def test_program_that_is_not_the_one_described_is_refused(build, alter):
    alter(build.parent / "install" / "bin" / "server")
    told = r"bin/server: is not the program .*identity.json describes; remove .*/build to have it made again"
    with pytest.raises(ValueError, match=told):
        workplace.installed(build)


def test_removing_what_is_gone_is_no_error(tmp_path):
    workplace.remove(tmp_path / "never")
    (tmp_path / "folder" / "sub").mkdir(parents=True)
    workplace.remove(tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_removing_a_file_in_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        workplace.remove(tmp_path / "file")
