"""A plan changes nothing, prints on the terminal alone, and names what is forced."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.workflow.running import CHECKOUT, command_line, environment
from tests.workflow.stubbed import copied, finished

# Snakemake's own folders, made in every dry run; of files only its notes of what it saw.
OF_SNAKEMAKE = (".snakemake", "home/.cache")
NOTES_OF_SNAKEMAKE = {".snakemake/iocache/latest.pkl"}


def snapshot(folder):
    """Return what lies below a folder: kind and mode of each path, of files also size, date and place of a link."""
    found = {}
    for path in folder.rglob("*"):
        facts = path.lstat()
        of_file = () if stat.S_ISDIR(facts.st_mode) else (facts.st_size, facts.st_mtime_ns, facts.st_ino)
        if "__pycache__" not in path.parts:
            found[str(path.relative_to(folder))] = (facts.st_mode, *of_file)
    return found


def differences(before, after):
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    ours = {path for path in changed if not path.removeprefix("checkout/").startswith(OF_SNAKEMAKE)}
    notes = {path for path in changed - ours if path in after and not stat.S_ISDIR(after[path][0])}
    return ours | {path for path in notes if path.removeprefix("checkout/") not in NOTES_OF_SNAKEMAKE}


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)


@pytest.fixture
def surroundings(tmp_path):
    """A checkout with .venv and a study of a git tree, HOME, temporary files and cache, all below one folder."""
    (tree := tmp_path / "tree").mkdir()
    (tree / "configure").write_text("PACKAGE_VERSION='15.1'\n")
    git(tree, "init", "-q")
    git(tree, "add", "configure")
    git(tree, "commit", "-qm", "base")
    os.utime(tree / "configure", (1, 1))  # `git status` would write this date into its index
    for name in ("home", "tmp", "checkout"):
        (tmp_path / name).mkdir()
    study = copied(tmp_path / "checkout")
    own = {"family": "postgresql", "product": "PostgreSQL", "version": "15", "sources": [{"directory": str(tree)}]}
    study.configure(
        servers={"own": own},
        variants={
            "baseline": {"server": "postgresql-15", "build": "baseline"},
            "patched": {"server": "own", "build": "pgo", "storage": "here"},
        },
        storage={"here": str(tmp_path / "data")},
    )
    (study.root / ".venv").symlink_to(sys.prefix)
    return study


def around(study):
    return environment(HOME=str(study.root.parent / "home"), TMPDIR=str(study.root.parent / "tmp"), XDG_CACHE_HOME="")


def ran(words, study):
    clean = {key: value for key, value in around(study).items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(words, cwd=study.root, env=clean, capture_output=True, text=True, check=False)


def test_a_plan_changes_no_file_folder_or_link(surroundings):
    study, folder = surroundings, surroundings.root.parent
    before = snapshot(folder)
    for words in (command_line(study.root, "-n", root=study.root), ["make", "plan"]):
        answer = ran(words, study)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert "plan of study default" in answer.stderr
        assert differences(before, snapshot(folder)) == set()


@pytest.mark.slow
def test_a_plan_of_a_finished_study_changes_nothing_and_names_what_is_forced(tmp_path_factory):
    study = finished(tmp_path_factory, "forced")
    folder = study.root
    before = snapshot(folder)
    stays = "; blocks that are measured stay, and another `campaign` measures them again"
    for options, named, again in (
        (["-F"], "all steps (-F)", {"build_server", "load_dataset", "render_report"}),
        (["-R", "compare_variants"], "compare_variants (-R)", {"compare_variants", "render_report"}),
        (["-R", "measure_block"], "measure_block (-R)", set()),
        (["-f"], "results/report.html (-f)", {"publish_report"}),
        ([], None, set()),
    ):
        answer = study.run("-n", "results/report.html", *options)
        assert answer.status == 0, answer.text
        line = f"  forced    run again by force beside this plan: {named}{stays}\n"
        assert (line in answer.text) == (named is not None), options
        assert again <= answer.jobs.keys(), options
        assert "measure_block" not in answer.jobs
    assert differences(before, snapshot(folder)) == set()


@pytest.mark.parametrize(
    ("option", "begin"),
    [
        ("--dag", "digraph snakemake_dag {"),
        ("--summary", "output_file\tdate\trule"),
        ("--list-rules", "all\n"),
        ("--unlock", ""),
        pytest.param("--rulegraph", "digraph snakemake_dag {", marks=pytest.mark.slow),
        pytest.param("--filegraph", "digraph snakemake_dag {", marks=pytest.mark.slow),
        pytest.param("--d3dag", '{"nodes"', marks=pytest.mark.slow),
        pytest.param("--detailed-summary", "output_file\tdate\trule", marks=pytest.mark.slow),
        pytest.param("--list-params-changes", "", marks=pytest.mark.slow),
        pytest.param("--list-untracked", "", marks=pytest.mark.slow),
        pytest.param("--lint", "", marks=pytest.mark.slow),
    ],
)
def test_other_views_need_no_cores_and_print_nothing_of_ours(tmp_path, option, begin):
    words = command_line(tmp_path, option, "--configfile", CHECKOUT / "studies" / "quick.yaml")
    answer = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(begin)
    assert begin or answer.stdout == ""
    assert "plan of study" not in answer.stdout + answer.stderr


def test_the_plan_stands_on_the_terminal_and_not_in_what_is_printed(tmp_path):
    words = command_line(tmp_path, "-n", "--configfile", CHECKOUT / "studies" / "quick.yaml")
    answer = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.count("plan of study quick") == 1
    assert "plan of study" not in answer.stdout


@pytest.fixture
def bare(tmp_path):
    """What `make plan` needs of a checkout, the Python packages apart."""
    for name in ("rules", "catalog", "scripts", "studies", "profiles", "envs", "workloads"):
        shutil.copytree(CHECKOUT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "Snakefile", "config.yaml"):
        shutil.copy(CHECKOUT / name, tmp_path / name)
    return tmp_path


def make(folder: Path, *words: str) -> subprocess.CompletedProcess:
    clean = {key: value for key, value in environment().items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *words], cwd=folder, env=clean, capture_output=True, text=True, check=False)


def test_without_venv_make_plan_names_the_set_up_and_ends_with_2(bare):
    before = snapshot(bare)
    answer = make(bare, "plan")
    assert answer.returncode == 2
    assert "there is no .venv; make setup makes it" in answer.stderr
    assert snapshot(bare) == before


def test_make_plan_refuses_a_template_before_snakemake_reads_it(bare):
    (bare / ".venv").symlink_to(sys.prefix)
    text = yaml.safe_dump({"__use_yte__": True, "__definitions__": [f"open({str(bare / 'ran')!r}, 'w')"]})
    (bare / "studies" / "odd.yaml").write_text(text + (CHECKOUT / "studies" / "quick.yaml").read_text())
    answer = make(bare, "plan", "STUDY=odd")
    assert answer.returncode == 2
    assert "studies/odd.yaml:1: __definitions__: this key makes a config file a template" in answer.stderr
    assert not (bare / "ran").exists()
