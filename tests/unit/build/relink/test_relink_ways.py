"""Relinking a real program: the same functions at other addresses, the same answers; and what refuses a relink."""

import os
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from scripts.build.compilation.functions import difference, functions_of, moved_share
from scripts.build.relink import kept_relinks
from scripts.build.relink.kept_relinks import Relink
from scripts.build.relink.link_command import take_apart
from scripts.build.relink.relink_ways import by_linker, pairs_to_keep, repeat_link, uses_lto
from scripts.build.relink.relinking import Original, relink_build
from scripts.lib import json_record
from scripts.lib.host.process import CommandFailed
from scripts.lib.vocabulary import FailureKind
from tests.made.linked import PARTS, SERVER, linked

pytestmark = pytest.mark.real
COUNT = 5


def answer(program):
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def relink(made, count=COUNT):
    json_record.write(made.folder / "identity.json", made.identity.to_json())
    way = partial(by_linker, made.recipe.digest, made.calls, made.place)
    relink_build(made.folder, count, made.recipe, made.identity, way)
    return json_record.read(made.folder / kept_relinks.RECORD)


def usable(facts):
    return [one["number"] for one in facts["relinks"] if not one["refused"]]


def programs(made, facts):
    return [kept_relinks.identity_of(made.folder, number).parent / "install" / SERVER for number in usable(facts)]


@pytest.fixture(scope="module")
def plain(compiler, tmp_path_factory):
    made = linked(compiler, tmp_path_factory.mktemp("plain"))
    return made, relink(made)


@pytest.fixture
def unlinked(plain, tmp_path):
    """The same build without its relinks, in a folder of its own."""
    made, _ = plain
    shutil.rmtree(made.place.scratch)
    shutil.copytree(made.folder / "install", tmp_path / "made" / "install")
    return replace(made, folder=tmp_path / "made")


def test_relinks_have_the_functions_of_the_build_at_other_addresses_and_answer_the_same(plain):
    made, facts = plain
    assert facts["refused"] is None
    assert [one["refused"] for one in facts["relinks"]] == [None] * COUNT
    expected, answers = functions_of(made.program), answer(made.program)
    for program, one in zip(programs(made, facts), facts["relinks"], strict=True):
        assert difference(expected, found := functions_of(program)) is None
        assert moved_share(expected, found) == one["moved_share"] > 0.5
        assert answer(program) == answers
    assert len({one["sha256"] for one in facts["relinks"]} | {facts["sha256"]}) == COUNT + 1


def test_members_of_archives_are_objects_of_their_own_but_for_the_unused(plain):
    made, facts = plain
    # main, early, late; the parts and two members of one name, the plugin, the used of two.
    assert (facts["objects"], facts["from_archives"], facts["archives_whole"]) == (3 + PARTS + 4, PARTS + 4, [])
    assert not any("unused" in each.symbol for program in programs(made, facts) for each in functions_of(program))


def test_first_copy_of_a_function_and_the_order_of_constructors_stay(plain):
    made, facts = plain
    assert facts["pairs_kept"] > 2
    assert answer(made.program).startswith("early\nlate\nplugin\n")


def test_same_seed_makes_the_same_program(plain, unlinked):
    _, facts = plain
    again = relink(unlinked, 1)["relinks"][0]
    assert {key: again[key] for key in again if key != "wall_s"}.items() <= facts["relinks"][0].items()


def test_install_tree_of_a_relink_shares_all_but_the_server(plain):
    made, _ = plain
    identity = kept_relinks.identity_of(made.folder, 1)
    shared, own = (identity.parent / "install" / name for name in ("share/messages", SERVER))
    assert shared.samefile(made.folder / "install/share/messages")
    assert not own.samefile(made.program)
    described = json_record.read(identity)
    assert described["sha256"] == json_record.file_sha256(own) != made.identity.sha256
    assert (described["relink"], described["build"], described["server_file"]) == (1, "baseline", SERVER)


def test_link_that_cannot_be_repeated_is_a_reason_and_no_failure(compiler, tmp_path):
    made = linked(compiler, tmp_path)
    objects = made.place.build / "CMakeFiles/server.dir"
    (objects / "early.cc.o").write_bytes((objects / "late.cc.o").read_bytes())
    facts = relink(made)
    assert "makes another program" in facts["refused"] or "ended with status" in facts["refused"]
    assert facts["relinks"] == []
    assert not (made.folder / kept_relinks.FOLDER).exists()


