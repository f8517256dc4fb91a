"""The relinks of a build are asked the same statements, and those with other answers are refused."""

import pytest

from scripts.build.relink import kept_relinks
from scripts.jobs import answer_statements
from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity
from scripts.lib.vocabulary import FailureKind
from scripts.measure.servers.server import ServerFailed
from tests.unit.jobs.test_compare_answers import answered

DESCRIBED = BuildIdentity(family="postgresql", release="15.18")


@pytest.fixture
def build(tmp_path):
    """A build with three relinks, of which the second was refused."""
    json_record.write(tmp_path / "build" / "identity.json", {"sha256": "a"})
    made = [{"number": 1, "refused": None}, {"number": 2, "refused": "other functions"}, {"number": 3, "refused": None}]
    json_record.write(tmp_path / "build" / kept_relinks.RECORD, {"sha256": "a", "refused": None, "relinks": made})
    return tmp_path / "build"


def asked(build, monkeypatch, **answers_of):
    """Ask the relinks of a build; `answers_of` holds a relink's answers, or the error it fails with."""
    monkeypatch.setattr("scripts.lib.host.workplace.installed", lambda identity: f"relink{identity.parent.name}")

    def question(family, release, install, log):
        assert (family, release) == ("postgresql", "15.18")
        if isinstance(given := answers_of[install], Exception):
            raise given
        return given

    monkeypatch.setattr(answer_statements, "question", question)
    file = build.parent / "checks" / kept_relinks.RECORD
    answer_statements.answer_relinks(build, DESCRIBED, answered("baseline"), file, build / "log")
    return json_record.read(file) if file.exists() else None


def test_relinks_with_the_answers_of_the_build_are_usable(build, monkeypatch):
    found = asked(build, monkeypatch, relink1=answered("x"), relink3=answered("x"))
    assert found["relinks"] == [{"number": 1, "refused": None}, {"number": 3, "refused": None}]
    assert kept_relinks.identity_for(build, build.parent / "checks", 2) == kept_relinks.identity_of(build, 3)


def test_relink_with_another_answer_is_refused_and_the_answer_named(build, monkeypatch):
    found = asked(build, monkeypatch, relink1=answered("x", skipped=[]), relink3=answered("x"))
    assert found["relinks"][0]["refused"] == (
        "1 answers are not those of the build, first: numbers of skipped statements"
    )
    assert found["relinks"][1]["refused"] is None


def test_relink_whose_server_died_is_refused(build, monkeypatch):
    found = asked(build, monkeypatch, relink1=ServerFailed("postgres died"), relink3=answered("x"))
    assert [one["refused"] for one in found["relinks"]] == ["postgres died", None]


def test_full_disk_is_no_verdict(build, monkeypatch):
    with pytest.raises(ServerFailed):
        asked(build, monkeypatch, relink1=ServerFailed("no room", FailureKind.FULL_DISK))


def test_build_without_relinks_has_no_verdict_and_an_old_one_goes(build, monkeypatch):
    (build / kept_relinks.RECORD).unlink()
    json_record.write(build.parent / "checks" / kept_relinks.RECORD, {"sha256": "old", "relinks": []})
    assert asked(build, monkeypatch) is None
