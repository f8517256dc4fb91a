"""The relinks of a build as they are kept: which there are, which a repetition measures, and why none."""

from dataclasses import replace

import pytest

from scripts.build.relink import kept_relinks
from scripts.build.relink.kept_relinks import NotRelinked, identity_for
from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity

IDENTITY = BuildIdentity(
    server="s", family="mysql", build="baseline", release="8.0.36", sha256="c", server_file="bin/server", relink=3
)


def relink(number, refused=None):
    return {"number": number, "refused": refused}


@pytest.fixture
def build(tmp_path):
    json_record.write(tmp_path / "build" / "identity.json", {"sha256": "a", "build": "baseline"})
    (tmp_path / "checks").mkdir()
    return tmp_path / "build"


def made(build, *relinks, sha256="a", refused=None):
    json_record.write(build / "relinked.json", {"sha256": sha256, "refused": refused, "relinks": list(relinks)})


def answered(build, *relinks, sha256="a"):
    json_record.write(build.parent / "checks" / "relinked.json", {"sha256": sha256, "relinks": list(relinks)})


def measured(build, repetition):
    return identity_for(build, build.parent / "checks", repetition)


def test_repetitions_measure_the_usable_relinks_in_turn(build):
    made(build, *map(relink, (1, 2, 3)), relink(4, "its functions are not those of the build"))
    answered(build, relink(1), relink(2, "1 answers are not those of the build"), relink(3))
    numbers = [measured(build, repetition).parent.name for repetition in (1, 2, 3, 4)]
    assert numbers == ["1", "3", "1", "3"]
    assert measured(build, 1) == build / "relinked" / "1" / "identity.json"


def test_build_of_before_is_not_relinked(build):
    with pytest.raises(NotRelinked, match="made without relinks"):
        measured(build, 1)


def test_relinks_of_another_program_do_not_count(build):
    made(build, relink(1), sha256="b")
    with pytest.raises(NotRelinked, match="is about another program"):
        measured(build, 1)
    made(build, relink(1))
    answered(build, relink(1), sha256="b")
    with pytest.raises(NotRelinked, match="expected the answers of the relinks"):
        measured(build, 1)


def test_reason_of_a_build_without_relinks_is_passed_on(build):
    made(build, refused="the recorded link, when repeated, makes another program")
    with pytest.raises(NotRelinked, match="makes another program"):
        measured(build, 1)


def test_relinks_that_nobody_asked_are_not_measured(build):
    made(build, relink(1))
    with pytest.raises(NotRelinked, match=r"checks/relinked\.json is missing"):
        measured(build, 1)


def test_first_reason_is_named_when_all_are_refused(build):
    made(build, relink(1, "its functions differ"), relink(2))
    answered(build, relink(2, "mysqld died"))
    with pytest.raises(NotRelinked, match="every relink was refused, the first: its functions differ"):
        measured(build, 1)


def install_of(build):
    for name in ("bin/server", "bin/tool", "share/server", ".snakemake_timestamp"):
        (build / "install" / name).parent.mkdir(parents=True, exist_ok=True)
        (build / "install" / name).write_text(name)
    (build / "install/bin/link").symlink_to("server")
    return build / "install"


def test_kept_relink_is_a_build_of_its_own(build, tmp_path):
    install_of(build)
    (tmp_path / "program").write_text("relinked")
    kept_relinks.keep(build, tmp_path / "program", IDENTITY)
    own = build / "relinked" / "3"
    assert json_record.read(own / "identity.json") == {
        "format": 1,
        "server": "s",
        "family": "mysql",
        "build": "baseline",
        "release": "8.0.36",
        "sha256": "c",
        "build_id": None,
        "server_file": "bin/server",
        "relink": 3,
    }
    assert (own / "install/bin/server").read_text() == (own / "install/bin/link").read_text() == "relinked"
    assert (build / "install/bin/server").read_text() == "bin/server"
    for name in ("bin/tool", "share/server"):
        assert (own / "install" / name).samefile(build / "install" / name)
    assert not (own / "install/.snakemake_timestamp").exists()
    assert not (tmp_path / "program").exists()


def test_files_are_copied_where_they_cannot_be_linked(build, tmp_path, monkeypatch):
    install_of(build)
    (tmp_path / "program").write_text("relinked")

    def no_links(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    kept_relinks.keep(build, tmp_path / "program", replace(IDENTITY, relink=1))
    copy = build / "relinked/1/install/bin/tool"
    assert copy.read_text() == "bin/tool"
    assert not copy.samefile(build / "install/bin/tool")


def test_relinks_of_an_earlier_attempt_are_removed(build):
    made(build, relink(1))
    (build / "relinked" / "1").mkdir(parents=True)
    kept_relinks.clear(build)
    assert [path.name for path in build.iterdir()] == ["identity.json"]
    kept_relinks.clear(build)
