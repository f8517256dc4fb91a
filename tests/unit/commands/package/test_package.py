"""A package holds the install tree, tells what it is, and starts as another user in another place."""

import contextlib
import os
import shutil
import signal
import subprocess
import tarfile
import time
from pathlib import Path

import pymysql
import pytest
import yaml

from scripts.build.compilation import binary
from scripts.commands.package import __main__ as package_command
from scripts.commands.package.__main__ import main, pack
from scripts.commands.package.readme import paragraphs
from scripts.lib import json_record
from scripts.lib.host import outcome, workplace
from scripts.measure.servers import families
from scripts.measure.servers.families.mariadb import SYSTEM_TABLES
from scripts.report.page.study_answer import Sentence, StudyAnswer, VariantAnswer
from scripts.study.plan.schedule import Schedule
from tests.endtoend import installed_mariadb
from tests.made.studies import CHECKOUT, config, paths

ANSWER = StudyAnswer(
    reference="baseline",
    variants=[
        VariantAnswer("pgo", "pgo is faster: 1.28 ×.", [Sentence("It ranges from 1.16 to 1.44.")]),
        VariantAnswer("pgo_lto", "pgo_lto is faster: 1.40 ×."),
    ],
)


def test_paragraphs_are_those_of_the_variant_and_of_the_reference_all():
    assert paragraphs(ANSWER, "pgo") == ("**pgo is faster: 1.28 ×.**\nIt ranges from 1.16 to 1.44.",)
    assert paragraphs(ANSWER, "pgo_lto") == ("**pgo\\_lto is faster: 1.40 ×.**",)
    assert len(paragraphs(ANSWER, "baseline")) == 2
    assert paragraphs(ANSWER, "lto") == ()


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A folder with a study's config file, the working directory of the test."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "small.yaml").write_text(yaml.safe_dump(config(options={"work_mem": "8MB"})))
    return tmp_path


def planned() -> Schedule:
    return paths(options={"work_mem": "8MB"})


def built(build: str, **facts: object) -> Path:
    """Lay out a finished build of the study and return its folder."""
    folder = Path(planned().build("postgresql-15", build))
    program = folder / "install" / "bin" / "postgres"
    program.parent.mkdir(parents=True)
    shutil.copy("/bin/true", program)
    (folder / "install" / "bin" / "initdb").symlink_to("postgres")
    (folder / "install" / ".snakemake_timestamp").touch()
    names = {"server": "postgresql-15", "family": "postgresql", "build": build, "release": "15.18"}
    known = {**names, **binary.identify(program)._asdict(), "server_file": "bin/postgres"}
    json_record.write(folder / "identity.json", {**known, "source_path": "/x"})
    flags = {"common": ["-O3"], "profile": [f"-fprofile-use={Path.cwd()}/results/p|q"]}
    told = {"toolchain": {"name": "gcc-12", "version": "12.2.0"}, "flags": flags}
    json_record.write(folder / "facts.json", {**known, **told, **facts})
    return folder


def package(variant: str, log: Path) -> dict[str, str]:
    """Make a package of the study and return name -> text of its text files, names without the top folder."""
    made = main(Path("studies/small.yaml"), variant, log)
    with tarfile.open(made) as tar:
        texts = {info.name.partition("/")[2]: tar.extractfile(info) for info in tar if info.isreg()}
        return {name: file.read().decode(errors="replace") for name, file in texts.items()}


def test_package_is_named_after_server_release_build_and_digest(place):
    folder = built("baseline")
    made = main(Path("studies/small.yaml"), "baseline", place / "log")
    assert made == Path(f"results/packages/postgresql-15-15.18-{folder.name}.tar.gz")
    with tarfile.open(made) as tar:
        infos = {info.name: info for info in tar}
    top = made.name.removesuffix(".tar.gz")
    below = ["README.md", "bin", "bin/initdb", "bin/postgres", "server.sh", "start.sh"]
    assert sorted(infos) == [f"{top}/{name}" for name in below]
    assert infos[f"{top}/bin/initdb"].linkname == "postgres"
    assert infos[f"{top}/start.sh"].mode == infos[f"{top}/bin/postgres"].mode == 0o755
    assert {(info.uid, info.gid, info.uname, info.mtime) for info in infos.values()} == {(0, 0, "root", 0)}


def test_same_build_gives_the_same_bytes_whenever_it_is_packed(place):
    folder = built("baseline")
    first = json_record.file_sha256(main(Path("studies/small.yaml"), "baseline", place / "log"))
    os.utime(folder / "install" / "bin" / "postgres", (1, 1))
    assert json_record.file_sha256(main(Path("studies/small.yaml"), "baseline", place / "log")) == first
    assert [path.suffix for path in Path("results/packages").iterdir()] == [".gz"]


