"""Logins and tokens in addresses of sources: used to fetch, and in no file, name or line of the workflow."""

import hashlib
import io
import json
import subprocess
import tarfile

import pytest

from tests.made.served import Files, served
from tests.unit.build.sources.test_git import head
from tests.unit.build.sources.test_working_tree import git
from tests.workflow.stubbed import copied

pytestmark = pytest.mark.slow

TOKENS = (b"t0ken-of-git", b"t0ken-of-url", b"t0ken-in-query", b"dDBrZW4tb2Y")
LOGIN = "Basic dXNlcjp0MGtlbi1vZi1naXQ="
RELEASE = "PACKAGE_VERSION='15.1'\n"
REPORT = "results/report.html"


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """A study whose sources come by addresses with logins, brought to its report: (checkout, every line printed)."""
    folder = tmp_path_factory.mktemp("served")
    made = copied(tmp_path_factory.mktemp("secret-study"))
    (made.root / "tests/workflow/stubs/fetch_source.py").unlink()
    with served(Files) as open_server, served(Files) as asking:
        open_server.folder = asking.folder = folder
        asking.login = LOGIN
        commit, checksum = repository(folder), packed(folder)
        made.configure(**study(open_server.url, asking.url, commit, checksum))
        asked = [made.run(*words, REPORT, no_proxy="127.0.0.1") for words in (("-n", "-p"), ("--summary",))]
        answer = made.run("--cores", "2", "--printshellcmds", "--verbose", REPORT, no_proxy="127.0.0.1")
    assert answer.status == 0, answer.text
    return made, "".join(one.text for one in (*asked, answer))


def repository(folder):
    root = folder / "work"
    root.mkdir()
    (root / "configure").write_text(RELEASE)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    subprocess.run(["git", "clone", "-q", "--bare", root, folder / "server.git"], check=True)
    subprocess.run(["git", "update-server-info"], cwd=folder / "server.git", check=True)
    return head(root)


def packed(folder):
    with tarfile.open(folder / "server.tar", "w") as out:
        info = tarfile.TarInfo("top/configure")
        info.size = len(RELEASE)
        out.addfile(info, io.BytesIO(RELEASE.encode()))
    return hashlib.sha256((folder / "server.tar").read_bytes()).hexdigest()


def study(open_url, asking_url, commit, checksum):
    names = {"family": "postgresql", "product": "PostgreSQL", "version": "15"}
    login = asking_url.replace("//", "//user:t0ken-of-git@")
    mirror = open_url.replace("//", "//t0ken-of-url@")
    mirrors = [f"{mirror}/{name}.tar?access_token=t0ken-in-query" for name in ("no", "server")]
    servers = {
        "of-git": {**names, "sources": [{"git": f"{login}/server.git", "commit": commit}]},
        "of-url": {**names, "sources": [{"url": mirrors, "sha256": checksum}]},
    }
    variants = {
        "baseline": {"server": "of-git", "build": "baseline"},
        "other": {"server": "of-url", "build": "baseline"},
    }
    return {"servers": servers, "variants": variants, "workloads": {"simple_select": None}, "repetitions": 2}


def test_sources_were_fetched_with_their_logins(fetched):
    made, _ = fetched
    origins = {}
    for file in made.root.glob("results/sources/*/source.json"):
        known = json.loads(file.read_text())
        origins[known["server"]] = known["origin"]
    assert origins["of-git"].startswith("commit ")
    assert "http://***@127.0.0.1:" in origins["of-git"]
    assert "/server.tar?***" in origins["of-url"]


def test_no_line_that_was_printed_holds_a_secret(fetched):
    _, text = fetched
    assert "http://***@127.0.0.1:" in text
    assert [token for token in TOKENS if token in text.encode()] == []


def test_no_file_and_no_name_holds_a_secret(fetched):
    made, _ = fetched
    given = {made.root / "config.yaml", made.root / "tests/workflow/test_secret_addresses.py"}
    files = [path for path in made.root.rglob("*") if path not in given]
    assert len(files) > 500
    assert [path for path in files if any(token.decode() in path.name for token in TOKENS)] == []
    read = [path for path in files if path.is_file() and "__pycache__" not in path.parts]
    assert [path for path in read if any(token in path.read_bytes() for token in TOKENS)] == []
    assert "http://***@127.0.0.1:" in (made.root / "results/studies/default/study.json").read_text()


def test_failure_to_fetch_holds_no_secret(fetched):
    made, _ = fetched
    folders = list(made.root.glob("results/sources/*"))
    for folder in folders:
        (folder / "source.json").unlink()
        subprocess.run(["rm", "-r", folder / "downloads"], check=True)
    wanted = [f"{folder.relative_to(made.root)}/source.json" for folder in folders]
    answer = made.run("--cores", "2", "--keep-going", *wanted, no_proxy="127.0.0.1")
    assert answer.status != 0
    assert "***@127.0.0.1" in answer.text
    logs = "".join(file.read_text() for file in made.root.glob("results/logs/fetch_source/*.log"))
    assert "Connection refused" in logs
    assert [token for token in TOKENS if token in (answer.text + logs).encode()] == []
