"""Mirrors are tried in order, and only a file with the stated checksum ever gets its name."""

import hashlib

import pytest

from scripts.sources import SourceError
from scripts.sources.download import fetch, name_of
from tests.made.served import Quiet, served

CONTENT = b"sources " * 100_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Mirror(Quiet):
    def do_GET(self):
        self.server.asked.append(self.path)
        match self.path.split("/")[1]:
            case "good":
                self.answer(CONTENT, len(CONTENT))
            case "short":
                self.answer(CONTENT[:1000], len(CONTENT))
            case "other":
                self.answer(b"<html>sign in</html>", 20)
            case _:
                self.send_error(404)


@pytest.fixture
def mirror(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with served(Mirror) as server:
        server.asked = []
        yield server


def test_mirrors_are_tried_in_order_until_one_has_the_right_file(mirror, tmp_path):
    kinds = ["absent", "short", "other", "good", "never"]
    file = fetch([f"{mirror.url}/{kind}/server-1.0.tar.gz" for kind in kinds], SHA256, tmp_path / "downloads")
    assert file == tmp_path / "downloads" / "server-1.0.tar.gz"
    assert file.read_bytes() == CONTENT
    assert [path.split("/")[1] for path in mirror.asked] == ["absent", "short", "other", "good"]
    assert list(file.parent.iterdir()) == [file]


def test_each_mirrors_failure_and_the_place_for_the_file_are_told(mirror, tmp_path):
    with pytest.raises(SourceError) as caught:
        fetch([f"{mirror.url}/{kind}/s.tar" for kind in ("absent", "short", "other")], SHA256, tmp_path)
    absent, short, other, hint = str(caught.value).splitlines()
    assert "404" in absent
    assert f"1000 of {len(CONTENT)} bytes" in short
    assert hashlib.sha256(b"<html>sign in</html>").hexdigest() in other
    assert SHA256 in other
    assert str(tmp_path / "s.tar") in hint
    assert list(tmp_path.iterdir()) == []


def test_file_with_the_right_checksum_is_not_fetched_again(mirror, tmp_path):
    (tmp_path / "s.tar").write_bytes(CONTENT)
    assert fetch([f"{mirror.url}/good/s.tar"], SHA256, tmp_path) == tmp_path / "s.tar"
    assert mirror.asked == []


def test_file_with_a_wrong_checksum_is_replaced(mirror, tmp_path):
    (tmp_path / "s.tar").write_bytes(CONTENT[:-1])
    assert fetch([f"{mirror.url}/good/s.tar"], SHA256, tmp_path).read_bytes() == CONTENT


def test_file_urls_are_mirrors_too(tmp_path):
    (tmp_path / "s.tar").write_bytes(CONTENT)
    mirrors = [(tmp_path / "absent" / "s.tar").as_uri(), (tmp_path / "s.tar").as_uri()]
    assert fetch(mirrors, SHA256, tmp_path / "downloads").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "url", ["https://host.example/", "https://host.example/a/..%2f..%2fpasswd", "nonsense/.hidden"]
)
def test_url_without_a_plain_file_name_is_refused(url):
    with pytest.raises(SourceError, match="no file name"):
        name_of(url)


def test_query_is_no_part_of_the_name():
    assert name_of("https://host.example/get/server-1.0.tar.gz?from=x/y") == "server-1.0.tar.gz"
