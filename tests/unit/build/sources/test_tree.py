"""The digest of a tree changes with its content and with nothing else; releases are read from the sources."""

import os
from pathlib import Path

import pytest

from scripts.build.sources.tree import release_of, require_buildable, tree_sha256
from scripts.measure.servers import families


def grow(root: Path) -> Path:
    (root / "sub" / "empty").mkdir(parents=True)
    (root / "configure").write_text("#!/bin/sh\n")
    (root / "configure").chmod(0o755)
    (root / "sub" / "a.c").write_text("int a;\n")
    (root / "sub" / "link").symlink_to("a.c")
    return root


def test_equal_trees_have_equal_digests_whatever_their_times_and_other_bits(tmp_path):
    one, other = grow(tmp_path / "one"), grow(tmp_path / "other")
    os.utime(other / "sub" / "a.c", (1, 1))
    (other / "sub" / "a.c").chmod(0o600)
    (other / "sub").chmod(0o700)
    assert tree_sha256(one) == tree_sha256(other)


def relink(root: Path) -> None:
    (root / "sub" / "link").unlink()
    (root / "sub" / "link").symlink_to("../configure")


def link_to_copy(root: Path) -> None:
    (root / "sub" / "link").unlink()
    (root / "sub" / "link").write_text("a.c")


CHANGES = {
    "content": lambda root: (root / "sub/a.c").write_text("int b;\n"),
    "name": lambda root: (root / "sub/a.c").rename(root / "sub/b.c"),
    "place": lambda root: (root / "sub/a.c").rename(root / "a.c"),
    "exec bit": lambda root: (root / "configure").chmod(0o644),
    "new file": lambda root: (root / "new").touch(),
    "lost directory": lambda root: (root / "sub/empty").rmdir(),
    "link target": relink,
    "link made a file": link_to_copy,
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_content_changes_the_digest(tmp_path, change):
    root = grow(tmp_path / "tree")
    before = tree_sha256(root)
    CHANGES[change](root)
    assert tree_sha256(root) != before


def test_names_that_are_not_utf8_are_digested(tmp_path):
    root = grow(tmp_path / "tree")
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9")).touch()
    assert len(tree_sha256(root)) == 64


def test_unreadable_kind_of_entry_is_an_error(tmp_path):
    os.mkfifo(grow(tmp_path / "tree") / "pipe")
    with pytest.raises(ValueError, match="pipe"):
        tree_sha256(tmp_path / "tree")


@pytest.mark.parametrize(
    ("name", "text", "release"),
    [
        (
            "VERSION",
            "MYSQL_VERSION_MAJOR=10\nMYSQL_VERSION_MINOR=11\nMYSQL_VERSION_PATCH=18\nSERVER_MATURITY=stable\n",
            "10.11.18",
        ),
        (
            "MYSQL_VERSION",
            'MYSQL_VERSION_MAJOR=8\nMYSQL_VERSION_MINOR=0\nMYSQL_VERSION_PATCH=36\nMYSQL_VERSION_EXTRA=""\n',
            "8.0.36",
        ),
        ("configure", "# Generated\nPACKAGE_NAME='PostgreSQL'\nPACKAGE_VERSION='15.18'\n", "15.18"),
        ("README", "10.11", None),
    ],
)
def test_release_is_read_from_the_file_each_product_keeps_it_in(tmp_path, name, text, release):
    (tmp_path / name).write_text(text)
    assert release_of(tmp_path, families.products()) == release


def test_tree_with_nothing_to_configure_is_refused_naming_what_is_there(tmp_path):
    (tmp_path / "README.html").touch()
    with pytest.raises(ValueError, match=r"README\.html"):
        require_buildable(tmp_path)