def test_relink_with_other_functions_is_refused_alone(unlinked, monkeypatch):
    made = unlinked
    monkeypatch.setattr("scripts.build.relink.relink_ways.pairs_to_keep", lambda link, text: set())
    facts = relink(made, 12)
    reasons = [one["refused"] for one in facts["relinks"] if one["refused"]]
    assert reasons, "no order put another copy of the function first"
    assert "its functions are not those of the build" in reasons[0]
    assert "mixed" in reasons[0]
    assert 0 < len(usable(facts)) < 12
    assert sorted(int(folder.name) for folder in (made.folder / kept_relinks.FOLDER).iterdir()) == usable(facts)


def test_lto_takes_members_in_another_order_and_functions_are_not_compared(compiler, tmp_path):
    made = linked(compiler, tmp_path, twins=False, lto=True)
    facts = relink(made, 2)
    assert (facts["refused"], facts["lto"], facts["repeated"]) == (None, True, False)
    assert (facts["from_archives"], facts["archives_whole"]) == (PARTS + 4, [])
    assert usable(facts) == [1, 2]
    # The constructors print their names in another order.
    found = {tuple(sorted(answer(program).split())) for program in (made.program, *programs(made, facts))}
    assert len(found) == 1


@pytest.mark.parametrize("stage", ["plain", "relocatable"])
@pytest.mark.parametrize("lto", [False, True])
def test_links_of_clang_are_taken_apart_too(clang, tmp_path, stage, lto):
    made = linked(clang, tmp_path, twins=False, stage=stage, lto=lto)
    facts = relink(made, 2)
    assert (facts["refused"], facts["lto"], facts["from_archives"]) == (None, lto, PARTS + 4)
    assert usable(facts) == [1, 2]
    found = {tuple(sorted(answer(program).split())) for program in (made.program, *programs(made, facts))}
    assert len(found) == 1


@pytest.mark.parametrize("linker", ["gold", "lld"])
def test_map_of_another_linker_is_a_reason_not_to_relink(clang, tmp_path, linker):
    if not shutil.which(f"ld.{linker}", path=str(Path(clang.cc).resolve().parent) + os.pathsep + os.environ["PATH"]):
        pytest.skip(f"{linker} is not installed")
    facts = relink(linked(clang, tmp_path, flags=[f"-fuse-ld={linker}"]))
    assert "another linker than GNU ld" in facts["refused"]
    assert facts["relinks"] == []


def test_archive_stays_whole_when_lto_leaves_open_which_of_two_members_it_took(compiler, tmp_path):
    facts = relink(linked(compiler, tmp_path, lto=True), 1)
    assert [archive.rpartition("/")[2] for archive in facts["archives_whole"]] == ["libparts.a"]


def test_failure_of_the_host_is_a_failure(unlinked, monkeypatch):
    def full(*_):
        raise CommandFailed("ld: final link failed: No space left on device", FailureKind.FULL_DISK)

    monkeypatch.setattr("scripts.build.relink.relink_ways.BuildTree.link", full)
    with pytest.raises(CommandFailed, match="No space"):
        relink(unlinked)


def test_program_that_moved_little_or_needs_another_library_is_refused(plain):
    made, _ = plain
    original = Original.of(made.program)
    with pytest.raises(ValueError, match="0% of its functions have another address, expected more than 50%"):
        original.compared(Relink(), made.program, same_functions=True, least_moved=0.5)
    with pytest.raises(ValueError, match="needs the libraries"):
        Original(made.program, original.functions, ["libother.so"]).compared(
            Relink(), made.program, same_functions=True, least_moved=0
        )


def test_repeated_link_names_what_it_took_in_and_what_keeps_its_order(unlinked):
    place = unlinked.place
    place.scratch.mkdir()
    call = next(call for call in unlinked.calls if call.unit == "server")
    taken, text = repeat_link(call, Original.of(unlinked.program), place)
    link = take_apart(call, taken, place.build, place.chosen.ar, place.scratch / "members")
    names = [piece.member or piece.file.rpartition("/")[2] for piece in link.pieces]
    assert names.count("x.cc.o") == 2
    kept = {(names[first], names[second]) for first, second in pairs_to_keep(link, text)}
    others = {(f"part{owner}.cc.o", f"part{other}.cc.o") for owner, other in ((0, 1), (0, 5))}
    assert kept == {("early.cc.o", "late.cc.o"), ("late.cc.o", "plugin.cc.o"), *others}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(["-flto=2"], True), (["-flto", "-fno-lto"], False), (["-O2"], False), (["-fno-lto", "-flto=auto"], True)],
)
def test_last_argument_about_lto_counts(arguments, expected):
    assert uses_lto(arguments) is expected
