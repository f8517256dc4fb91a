"""What of a server's sources is part of its recipe: content and names, never a path or a mirror."""

from pathlib import Path

import pytest

from scripts.build.sources import working_tree
from scripts.build.sources.kinds import declared_source, kind_of, prebuilt, source_candidates
from scripts.lib import json_record
from scripts.measure.servers import families

PRODUCTS = families.products()
SUM, COMMIT = "ab" * 32, "12" * 20
MAVEN = "com.example:server:zip:linux:5.5.34"


@pytest.fixture(autouse=True)
def own_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(working_tree, "cache_directory", lambda: tmp_path / "cache")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"debian": "mariadb"}, {"sha256": None}),
        ({"url": ["u", "v"], "sha256": SUM}, {"sha256": SUM}),
        ({"file": "/x"}, {"sha256": None}),
        ({"maven": MAVEN}, {"maven": MAVEN, "sha256": None}),
        ({"maven": MAVEN, "sha256": SUM}, {"maven": MAVEN, "sha256": SUM}),
        ({"maven": MAVEN, "folder": "opt"}, {"maven": MAVEN, "sha256": None, "folder": "opt"}),
        ({"git": "/x", "commit": COMMIT}, {"commit": COMMIT}),
    ],
)
def test_first_source_alone_is_declared_and_no_place_of_it(source, expected):
    assert declared_source([source, {"file": "/other", "sha256": "cd" * 32}], "15", PRODUCTS) == expected


def test_directory_is_declared_by_its_content_wherever_it_is(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "configure").write_text("#!/bin/sh\n")
    one, other = (declared_source([{"directory": str(tmp_path / name)}], "15", PRODUCTS) for name in ("one", "other"))
    assert one == other
    assert list(one) == ["content_sha256"]
    (tmp_path / "other" / "configure").write_text("#!/bin/sh -e\n")
    assert declared_source([{"directory": str(tmp_path / "other")}], "15", PRODUCTS) != one


def test_archive_without_a_stated_checksum_is_declared_by_its_content(tmp_path):
    archive = tmp_path / "server-15.tar"
    archive.write_bytes(b"one")
    one = declared_source([{"file": str(archive)}], "15", PRODUCTS)
    assert one == declared_source([{"file": str(tmp_path / "server-{version}.tar")}], "15", PRODUCTS)
    assert one == {"sha256": json_record.file_sha256(archive)}
    assert declared_source([{"file": str(archive), "sha256": SUM}], "15", PRODUCTS) == {"sha256": SUM}
    archive.write_bytes(b"two")
    assert declared_source([{"file": str(archive)}], "15", PRODUCTS) != one


def test_installed_server_is_declared_by_its_program(tmp_path):
    program = tmp_path / "bin" / "mariadbd"
    program.parent.mkdir()
    program.write_bytes(b"one")
    (tmp_path / "bin" / "mysqld").symlink_to("mariadbd")
    by_prefix, by_program = (
        declared_source([{"installed": str(path)}], "15", PRODUCTS) for path in (tmp_path, program)
    )
    assert by_prefix == by_program == {"program_sha256": json_record.file_sha256(program)}
    program.write_bytes(b"two")
    assert declared_source([{"installed": str(tmp_path)}], "15", PRODUCTS) != by_prefix


@pytest.mark.parametrize("key", ["directory", "installed"])
def test_missing_path_is_told_with_its_key(key):
    with pytest.raises(ValueError, match=f"{key}: /nowhere/server: does not exist, expected a "):
        declared_source([{key: "/nowhere/server"}], "15", PRODUCTS)


def test_home_is_understood(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    Path(tmp_path, "src").mkdir()
    Path(tmp_path, "src", "configure").touch()
    assert declared_source([{"directory": "~/src"}], "15", PRODUCTS) == declared_source(
        [{"directory": str(tmp_path / "src")}], "15", PRODUCTS
    )


@pytest.mark.parametrize(
    ("first", "expected"),
    [({"maven": MAVEN}, True), ({"installed": "/usr"}, True), ({"directory": "/x"}, False), ({"debian": "x"}, False)],
)
def test_first_source_decides_whether_a_server_comes_ready_made(first, expected):
    assert prebuilt([first, {"installed": "/usr"}]) is expected


def test_nothing_stands_in_for_content_that_is_declared_itself():
    other = {"debian": "mariadb"}
    for source in ({"git": "/x", "commit": COMMIT}, {"directory": "/x"}, {"installed": "/x"}):
        assert source_candidates([source, other]) == [source]
    for source in ({"maven": MAVEN}, {"file": "/x"}):
        assert source_candidates([source, other]) == [source, other]


@pytest.mark.parametrize("source", [{"debain": "mariadb"}, {"file": "/x", "url": "u"}, {}])
def test_source_of_no_kind_or_of_two_is_refused_showing_it(source):
    with pytest.raises(ValueError, match=r"expected exactly one of the keys debian, url, file, maven, git") as caught:
        kind_of(source)
    assert str(source) in str(caught.value)
