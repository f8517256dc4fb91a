"""Mirrors are tried in order, and only a file with the stated checksum ever gets its name."""

import hashlib

import pytest

from scripts.build.sources import SourceError, download
from scripts.build.sources.download import fetch, name_of
from scripts.lib.host.address import Address
from tests.made.served import Quiet, served

CONTENT = b"sources " * 100_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Mirror(Quiet):
    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.logins.append(self.headers["Authorization"])
        match self.path.split("/")[1]:
            case "good":
                self.answer(CONTENT, len(CONTENT))
            case "short":
                self.answer(CONTENT[:1000], len(CONTENT))
            case "other":
                self.answer(b"<html>sign in</html>", 20)
            case "moved":
                self.send_response(302)
                self.send_header("Location", self.server.target)
                self.end_headers()
            case "endless":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(CONTENT)
            case _:
                self.send_error(404)


@pytest.fixture
def mirror(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with served(Mirror) as server:
        server.asked, server.logins = [], []
        yield server


def test_mirrors_are_tried_in_order_until_one_has_the_right_file(mirror, tmp_path):
    kinds = ["absent", "short", "other", "good", "never"]
    file = fetch([Address(f"{mirror.url}/{kind}/server-1.0.tar.gz") for kind in kinds], SHA256, tmp_path / "downloads")
    assert file == tmp_path / "downloads" / "server-1.0.tar.gz"
    assert file.read_bytes() == CONTENT
    assert [path.split("/")[1] for path in mirror.asked] == ["absent", "short", "other", "good"]
    assert list(file.parent.iterdir()) == [file]


def test_each_mirrors_failure_and_the_place_for_the_file_are_told(mirror, tmp_path):
    with pytest.raises(SourceError) as caught:
        fetch([Address(f"{mirror.url}/{kind}/s.tar") for kind in ("absent", "short", "other")], SHA256, tmp_path)
    absent, short, other, hint = str(caught.value).splitlines()
    assert "404" in absent
    assert f"1000 of {len(CONTENT)} bytes" in short
    assert hashlib.sha256(b"<html>sign in</html>").hexdigest() in other
    assert SHA256 in other
    assert str(tmp_path / "s.tar") in hint
    assert list(tmp_path.iterdir()) == []


def test_file_with_the_right_checksum_is_not_fetched_again(mirror, tmp_path):
    (tmp_path / "s.tar").write_bytes(CONTENT)
    assert fetch([Address(f"{mirror.url}/good/s.tar")], SHA256, tmp_path) == tmp_path / "s.tar"
    assert mirror.asked == []


def test_file_with_a_wrong_checksum_is_replaced(mirror, tmp_path):
    (tmp_path / "s.tar").write_bytes(CONTENT[:-1])
    assert fetch([Address(f"{mirror.url}/good/s.tar")], SHA256, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("url", ["file:{}/s.tar", "file://{}/s.tar", "ftp://host.example/s.tar", "data:,x/s.tar"])
def test_only_http_is_fetched_and_a_file_has_a_kind_of_its_own(tmp_path, url):
    (tmp_path / "s.tar").write_bytes(CONTENT)
    with pytest.raises(SourceError, match=r"s\.tar: expected http:// or https://; .* is the source \{file: PATH\}"):
        fetch([Address(url.format(tmp_path))], SHA256, tmp_path / "downloads")


@pytest.mark.parametrize("target", ["ftp://host.example/s.tar", "file:///etc/passwd"])
def test_redirect_leads_to_http_only(mirror, tmp_path, target):
    mirror.target = target
    with pytest.raises(SourceError, match=r"not allowed|unknown url type"):
        fetch([Address(f"{mirror.url}/moved/s.tar")], SHA256, tmp_path)


def test_download_that_is_too_large_is_refused(mirror, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "DOWNLOAD_BYTES_MAX", 1000)
    addresses = [Address(f"{mirror.url}/{kind}/s.tar") for kind in ("good", "endless")]
    with pytest.raises(SourceError) as caught:
        fetch(addresses, SHA256, tmp_path)
    good, endless, _ = str(caught.value).splitlines()
    assert f"has {len(CONTENT)} bytes, expected at most 1000" in good
    assert "expected at most 1000" in endless
    assert list(tmp_path.iterdir()) == []


def test_login_goes_to_its_server_alone_and_is_shown_nowhere(mirror, tmp_path, caplog):
    caplog.set_level("DEBUG")
    with served(Mirror) as other:
        other.asked, other.logins = [], []
        mirror.target = f"{other.url}/good/s.tar"
        login = mirror.url.replace("//", "//user:t0ken-t0ken@")
        with pytest.raises(SourceError) as caught:
            fetch([Address(f"{login}/absent/s.tar?key=t0ken-t0ken")], SHA256, tmp_path)
        assert fetch([Address(f"{login}/moved/s.tar")], SHA256, tmp_path).read_bytes() == CONTENT
    assert mirror.logins == ["Basic dXNlcjp0MGtlbi10MGtlbg=="] * 2
    assert other.logins == [None]
    assert "t0ken" not in str(caught.value) + caplog.text
    assert f"{mirror.url.replace('//', '//***@')}/absent/s.tar?***: HTTP Error 404" in str(caught.value)


def test_login_stays_through_a_redirect_within_its_server(mirror, tmp_path):
    mirror.target = f"{mirror.url}/good/s.tar"
    fetch([Address(f"{mirror.url.replace('//', '//u:p@')}/moved/s.tar")], SHA256, tmp_path)
    assert mirror.logins == ["Basic dTpw"] * 2


@pytest.mark.parametrize(
    "url", ["https://host.example/", "https://host.example/a/..%2f..%2fpasswd", "nonsense/.hidden"]
)
def test_url_without_a_plain_file_name_is_refused(url):
    with pytest.raises(SourceError, match="no file name"):
        name_of(Address(url))


def test_query_is_no_part_of_the_name():
    assert name_of(Address("https://host.example/get/server-1.0.tar.gz?from=x/y")) == "server-1.0.tar.gz"
