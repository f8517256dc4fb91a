"""A server's sources are tried in order; a tree is whole with its record, or it has none."""

import hashlib
import json
import logging
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from scripts.build.sources import SourceError, archive, source
from scripts.build.sources import working_tree as sources_working_tree
from scripts.build.sources.declared import SourceFile, SourceIdentity, WantedSource
from scripts.build.sources.kinds import declared_source
from scripts.build.sources.source import make, satisfies
from scripts.build.sources.tree import tree_sha256
from scripts.lib.recipe_models import ServerSourceRecipe
from scripts.measure.servers import families
from tests.made.served import Files, served

PRODUCTS = families.products()
CHECKOUT = Path(__file__).parents[4]


def ball(path: Path, release: str = "15.18", extra: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as out:
        for name, text in {"configure": f"PACKAGE_VERSION='{release}'\n", "src/main.c": f"int x;{extra}\n"}.items():
            info = tarfile.TarInfo(f"server-{release}/{name}")
            info.size = len(text)
            out.addfile(info, BytesIO(text.encode()))
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def recipe(*sources: dict, version: str = "15", **content: str) -> WantedSource:
    names = {"server": "postgresql-15", "product": "PostgreSQL", "version": version}
    return WantedSource(ServerSourceRecipe.of({**names, **content}), list(sources))


@pytest.fixture(autouse=True)
def own_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(sources_working_tree, "cache_directory", lambda: tmp_path / "cache")


@pytest.fixture
def place(tmp_path) -> tuple[Path, Path]:
    return tmp_path / "sources" / "tree", tmp_path / "sources" / "source.json"


@pytest.fixture
def mirror(tmp_path, monkeypatch) -> Iterator[str]:
    """The URL at which the files below `tmp_path` are served."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with served(Files) as server:
        server.folder = tmp_path
        yield server.url


def test_first_usable_source_makes_the_tree_and_its_record(tmp_path, place, mirror):
    good = ball(tmp_path / "mirror" / "pg-15.18.tar.gz")
    missing = {"file": str(tmp_path / "absent.tar.gz")}
    url = {"url": [f"{mirror}/none/pg.tar.gz", f"{mirror}/mirror/pg-15.18.tar.gz"], "sha256": sha256(good).upper()}
    facts = make(recipe(missing, url), *place, PRODUCTS)
    tree, identity = place
    record = json.loads(identity.read_text())
    assert record == {
        "format": 1,
        "server": "postgresql-15",
        "product": "PostgreSQL",
        "version": "15",
        "release": "15.18",
        "kind": "url",
        "origin": f"one of {', '.join(url['url'])}",
        "files": [{"name": "pg.tar.gz", "sha256": sha256(good)}],
        "tree_sha256": tree_sha256(tree),
    }
    assert (facts, list(SourceIdentity.unknown_keys(record))) == (SourceIdentity.of(record), ["record.format"])
    assert sorted(path.name for path in tree.iterdir()) == ["configure", "src"]
    assert sorted(path.name for path in tree.parent.iterdir()) == ["downloads", "source.json", "tree"]


def test_version_is_filled_into_urls_and_files(tmp_path, place):
    ball(tmp_path / "pg-15.18.tar.gz")
    make(recipe({"file": f"{tmp_path}/pg-{{version}}.tar.gz"}, version="15.18"), *place, PRODUCTS)
    assert place[0].is_dir()


def test_home_is_understood_in_file(tmp_path, place, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    ball(tmp_path / "pg.tar.gz")
    assert make(recipe({"file": "~/pg.tar.gz"}), *place, PRODUCTS).kind == "file"


def test_every_failure_is_told_with_where_to_put_the_file(tmp_path, place):
    wrong = ball(tmp_path / "wrong.tar.gz")
    sources = [
        {"file": "/nowhere/a.tar.gz"},
        {"file": str(wrong), "sha256": "0" * 64},
        {"url": ["http://127.0.0.1:9/nowhere/b.tar.gz"], "sha256": "1" * 64},
        {"url": ["http://127.0.0.1:9/nowhere/c.tar.gz"]},
        {"debain": "mariadb"},
    ]
    with pytest.raises(SourceError) as caught:
        make(recipe(*sources), *place, PRODUCTS)
    text = str(caught.value)
    assert "postgresql-15 (PostgreSQL 15)" in text
    assert "/nowhere/a.tar.gz: does not exist, expected an archive" in text
    assert f"sha256 is {sha256(wrong)}, expected {'0' * 64}" in text
    assert f"put it at {place[0].parent}/downloads/b.tar.gz (sha256 {'1' * 64})" in text
    assert "c.tar.gz: sha256 is missing" in text
    assert "exactly one of the keys debian, url, file" in text
    assert not place[0].exists()
    assert not place[1].exists()


def test_sources_of_another_release_are_refused(tmp_path, place):
    ball(tmp_path / "pg.tar.gz", release="16.1")
    with pytest.raises(SourceError, match=r"these are the sources of release 16\.1, wanted 15"):
        make(recipe({"file": str(tmp_path / "pg.tar.gz")}), *place, PRODUCTS)
    assert list(place[0].parent.iterdir()) == []


def test_whole_tree_of_the_same_recipe_is_kept(tmp_path, place, mirror):
    good = ball(tmp_path / "pg.tar.gz")
    wanted = recipe({"url": f"{mirror}/pg.tar.gz", "sha256": sha256(good)})
    first = make(wanted, *place, PRODUCTS)
    born = place[0].stat().st_ino
    good.unlink()
    assert make(wanted, *place, PRODUCTS) == first
    assert place[0].stat().st_ino == born


def test_changed_tree_is_made_again_from_the_kept_download(tmp_path, place, mirror):
    good = ball(tmp_path / "pg.tar.gz")
    wanted = recipe({"url": f"{mirror}/pg.tar.gz", "sha256": sha256(good)})
    first = make(wanted, *place, PRODUCTS)
    good.unlink()
    (place[0] / "src/main.c").write_text("int y;\n")
    assert make(wanted, *place, PRODUCTS) == first
    assert (place[0] / "src/main.c").read_text() == "int x;\n"


def test_new_checksum_replaces_the_tree(tmp_path, place, mirror):
    good = ball(tmp_path / "pg.tar.gz")
    make(recipe({"url": f"{mirror}/pg.tar.gz", "sha256": sha256(good)}), *place, PRODUCTS)
    ball(good, extra=" int patched;")
    make(recipe({"url": f"{mirror}/pg.tar.gz", "sha256": sha256(good)}), *place, PRODUCTS)
    assert "patched" in (place[0] / "src/main.c").read_text()


def test_name_that_is_not_utf8_reaches_the_log_in_a_visible_form(tmp_path):
    wanted = json.dumps({"server": "s", "product": "PostgreSQL", "version": "15"})
    sources = json.dumps([{"file": f"{tmp_path}/caf\udce9.tar"}])
    argv = [sys.executable, "-m", "scripts.jobs.fetch_source", "--recipe", wanted, "--sources", sources]
    paths = ["--tree", tmp_path / "tree", "--identity", tmp_path / "source.json", "--log", tmp_path / "log"]
    ended = subprocess.run([*argv, *paths], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "Logging error" not in ended.stderr
    assert r"caf\udce9.tar: does not exist" in (tmp_path / "log").read_text()


def test_unpacking_that_breaks_off_leaves_no_tree_and_no_record(tmp_path, place, monkeypatch):
    ball(tmp_path / "pg.tar.gz")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(source, "tree_sha256", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make(recipe({"file": str(tmp_path / "pg.tar.gz")}), *place, PRODUCTS)
    assert list(place[0].parent.iterdir()) == []


def test_what_a_killed_try_left_behind_is_no_obstacle(tmp_path, place):
    ball(tmp_path / "pg.tar.gz")
    leftover = place[0].with_name(".tree.unpacking")
    (leftover / "half").mkdir(parents=True)
    place[0].mkdir()
    (place[0] / "stale").touch()
    make(recipe({"file": str(tmp_path / "pg.tar.gz")}), *place, PRODUCTS)
    assert sorted(path.name for path in place[0].iterdir()) == ["configure", "src"]
    assert not leftover.exists()


def test_failed_try_keeps_the_tree_that_was_there(tmp_path, place):
    good = ball(tmp_path / "pg.tar.gz")
    first = make(recipe({"file": str(good)}), *place, PRODUCTS)
    with pytest.raises(SourceError):
        make(recipe({"file": "/nowhere/pg.tar.gz"}, version="15.19"), *place, PRODUCTS)
    assert SourceIdentity.of(json.loads(place[1].read_text())) == first
    assert tree_sha256(place[0]) == first.tree_sha256


def working_tree(path: Path, release: str = "15.18") -> Path:
    (path / "src").mkdir(parents=True)
    (path / "configure").write_text(f"PACKAGE_VERSION='{release}'\n")
    (path / "src" / "main.c").write_text("int x;\n")
    return path


def test_directory_is_copied_as_the_recipe_has_it(tmp_path, place):
    sources = [{"directory": str(working_tree(tmp_path / "mine"))}]
    wanted = recipe(*sources, **declared_source(sources, "", PRODUCTS))
    facts = make(wanted, *place, PRODUCTS)
    assert (facts.kind, facts.release, facts.files) == ("directory", "15.18", [])
    assert facts.content_sha256 == wanted.recipe.content_sha256
    assert (place[0] / "src/main.c").read_text() == "int x;\n"
    born = place[0].stat().st_ino
    assert make(wanted, *place, PRODUCTS) == facts
    assert place[0].stat().st_ino == born


def test_directory_that_changed_since_the_recipe_is_told_and_nothing_stands_in(tmp_path, place):
    sources = [{"directory": str(working_tree(tmp_path / "mine"))}, {"file": str(ball(tmp_path / "pg.tar.gz"))}]
    wanted = recipe(*sources, **declared_source(sources, "", PRODUCTS))
    (tmp_path / "mine" / "src" / "main.c").write_text("int other;\n")
    with pytest.raises(SourceError, match=f"directory: {tmp_path}/mine: changed since .*; run again$"):
        make(wanted, *place, PRODUCTS)
    assert not place[0].exists()


def test_edited_directory_replaces_the_tree(tmp_path, place):
    sources = [{"directory": str(working_tree(tmp_path / "mine"))}]
    make(recipe(*sources, **declared_source(sources, "", PRODUCTS)), *place, PRODUCTS)
    (tmp_path / "mine" / "src" / "main.c").write_text("int patched;\n")
    make(recipe(*sources, **declared_source(sources, "", PRODUCTS)), *place, PRODUCTS)
    assert (place[0] / "src/main.c").read_text() == "int patched;\n"


def committed(path: Path, release: str = "15.18") -> str:
    working_tree(path, release)
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *arguments], cwd=path, check=True)
    return subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=path, text=True).strip()


def test_commit_of_a_repository_makes_the_tree(tmp_path, place):
    commit = committed(tmp_path / "server")
    wanted = recipe({"git": str(tmp_path / "server"), "commit": commit})
    facts = make(wanted, *place, PRODUCTS)
    assert (facts.kind, facts.release, facts.commit, facts.files) == ("git", "15.18", commit, [])
    assert facts.origin == f"commit {commit} of {tmp_path}/server"
    assert sorted(path.name for path in place[0].iterdir()) == ["configure", "src"]
    (tmp_path / "server").rename(tmp_path / "moved")
    assert make(wanted, *place, PRODUCTS) == facts


def test_commit_of_another_release_is_refused(tmp_path, place):
    commit = committed(tmp_path / "server", "16.1")
    with pytest.raises(SourceError, match=rf"{commit} .*these are the sources of release 16\.1, wanted 15"):
        make(recipe({"git": str(tmp_path / "server"), "commit": commit}), *place, PRODUCTS)


def postgres(prefix: Path, release: str = "15.18") -> Path:
    (prefix / "bin").mkdir(parents=True, exist_ok=True)
    program = prefix / "bin" / "postgres"
    program.write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {release} (Debian {release}-0)'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("below", ["", "bin/postgres"])
def test_installed_server_is_pointed_at_and_nothing_is_fetched(tmp_path, place, below):
    program = postgres(tmp_path / "prefix")
    path = tmp_path / "prefix" / below
    facts = make(recipe({"installed": str(path)}), *place, PRODUCTS)
    assert (facts.kind, facts.release, facts.path) == ("installed", "15.18", str(path))
    assert facts.files == [SourceFile("postgres", sha256(program))]
    assert [entry.name for entry in place[0].iterdir()] == ["prefix"]
    assert (place[0] / "prefix").readlink() == path
    assert sorted(entry.name for entry in place[0].parent.iterdir()) == ["source.json", "tree"]


def test_upgraded_installed_server_is_pointed_at_anew(tmp_path, place):
    postgres(tmp_path)
    first = make(recipe({"installed": str(tmp_path)}), *place, PRODUCTS)
    postgres(tmp_path, "15.19")
    assert make(recipe({"installed": str(tmp_path)}), *place, PRODUCTS).release == "15.19"
    assert first.release == "15.18"


def test_installed_server_that_is_not_the_recipes_or_of_another_release_is_told(tmp_path, place):
    sources = [{"installed": str(tmp_path)}]
    postgres(tmp_path)
    wanted = recipe(*sources, **declared_source(sources, "", PRODUCTS))
    postgres(tmp_path, "16.1")
    with pytest.raises(SourceError, match=r"bin/postgres: changed since .*; run again"):
        make(wanted, *place, PRODUCTS)
    with pytest.raises(SourceError, match=r"this is release 16\.1, wanted 15"):
        make(recipe(*sources), *place, PRODUCTS)


IDENTITY = {
    "server": "postgresql-15",
    "product": "PostgreSQL",
    "version": "15",
    "kind": "debian",
    "origin": "source package postgresql-15 15.18-0+deb12u1",
    "package": "postgresql-15",
    "files": [{"name": "x.tar.gz", "sha256": "ab"}],
}


@pytest.mark.parametrize(
    ("change", "wanted", "expected"),
    [
        ({}, recipe({"debian": "postgresql-15"}), True),
        ({}, recipe({"file": "/x"}, {"debian": "postgresql-15"}), True),
        ({}, recipe({"debian": "postgresql"}), False),
        ({}, recipe({"debian": "postgresql-15"}, version="15.18"), False),
        ({}, recipe({"file": "/x", "sha256": "ab"}), False),
        ({"kind": "url", "origin": "u"}, recipe({"url": ["v"], "sha256": "AB"}), True),
        ({"kind": "url", "origin": "u"}, recipe({"url": ["u"], "sha256": "cd"}), False),
        ({"kind": "file", "origin": "/x"}, recipe({"file": "/x"}), False),
        ({"kind": "maven", "maven": "g:a:zip:c:15"}, recipe({"maven": "g:a:zip:c:{version}"}), True),
        ({"kind": "maven", "maven": "g:a:zip:c:15"}, recipe({"maven": "g:a:zip:c:15", "sha256": "AB"}), True),
        ({"kind": "maven", "maven": "g:a:zip:c:15"}, recipe({"maven": "g:a:zip:c:15", "sha256": "cd"}), False),
        ({"kind": "maven", "maven": "g:a:zip:c:14"}, recipe({"maven": "g:a:zip:c:15"}), False),
        ({"kind": "maven", "maven": "m", "folder": "a"}, recipe({"maven": "m", "folder": "a"}), True),
        ({"kind": "maven", "maven": "m", "folder": "a"}, recipe({"maven": "m", "folder": "b"}), False),
        ({"kind": "maven", "maven": "m", "folder": "a"}, recipe({"maven": "m"}), False),
        ({"kind": "git", "commit": "1"}, recipe({"git": "/other", "commit": "1"}), True),
        ({"kind": "git", "commit": "1"}, recipe({"git": "/x", "commit": "2"}), False),
        ({"kind": "directory", "content_sha256": "1"}, recipe({"directory": "/x"}, content_sha256="1"), True),
        ({"kind": "directory", "content_sha256": "1"}, recipe({"directory": "/x"}, content_sha256="2"), False),
        ({"kind": "directory", "content_sha256": "1"}, recipe({"debian": "x"}, {"directory": "/x"}), False),
    ],
)
def test_tree_satisfies_a_recipe_by_package_or_checksum_never_by_mirror(change, wanted, expected):
    assert satisfies(SourceIdentity.of({**IDENTITY, **change}), wanted, PRODUCTS) is expected


def test_entry_script_ends_with_one_sentence_and_its_log(tmp_path):
    wanted = json.dumps(recipe().recipe.dump())
    argv = [sys.executable, "-m", "scripts.jobs.fetch_source", "--recipe", wanted]
    argv += ["--sources", json.dumps([{"file": "/nowhere/x.tar"}])]
    argv += ["--tree", str(tmp_path / "tree"), "--identity", str(tmp_path / "source.json")]
    ended = subprocess.run([*argv, "--log", str(tmp_path / "log")], cwd=CHECKOUT, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "/nowhere/x.tar: does not exist, expected an archive" in ended.stderr
    assert ended.stderr.endswith(f"(log: {tmp_path}/log)\n")
    assert "Traceback" not in ended.stderr
    assert "no source of postgresql-15" in (tmp_path / "log").read_text()


def test_progress_of_a_long_unpacking_is_told(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(archive, "PROGRESS_S", -1)
    with caplog.at_level(logging.INFO):
        archive.unpack(ball(tmp_path / "pg.tar.gz"), tmp_path / "tree")
    assert "pg.tar.gz: 1 members, 0 MiB unpacked" in caplog.text
