"""Records are whole or not there, equal facts give equal digests, and a file that cannot be used is named."""

import json
import os
import stat

import pytest

from scripts.lib import json_record


def test_digest_does_not_depend_on_the_order_of_keys():
    assert json_record.digest({"a": 1, "b": [1, {"c": 2, "d": 3}]}) == json_record.digest(
        {"b": [1, {"d": 3, "c": 2}], "a": 1}
    )


@pytest.mark.parametrize("other", [{"a": [2, 1]}, {"a": ["1", 2]}, {"a": [1, 2], "b": None}, {}])
def test_digest_tells_values_apart(other):
    assert json_record.digest({"a": [1, 2]}) != json_record.digest(other)


def test_digest_is_twelve_hexadecimal_digits_known_for_ever():
    assert json_record.digest({"server": "postgresql-15"}) == "52426f80553f"


def test_canonical_text_has_no_space_and_keeps_letters():
    assert json_record.canonical({"b": "µs", "a": [1, True, None]}) == '{"a":[1,true,null],"b":"µs"}'


def test_what_is_written_is_read_back_with_its_format(tmp_path):
    path = tmp_path / "new" / "folder" / "facts.json"
    json_record.write(path, {"tps": 1.5, "reason": None, "text": "µs"})
    assert json_record.read(path) == {"format": json_record.FORMAT, "tps": 1.5, "reason": None, "text": "µs"}
    assert json.loads(path.read_text())["format"] == 1


def test_failed_write_leaves_the_old_record_and_no_rest(tmp_path):
    path = tmp_path / "facts.json"
    json_record.write(path, {"tps": 1})
    with pytest.raises(UnicodeEncodeError):
        json_record.write_text(path, "\ud800")
    assert json_record.read(path)["tps"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["facts.json"]


def test_facts_that_are_no_json_write_nothing(tmp_path):
    with pytest.raises(TypeError):
        json_record.write(tmp_path / "facts.json", {"path": tmp_path})
    assert list(tmp_path.iterdir()) == []


def test_readers_never_see_a_part(tmp_path, monkeypatch):
    path, seen = tmp_path / "facts.json", []
    json_record.write(path, {"n": 1})
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append(json_record.read(path)["n"]))
    json_record.write(path, {"n": 2})
    assert seen == [1]
    assert json_record.read(path)["n"] == 2


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_file_may_be_read_by_whom_the_umask_lets(tmp_path, mask):
    before = os.umask(mask)
    try:
        json_record.write_text(tmp_path / "x", "")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("text", ["", "{", '{"format": 1}x'])
def test_what_is_no_json_is_named(tmp_path, text):
    path = tmp_path / "facts.json"
    path.write_text(text)
    with pytest.raises(
        ValueError, match=r"facts\.json: not JSON of ours .*; remove it, and the workflow makes it again"
    ):
        json_record.read(path)


def test_record_of_a_newer_release_is_named(tmp_path):
    path = tmp_path / "facts.json"
    path.write_text('{"format": 2}')
    with pytest.raises(ValueError, match=r"facts\.json: format 2 is newer than this release reads \(1\)"):
        json_record.read(path)