def test_readme_tells_what_was_built_how_and_from_which_profile(place):
    folder = built("pgo", bolt={"version": "16.0", "arguments": ["-icf=1"]})
    counted = {"units_matched": 599, "units_nonzero": 601, "matched_share": 599 / 601, "threshold": 0.99}
    json_record.write(folder / "audit.json", {**counted, "training": "mixed", "executed_share_optimised": 0.991})
    readme = package("pgo", place / "log")["README.md"]
    identity = json_record.read(folder / "identity.json")
    profile = Path(planned().profile("postgresql-15", "pgo")).name
    for told in (
        "# postgresql-15, build pgo",
        "Release 15.18, variant `pgo` of the study `small`",
        identity["sha256"],
        identity["build_id"],
        "gcc-12 (12.2.0)",
        "| Flags, common | `-O3` |",
        r"-fprofile-use=results/p\|q",
        "| BOLT | 16.0 `-icf=1` |",
        f"`{profile}`",
        "599 of 601 units",
        "The study `small` has not measured this build.",
        "work_mem = '8MB'",
        "| libc.so.6 |",
        '"$here/bin/initdb" --pgdata="$1"',
    ):
        assert told in readme


def test_absent_profile_audit_and_flags_are_said(place):
    built("baseline", flags=None, toolchain=None, told={"compiler_comment": "MySQL Community Server"})
    readme = package("baseline", place / "log")["README.md"]
    for told in (
        "| Profiles | none |",
        "| Audit | nothing to audit: no profile |",
        "| Flags | unknown |",
        "| Compiler | unknown: the server came ready-made |",
        "| Compiler comment | MySQL Community Server |",
    ):
        assert told in readme


def test_missing_audit_of_a_profile_is_said(place):
    built("pgo")
    assert "| Audit | no audit of these profiles was made |" in package("pgo", place / "log")["README.md"]


def test_answer_stands_only_beside_the_build_that_was_measured(place):
    built("pgo")
    study = planned()
    Path(study.study).mkdir(parents=True)
    ANSWER.write(Path(study.study, "answer.json"))
    assert "**pgo is faster" not in package("pgo", place / "log")["README.md"]
    block = study.blocks[0]
    arms = {name: {"digest": study.arm_digest(name, block.key.workload)} for name in block.arms}
    json_record.write(Path(block.record), {"arms": arms})
    readme = package("pgo", place / "log")["README.md"]
    assert "**pgo is faster: 1.28 ×" in readme
    assert "has not measured" not in readme


def test_unknown_variant_is_told_with_the_nearest(place):
    with pytest.raises(ValueError, match=r"VARIANT=pgp: unknown in studies/small\.yaml, did you mean 'pgo'"):
        main(Path("studies/small.yaml"), "pgp", place / "log")


def test_build_that_is_not_there_is_told_with_the_command_that_makes_it(place):
    with pytest.raises(
        ValueError, match=r"VARIANT=pgo: results/builds/.*/pgo-.* not built yet; `make report STUDY=small`"
    ):
        main(Path("studies/small.yaml"), "pgo", place / "log")


def test_build_that_failed_or_was_refused_is_not_packed(place):
    folder = built("pgo")
    json_record.write(
        folder / "audit.json", {"server": "postgresql-15", "build": "pgo", **outcome.failure_facts("9 of 10 units")}
    )
    with pytest.raises(ValueError, match=r"VARIANT=pgo: build pgo failed, see .*/audit\.json: 9 of 10 units"):
        main(Path("studies/small.yaml"), "pgo", place / "log")
    json_record.write(
        folder / "identity.json", {"server": "postgresql-15", "build": "pgo", **outcome.failure_facts("no such flag")}
    )
    with pytest.raises(ValueError, match=r"VARIANT=pgo: build pgo failed, see .*/identity\.json: no such flag"):
        main(Path("studies/small.yaml"), "pgo", place / "log")
    assert not Path("results/packages").exists()


def test_program_that_is_not_the_one_described_is_refused(place):
    (built("baseline") / "install" / "bin" / "postgres").write_text("other")
    with pytest.raises(ValueError, match="is not the program"):
        main(Path("studies/small.yaml"), "baseline", place / "log")
    assert not Path("results/packages").exists()


