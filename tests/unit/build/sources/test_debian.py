"""Source packages come through apt: versions are matched to a series, signatures are checked, gaps are stepped over.

The repositories are made here and served to the real apt from disk; nothing is fetched over a network.
"""

import hashlib
import shutil
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from scripts.build.sources import SourceError, debian
from scripts.build.sources.debian import in_series, matching_versions, offered_versions, upstream_version

needs_apt = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")


@pytest.mark.parametrize(
    ("version", "upstream"),
    [
        ("1:10.11.18-0+deb12u1", "10.11.18"),
        ("15.18-0+deb12u1", "15.18"),
        ("8.0.43-0ubuntu0.24.04.1", "8.0.43"),
        ("1.0.20+ds-5", "1.0.20"),
        ("8.0.36+dfsg1-1", "8.0.36"),
        ("16~beta2-1", "16~beta2"),
        ("2.0-rc-1-3", "2.0-rc-1"),
        ("7.1", "7.1"),
    ],
)
def test_upstream_version_is_without_epoch_revision_and_repacking(version, upstream):
    assert upstream_version(version) == upstream


@pytest.mark.parametrize(
    ("release", "series", "expected"),
    [
        ("10.11.18", "10.11", True),
        ("10.11", "10.11", True),
        ("10.110.1", "10.11", False),
        ("10.1.11", "10.11", False),
        ("15.18", "15", True),
        ("15.18", "15.1", False),
        ("150.1", "15", False),
        ("8.0.36", "8.0.36", True),
        ("8.0.3", "8.0.36", False),
    ],
)
def test_series_takes_its_own_point_releases_only(release, series, expected):
    assert in_series(release, series) is expected


def test_versions_are_read_per_package_and_each_once():
    showsrc = (
        "Package: mariadb\nBinary: a, b\nVersion: 1:10.11.18-0+deb12u1\n\n"
        "Package: mariadb\nVersion: 1:10.11.19-0+deb12u1\n\nPackage: mariadb\nVersion: 1:10.11.18-0+deb12u1\n\n"
        "Package: mariadb-connector\nVersion: 3.1-1\n"
    )
    assert offered_versions(showsrc, "mariadb") == ["1:10.11.18-0+deb12u1", "1:10.11.19-0+deb12u1"]


@needs_apt
def test_matching_versions_are_ordered_as_dpkg_orders_them_newest_first():
    offered = ["15.9-1", "15.18-0+deb12u1", "14.20-1", "15.18-0+deb12u1~bpo1", "16.1-1"]
    assert matching_versions(offered, "15") == ["15.18-0+deb12u1", "15.18-0+deb12u1~bpo1", "15.9-1"]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def add_package(repository: Path, release: str) -> str:
    """Put a native source package of `testserver` there; return its stanza of the Sources index."""
    ball = repository / f"testserver_{release}.tar.gz"
    with tarfile.open(ball, "w:gz") as out:
        for name, text in {
            "configure": f"PACKAGE_VERSION='{release}'\n",
            "debian/source/format": "3.0 (native)\n",
        }.items():
            info = tarfile.TarInfo(f"testserver/{name}")
            info.size = len(text)
            out.addfile(info, BytesIO(text.encode()))
    fields = "Binary: testserver\nArchitecture: any\nMaintainer: T <t@example.org>\nStandards-Version: 4.6.0\n"
    listed = f" {sha256(ball.read_bytes())} {ball.stat().st_size} {ball.name}\n"
    head = f"Format: 3.0 (native)\nSource: testserver\n{fields}Version: {release}\n"
    dsc = repository / f"testserver_{release}.dsc"
    md5 = f" {hashlib.md5(ball.read_bytes()).hexdigest()} {ball.stat().st_size} {ball.name}\n"
    dsc.write_text(f"{head}Checksums-Sha256:\n{listed}Files:\n{md5}")
    own = f" {sha256(dsc.read_bytes())} {dsc.stat().st_size} {dsc.name}\n"
    index = head.replace("Source: testserver", "Package: testserver")
    return f"{index}Directory: .\nChecksums-Sha256:\n{own}{listed}\n"


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    """Lay out an unsigned flat repository with 1.2 and 1.10, and make it all that the system's apt knows."""
    root = tmp_path / "repository"
    root.mkdir()
    sources = "".join(add_package(root, release) for release in ("1.2", "1.10", "2.0")).encode()
    (root / "Sources").write_bytes(sources)
    index = f" {sha256(sources)} {len(sources)} Sources\n"
    (root / "Release").write_text(f"Date: Sat, 01 Jan 2022 00:00:00 UTC\nSuite: test\nSHA256:\n{index}")
    (tmp_path / "empty").mkdir()
    system_list = tmp_path / "sources.list"
    system_list.write_text(f"deb [trusted=yes] file:{root} ./\n")
    monkeypatch.setattr(debian, "system_lists", lambda: (system_list, tmp_path / "empty"))
    return root


