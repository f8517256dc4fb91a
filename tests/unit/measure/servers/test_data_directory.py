"""Every run starts from the same bytes: a snapshot is checked, cloned and the clone removed."""

import os
import tempfile
from pathlib import Path

import pytest

from scripts.build.sources.tree import tree_sha256
from scripts.lib.host import workplace
from scripts.measure.servers import data_directory


@pytest.fixture
def storage():
    """A folder every user can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="snapshot-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def packed(storage):
    """A packed data directory and the digest of its content."""
    data = storage / "stopped"
    (data / "db").mkdir(parents=True)
    (data / "db" / "table").write_bytes(b"rows" * 5000)
    (data / "log").write_bytes(b"")
    with (data / "sparse").open("wb") as stream:
        stream.truncate(16 * 2**20)
    (data / "link").symlink_to("db/table")
    (data / "db").chmod(0o700)
    sha256, _ = data_directory.pack(data, storage / "set" / "snapshot")
    return storage / "set" / "snapshot", sha256


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_snapshot_holds_the_data_and_tells_its_digest(packed, storage):
    folder, sha256 = packed
    assert contents(folder / data_directory.DATA) == contents(storage / "stopped")
    assert sha256 == tree_sha256(storage / "stopped")


def test_size_of_a_snapshot_leaves_out_holes(packed):
    folder, _ = packed
    assert 20_000 <= data_directory.allocated_bytes(folder / data_directory.DATA) < 2**20


def test_clone_has_the_same_bytes_modes_and_links(packed, storage):
    folder, sha256 = packed
    with data_directory.cloned(folder, str(storage)) as data:
        assert tree_sha256(data) == sha256
        assert (data / "link").readlink() == Path("db/table")
        assert (data / "db").stat().st_mode & 0o777 == 0o700
        assert (data / "sparse").stat().st_blocks * 512 < 2**20


def test_clone_belongs_to_the_servers_user(packed, storage):
    wanted = workplace.server_identity().get("user", os.getuid())
    with data_directory.cloned(packed[0], str(storage)) as data:
        owners = {path.lstat().st_uid for path in [data.parent, data, *data.rglob("*")]}
    assert owners == {wanted}


def test_writing_to_a_clone_leaves_the_snapshot_alone(packed, storage):
    folder, sha256 = packed
    with data_directory.cloned(folder, str(storage)) as data:
        (data / "db" / "table").write_bytes(b"other")
    assert tree_sha256(folder / data_directory.DATA) == sha256


@pytest.mark.parametrize("error", [None, RuntimeError("server died")])
def test_clone_is_gone_afterwards(packed, storage, error):
    before = sorted(storage.iterdir())
    try:
        with data_directory.cloned(packed[0], str(storage)) as data:
            if error:
                raise error
    except RuntimeError:
        assert error
    assert not data.exists()
    assert sorted(storage.iterdir()) == before


def test_untouched_snapshot_is_accepted(packed):
    data_directory.verify(*packed)


def change_content(data):
    (data / "db" / "table").write_bytes(b"rowz" * 5000)


def remove_file(data):
    (data / "log").unlink()


def add_file(data):
    (data / "db" / "new").touch()


def make_executable(data):
    (data / "db" / "table").chmod(0o755)
    os.utime(data / "db" / "table")


@pytest.mark.parametrize("seen_before", [False, True], ids=["first look", "after a good look"])
@pytest.mark.parametrize("alter", [change_content, remove_file, add_file, make_executable])
def test_altered_snapshot_is_refused(packed, alter, seen_before):
    folder, sha256 = packed
    if seen_before:
        data_directory.verify(folder, sha256)
    alter(folder / data_directory.DATA)
    told = rf"snapshot: the data directory was altered .*expected {sha256[:12]}.*; remove {folder.parent}, and the"
    with pytest.raises(ValueError, match=told):
        data_directory.verify(folder, sha256)


def test_second_look_reads_no_content(packed, monkeypatch):
    data_directory.verify(*packed)
    monkeypatch.setattr(data_directory, "tree_sha256", lambda folder: pytest.fail("the content was read again"))
    data_directory.verify(*packed)


def test_good_look_is_no_pass_for_another_digest(packed):
    folder, sha256 = packed
    data_directory.verify(folder, sha256)
    with pytest.raises(ValueError, match="was altered"):
        data_directory.verify(folder, sha256[::-1])


def test_fresh_dates_are_no_alteration(packed):
    folder, sha256 = packed
    data_directory.verify(folder, sha256)
    for path in folder.rglob("*"):
        os.utime(path, follow_symlinks=False)
    data_directory.verify(folder, sha256)


def test_sharing_blocks_is_tried_without_leaving_anything(packed, storage):
    before = sorted(storage.iterdir())
    assert data_directory.shares_blocks(packed[0] / data_directory.DATA, storage) in (True, False)
    assert sorted(storage.iterdir()) == before