def test_tree_of_links_to_this_machine_cannot_be_taken_away(tmp_path):
    (tmp_path / "install").mkdir()
    (tmp_path / "install" / "share").symlink_to("/usr/share")
    with pytest.raises(ValueError, match=r"share: symbolic link out of the tree.* cannot be packed"):
        pack(tmp_path / "packages" / "x.tar.gz", "x", tmp_path / "install", {})
    assert list((tmp_path / "packages").iterdir()) == []


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="no shellcheck here")
def test_scripts_of_packages_pass_shellcheck():
    commands = [families.of(name).START_COMMANDS for name in families.names()]
    scripts = [str(path.relative_to(CHECKOUT)) for path in [*commands, package_command.START_SCRIPT]]
    told = subprocess.run(["shellcheck", "-x", *scripts], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert told.stdout == ""


def test_bootstrap_of_mariadb_feeds_the_scripts_of_its_family_in_their_order():
    text = families.of("mariadb").START_COMMANDS.read_text()
    fed = " ".join(text.partition("local scripts=(")[2].partition("\n    )")[0].split())
    shown = subprocess.run(["bash", "-c", f"here=.; echo {fed}"], capture_output=True, text=True, check=True).stdout
    assert [Path(name).name for name in shown.split()] == SYSTEM_TABLES


@contextlib.contextmanager
def started(folder: Path, start: Path, *arguments: str):
    """Run start.sh in a folder as a user who is not root, and yield its process."""
    argv = [str(start), *arguments]
    with (folder / "server.log").open("a") as stream:
        process = subprocess.Popen(argv, cwd=folder, stdout=stream, stderr=stream, **workplace.server_identity())
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def ask(socket: Path, statement: str, process: subprocess.Popen) -> tuple:
    """Return the first row of an answer, waiting for the server to be ready."""
    deadline_s = time.monotonic() + 60
    while True:
        try:
            with pymysql.connect(unix_socket=str(socket), user="root", autocommit=True) as connection:
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                    return cursor.fetchone()
        except pymysql.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline_s:
                raise
            time.sleep(0.1)


@pytest.fixture
def clean():
    """A folder of the servers' user, reachable to it."""
    with workplace.data_directory(None) as folder:
        yield folder


@pytest.mark.real
@pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-")
def test_package_of_mariadb_starts_in_a_clean_folder_as_another_user_and_keeps_its_data(tmp_path, clean):
    installed_mariadb.lay_out(tmp_path / "build")
    shutil.copytree(tmp_path / "build" / "install", tmp_path / "install")
    commands = families.of("mariadb").START_COMMANDS
    written = {"start.sh": (package_command.START_SCRIPT, 0o755), "server.sh": (commands, 0o644)}
    texts = {name: (path.read_text(), mode) for name, (path, mode) in written.items()}
    pack(clean / "x.tar.gz", "top", tmp_path / "install", texts)
    subprocess.run(["tar", "-xzf", "x.tar.gz"], cwd=clean, check=True, **workplace.server_identity())
    start, socket = clean / "top" / "start.sh", clean / "run" / "server.sock"
    with started(clean, start, "run") as process:
        assert ask(socket, "SELECT @@datadir, @@skip_networking", process) == (f"{clean}/data/", 1)
        ask(socket, "CREATE DATABASE kept", process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    with started(clean, start, "run", "data", "--max-connections=7") as process:
        assert ask(socket, "SHOW DATABASES LIKE 'kept'", process) == ("kept",)
        assert ask(socket, "SELECT @@max_connections", process) == (10,)
    assert (clean / "run").stat().st_mode & 0o777 == 0o700


@pytest.fixture
def start(clean) -> Path:
    """The start script beside commands that only say what they would do."""
    (clean / "server.sh").write_text(
        'initialise() { touch "$1/made"; }\nstart() { ls "$1"; echo "$sockets ${*:2}"; }\n'
    )
    shutil.copy(package_command.START_SCRIPT, clean / "start.sh")
    workplace.give(clean)
    return clean / "start.sh"


def said(start: Path, *arguments: str, **identity: object) -> subprocess.CompletedProcess:
    user = identity or workplace.server_identity()
    return subprocess.run(
        [str(start), *arguments], cwd=start.parent, capture_output=True, text=True, check=False, **user
    )


def test_what_an_interrupted_start_left_is_made_anew(clean, start):
    (clean / "data.unfinished").mkdir()
    (clean / "data.unfinished" / "half").touch()
    workplace.give(clean)
    answer = said(start, "run", "data", "--one", "two words")
    assert (answer.returncode, answer.stdout) == (0, f"made\n{clean}/run --one two words\n")
    assert not (clean / "data.unfinished").exists()


def test_folder_of_the_socket_that_others_can_enter_is_refused(clean, start):
    (clean / "run").mkdir(mode=0o755)
    workplace.give(clean)
    answer = said(start, "run")
    assert answer.returncode == 2
    assert "other users can enter it" in answer.stderr
    assert not (clean / "data").exists()


def test_path_too_long_for_a_socket_is_refused(start):
    answer = said(start, "x" * 100)
    assert answer.returncode == 2
    assert "too long for the path of a socket" in answer.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs to be root to be refused as root")
def test_root_is_refused_with_what_to_do(start):
    answer = said(start, "run", user=0)
    assert answer.returncode == 2
    assert "run it as another user than root" in answer.stderr
