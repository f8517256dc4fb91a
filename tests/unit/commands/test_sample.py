"""The sample report: rendered from its archive by the code of today, it is the committed page."""

import re
import shutil
import tarfile

import pytest
from matplotlib.image import imread

from scripts.build.sources import SourceError
from scripts.commands import sample
from tests.made.studies import CHECKOUT

ARCHIVE = CHECKOUT / "docs" / "sample" / "builds-mariadb.tar.xz"
PAGE = CHECKOUT / "docs" / "sample-report.html"
# Folders that only one machine has; those of packages and of temporary files are the same everywhere.
FOREIGN_PATH = re.compile(r"(?<![\w.])/(?:home|root|srv|mnt|media|work|Users|data)/[\w./-]+")
RUNS = 140
# The archive is a part of every clone.
LARGEST_BYTES = 320 << 10
# The release that rendered a page is no part of the comparison, so that a new version leaves the page as it is.
RENDERED_BY = re.compile(r"(?<=<dt>workflow that drew this page</dt><dd>)[^<]+")


def test_committed_page_is_what_the_code_of_today_renders_from_the_archive(tmp_path):
    archive = tmp_path / "sample" / ARCHIVE.name
    archive.parent.mkdir()
    shutil.copy(ARCHIVE, archive)
    page = sample.render(archive, tmp_path / PAGE.name).read_text(encoding="utf-8")
    # a plain comparison of two texts of a megabyte takes pytest minutes to explain
    rendered, committed = (
        RENDERED_BY.sub("(the workflow)", text).splitlines() for text in (page, PAGE.read_text(encoding="utf-8"))
    )
    differing = [
        f"line {number}: {old[:300]!r}, rendered now: {new[:300]!r}"
        for number, (old, new) in enumerate(zip(committed, rendered, strict=False), 1)
        if old != new
    ]
    assert (differing[:3], len(committed)) == ([], len(rendered)), "run `make sample` and commit the page"


def test_readme_quotes_the_answer_of_the_page():
    said = re.search(r'<p class="headline">(.*?)</p>', PAGE.read_text(encoding="utf-8"))[1].replace("\u202f", " ")
    readme = " ".join(re.findall(r"^> (.*)", (CHECKOUT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert said in readme


def test_page_links_to_its_archive_and_to_no_other_file():
    page = PAGE.read_text(encoding="utf-8")
    linked = {link for link in re.findall(r'href="([^"#]+)"', page) if not link.startswith("data:")}
    assert linked == {"sample/builds-mariadb.tar.xz"}
    assert page.count('<details class="run">') == RUNS


def test_neither_page_nor_archive_shows_a_path_or_the_id_of_a_machine():
    assert FOREIGN_PATH.findall(PAGE.read_text(encoding="utf-8")) == []
    with tarfile.open(ARCHIVE) as kept:
        texts = {member.name: kept.extractfile(member).read().decode() for member in kept if member.isfile()}
    assert {name: found for name, text in texts.items() if (found := FOREIGN_PATH.findall(text))} == {}
    ids = {found for text in texts.values() for found in re.findall(r'"machine_id": "(\w+)"', text)}
    assert ids == {"0" * 32}


def test_archive_holds_the_record_of_every_run_and_stays_small():
    with tarfile.open(ARCHIVE) as kept:
        names = [name for name in kept.getnames() if "/blocks/" in name]
    assert len(set(names)) == RUNS
    assert all(name.endswith(".json") for name in names)
    assert ARCHIVE.stat().st_size < LARGEST_BYTES


def test_archive_without_a_study_is_named(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "notes.txt").write_text("nothing")
    with tarfile.open(tmp_path / "other.tar.xz", "w:xz") as made:
        made.add(tmp_path / "results", "results")
    with pytest.raises(SourceError, match=r"other\.tar\.xz: 0 files study\.json, expected the records of one study"):
        sample.render(tmp_path / "other.tar.xz", tmp_path / "page.html")


def test_picture_without_chromium_is_not_drawn_and_the_command_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sample.shutil, "which", lambda name: None)
    picture = tmp_path / "report.png"
    assert sample.draw(tmp_path / "page.html", picture) == f"{picture}: not drawn, the command chromium is missing"
    assert not picture.exists()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is missing")
def test_picture_has_the_size_of_the_one_in_the_readme(tmp_path):
    (tmp_path / "page.html").write_text("<p>a page")
    sample.draw(tmp_path / "page.html", picture := tmp_path / "report.png")
    assert imread(picture).shape[:2] == imread(CHECKOUT / "docs" / "report.png").shape[:2]
