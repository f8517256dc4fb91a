"""Files come through the command mvn, from a local repository made here; its plugin from where Maven finds it."""

import shutil
import zipfile
from pathlib import Path

import pytest

from scripts.build.sources import SourceError, maven
from scripts.build.sources.declared import SourceFile, WantedSource
from scripts.build.sources.maven import fetch, parse
from scripts.build.sources.source import make
from scripts.lib.host import process
from scripts.lib.json_record import file_sha256
from scripts.lib.recipe_models import ServerSourceRecipe
from scripts.measure.servers import families

pytestmark = pytest.mark.slow

TEXT = "example.servers:tiny:zip:linux:5.5.34"
HERE = Path.home() / ".m2" / "repository"


def test_coordinates_name_the_file_as_maven_does():
    assert parse("com.example:server:zip:linux-x86_64:8.0.33.1").file_name == "server-8.0.33.1-linux-x86_64.zip"
    assert parse("com.example:server:zip:linux:1").argument == "com.example:server:1:zip:linux"
    assert parse("com.example:server:tar.gz::1").file_name == "server-1.tar.gz"
    assert parse("com.example:server:tar.gz::1").argument == "com.example:server:1:tar.gz"


@pytest.mark.parametrize(
    "text", ["a:b:zip:1", "a:b:zip:c:1:2", "a::zip:c:1", "a:b:zip:c:", "a:../b:zip:c:1", "-X:b:z:c:1"]
)
def test_other_texts_are_refused_with_what_is_expected(text):
    with pytest.raises(SourceError, match="expected group:artifact:extension:classifier:version") as caught:
        parse(text)
    assert text in str(caught.value)


def test_missing_mvn_is_told_with_the_package_that_has_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"command mvn not found: install .*maven"):
        fetch(TEXT, None, tmp_path / "downloads")


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """A local repository with one archive of a server; the rest of it is this user's own."""
    if not shutil.which("mvn"):
        pytest.skip("mvn is not installed")
    root = tmp_path_factory.mktemp("maven")
    HERE.mkdir(parents=True, exist_ok=True)
    for name in {"org", *(path.name for path in HERE.iterdir() if path.is_dir())}:
        (HERE / name).mkdir(exist_ok=True)
        (root / name).symlink_to(HERE / name)
    file = root / "example" / "servers" / "tiny" / "5.5.34" / "tiny-5.5.34-linux.zip"
    file.parent.mkdir(parents=True)
    pom = "<project><modelVersion>4.0.0</modelVersion><groupId>example.servers</groupId><artifactId>tiny</artifactId>"
    (file.parent / "tiny-5.5.34.pom").write_text(f"{pom}<version>5.5.34</version></project>")
    with zipfile.ZipFile(file, "w") as out:
        program = zipfile.ZipInfo("bin/mysqld", (2013, 9, 9, 19, 16, 0))
        program.create_system, program.external_attr = 3, 0o100755 << 16
        out.writestr(program, "#!/bin/sh\necho 'bin/mysqld  Ver 5.5.34 for linux2.6 on x86_64 (MySQL Server)'\n")
        out.writestr("share/errmsg.txt", "messages\n")
    return root


@pytest.fixture(scope="module")
def fetched(repository, tmp_path_factory):
    """The archive as it was fetched; the test is skipped where Maven cannot have its plugin."""
    downloads = tmp_path_factory.mktemp("downloads")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAVEN_OPTS", f"-Dmaven.repo.local={repository}")
        try:
            return fetch(TEXT, None, downloads)
        except FileNotFoundError as error:
            if "maven-dependency-plugin" in str(error) and "could not be resolved" in str(error):
                pytest.skip(f"Maven cannot have its dependency plugin: {str(error).splitlines()[-1]}")
            raise


def test_file_is_what_the_repository_holds(repository, fetched):
    assert fetched.name == "tiny-5.5.34-linux.zip"
    assert file_sha256(fetched) == file_sha256(next(repository.glob("example/servers/*/*/*.zip")))


def test_file_with_the_right_checksum_is_kept_without_maven(fetched, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert fetch(TEXT, file_sha256(fetched), fetched.parent) == fetched


def test_wrong_checksum_is_told_after_maven_brought_the_file_anew(repository, fetched, tmp_path, monkeypatch):
    monkeypatch.setenv("MAVEN_OPTS", f"-Dmaven.repo.local={repository}")
    sha256 = file_sha256(fetched)
    (tmp_path / fetched.name).write_text("damaged")
    with pytest.raises(SourceError, match=f"{TEXT}: sha256 is {sha256}, expected {'0' * 64}"):
        fetch(TEXT, "0" * 64, tmp_path)


def test_what_maven_says_of_an_unknown_artifact_is_told(repository, fetched, tmp_path, monkeypatch):
    monkeypatch.setenv("MAVEN_OPTS", f"-Dmaven.repo.local={repository}")
    (tmp_path / ".mvn").mkdir()
    (tmp_path / ".mvn" / "maven.config").write_text("--offline\n")
    with pytest.raises(process.CommandFailed, match="offline") as caught:
        fetch(TEXT.replace("tiny", "other"), None, tmp_path)
    assert "example.servers:other" in str(caught.value)


def test_ready_made_server_is_unpacked_with_its_exec_bits_and_names_its_release(
    repository, fetched, tmp_path, monkeypatch
):
    monkeypatch.setattr(maven, "fetch", lambda *_: fetched)
    recipe = ServerSourceRecipe(server="mysql-5.5.34-binary", product="MySQL", version="5.5", maven=TEXT)
    tree, identity = tmp_path / "tree", tmp_path / "source.json"
    facts = make(WantedSource(recipe, [{"maven": TEXT}]), tree, identity, families.products())
    assert (facts.kind, facts.release, facts.maven) == ("maven", "5.5.34", TEXT)
    assert facts.files == [SourceFile(fetched.name, file_sha256(fetched))]
    assert (tree / "bin" / "mysqld").stat().st_mode & 0o777 == 0o755
    assert (
        make(
            WantedSource(recipe, [{"maven": TEXT, "sha256": facts.files[0].sha256}]),
            tree,
            identity,
            families.products(),
        )
        == facts
    )