@pytest.fixture
def signed(repository, tmp_path) -> Path:
    """Sign the repository with a key of its own, and name that key in the list."""
    gpg = ["gpg", "--homedir", str(tmp_path / "gpg"), "--batch", "--quiet", "--passphrase", ""]
    (tmp_path / "gpg").mkdir(mode=0o700)
    subprocess.run([*gpg, "--quick-generate-key", "test", "rsa2048", "sign"], check=True, capture_output=True)
    subprocess.run([*gpg, "--output", str(tmp_path / "key.gpg"), "--export"], check=True)
    subprocess.run([*gpg, "--clearsign", "--output", "InRelease", "Release"], check=True, cwd=repository)
    (tmp_path / "sources.list").write_text(f"deb [signed-by={tmp_path}/key.gpg] file:{repository} ./\n")
    yield repository
    subprocess.run(["gpgconf", "--homedir", str(tmp_path / "gpg"), "--kill", "all"], check=False)


def test_apt_that_stands_still_is_given_up_with_where_and_how_much_room_there_is(monkeypatch, tmp_path):
    monkeypatch.setattr(debian, "STALLED_S", 0.5)
    still = "while :; do echo dlstatus:4:12.3:Retrieving file 4 of 6; sleep 0.05; done"
    with pytest.raises(SourceError, match=rf"no progress for 0\.5 s at '12.3:Retrieving.*MiB are free in {tmp_path}"):
        debian.run_apt(["sh", "-c", still], tmp_path)


def test_apt_that_is_slow_is_waited_for(monkeypatch, tmp_path):
    monkeypatch.setattr(debian, "STALLED_S", 0.5)
    slow = "for part in 1 2 3 4 5 6 7 8; do echo dlstatus:4:$part.0:Retrieving; sleep 0.2; done; echo Fetched"
    assert debian.run_apt(["sh", "-c", slow], tmp_path) == "Fetched\n"


@needs_apt
def test_unsigned_repository_is_refused_even_if_the_user_trusts_it(repository, tmp_path):
    with pytest.raises(SourceError) as caught:
        debian.fetch_package("testserver", "1", tmp_path / "downloads")
    assert "is not signed" in str(caught.value)
    assert not list((tmp_path / "downloads").glob("testserver*"))


@needs_apt
def test_newest_version_of_the_series_is_fetched_and_unpacked(signed, tmp_path):
    package = debian.fetch_package("testserver", "1", tmp_path / "downloads")
    assert (package.version, package.release) == ("1.10", "1.10")
    assert [file.name for file in package.files] == ["testserver_1.10.dsc", "testserver_1.10.tar.gz"]
    debian.unpack_package(package, tmp_path / "tree")
    assert (tmp_path / "tree/configure").read_text() == "PACKAGE_VERSION='1.10'\n"


@needs_apt
def test_version_that_is_listed_but_gone_gives_way_to_an_older_one(signed, tmp_path):
    (signed / "testserver_1.10.tar.gz").unlink()
    assert debian.fetch_package("testserver", "1", tmp_path / "downloads").version == "1.2"


@needs_apt
def test_file_changed_after_signing_is_refused(signed, tmp_path):
    ball = signed / "testserver_2.0.tar.gz"
    ball.write_bytes(ball.read_bytes()[:-1] + b"!")
    with pytest.raises(SourceError, match=r"wanted 2\.0"):
        debian.fetch_package("testserver", "2.0", tmp_path / "downloads")


@needs_apt
def test_missing_series_names_what_is_offered(signed, tmp_path):
    with pytest.raises(SourceError) as caught:
        debian.fetch_package("testserver", "3.1", tmp_path / "downloads")
    assert "testserver: offered 1.2, 1.10, 2.0; wanted 3.1" in str(caught.value)


@needs_apt
def test_no_system_file_is_written(signed, tmp_path):
    watched = [path for top in ("/etc/apt", "/var/lib/apt/lists") for path in sorted(Path(top).rglob("*"))]
    before = {path: path.lstat().st_mtime_ns for path in watched}
    debian.fetch_package("testserver", "1", tmp_path / "downloads")
    assert {path: path.lstat().st_mtime_ns for path in watched} == before


def test_machine_without_apt_is_told_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match=r"apt-get, apt-cache, dpkg-source not found: needs Debian or Ubuntu"):
        debian.fetch_package("testserver", "1", tmp_path / "downloads")


@pytest.mark.parametrize("line", [" 12", f" {'0' * 64} 12 ../x", f" {'0' * 64} 12 x y", " none 12 x"])
def test_description_with_other_than_names_of_files_is_told(tmp_path, line):
    (tmp_path / "x.dsc").write_text(f"Format: 1.0\nChecksums-Sha256:\n {'1' * 64} 5 good.tar\n{line}\nFiles:\n")
    with pytest.raises(SourceError, match=r"x\.dsc: a line of Checksums-Sha256 is not checksum, size and the name"):
        debian.dsc_files(tmp_path / "x.dsc")
