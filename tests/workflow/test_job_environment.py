"""What of the user's environment jobs have: no password unless they log in, and nothing that changes their Python."""

from pathlib import Path

import pytest

from tests.workflow.stubbed import copied

# A whole study of stubs; test_stub_study.py is the one that FAST=1 runs.
pytestmark = pytest.mark.slow
SECRET = "s3cr3t-of-mydb"
SERVER = {
    "family": "postgresql",
    "product": "PostgreSQL",
    "version": "16",
    "sources": [{"running": "db.example.com:5432", "environment": "MYDB"}],
}
PYTHON = {"PYTHONINSPECT": "1", "PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error", "PYTHONSTARTUP": "/none.py"}


@pytest.fixture(scope="module")
def environments(tmp_path_factory) -> dict[str, list[str]]:
    """Return module -> the variables, as `name=value`, of each job of a whole study."""
    study, kept = copied(tmp_path_factory.mktemp("study")), tmp_path_factory.mktemp("environments")
    study.configure(servers={"managed": SERVER})
    variables = {"MYDB_USER": "anna", "MYDB_PASSWORD": SECRET, "STUB_ENVIRONMENTS": str(kept), **PYTHON}
    answer = study.run("--cores", "2", "results/report.html", **variables)
    assert answer.status == 0, answer.text
    return {file.name.split(".")[2]: _words(file) for file in kept.iterdir() if file.name.startswith("scripts.jobs.")}


def _words(file: Path) -> list[str]:
    return file.read_text().split("\0")


def test_no_job_that_compiles_checks_or_shows_has_the_password(environments):
    jobs = {"fetch_source", "build_server", "answer_statements", "collect_runs", "compare_variants", "render_report"}
    assert jobs <= environments.keys()
    assert not [job for job, words in environments.items() if SECRET in "\0".join(words)]
    assert all(any(word.startswith("RUNNING_SERVERS=") for word in words) for words in environments.values())


def test_the_shells_settings_of_python_reach_no_job(environments):
    words = [word for words in environments.values() for word in words]
    assert not [word for word in words if word.partition("=")[0] in PYTHON]
    assert {word for word in words if word.startswith("PYTHON")} >= {"PYTHONDONTWRITEBYTECODE=1"}
