"""Every rule has the same form, and the linters find nothing."""

import re
import subprocess
import sys
import tomllib

import pytest

from tests.workflow.running import CHECKOUT, environment, snakemake

RULE = re.compile(r"^(?:rule|checkpoint) (\w+):\n((?:(?:    .*)?\n)+)", re.M)
RULES = {
    name: body for file in sorted((CHECKOUT / "rules").glob("*.smk")) for name, body in RULE.findall(file.read_text())
}
JOBS = {file.stem for file in (CHECKOUT / "scripts" / "jobs").glob("*.py")} - {"__init__"}
ONE_COMMAND = {"choose_loader", "finish_preparations", "publish_report"}
ALONE = {"measure_block", "train_server", "diagnose_run"}
COMMANDS = [
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["snakefmt", "--check", "Snakefile", "rules"],
    pytest.param(["mypy"], marks=pytest.mark.slow),
]


def test_all_rules_were_read():
    named = [
        line
        for file in (CHECKOUT / "rules").glob("*.smk")
        for line in re.findall("^(?:rule|checkpoint) .*", file.read_text(), re.M)
    ]
    assert len(RULES) == len(named) > 10


@pytest.mark.parametrize("name", sorted(RULES))
def test_rule_takes_its_share_of_the_host(name):
    declared = re.search(r"^    resources:\n        host=(\w+),$", RULES[name], re.M)
    assert declared, f"rule {name} declares no `host`, so it could run beside a measurement"
    assert declared[1] == ("HOST" if name in ALONE else "1")


@pytest.mark.parametrize("name", sorted(RULES))
def test_rule_has_a_docstring_and_a_log_folder_of_its_name(name):
    body = RULES[name]
    assert re.match(r'    """[A-Z][^"]+\."""\n', body)
    assert re.search(rf'^    log:\n        "results/logs/{name}/', body, re.M)
    assert "    run:\n" not in body
    assert "lambda" not in body


def test_every_rule_has_its_module_of_the_same_name_or_is_one_command():
    assert RULES.keys() - ONE_COMMAND == JOBS
    assert len(JOBS) == 19


@pytest.mark.parametrize("name", sorted(JOBS - {"describe_study"}))
def test_job_replaces_the_shell_so_that_it_is_a_direct_child(name):
    assert f"exec python -m scripts.jobs.{name} " in RULES[name]


def test_snakemake_lint_is_content(tmp_path):
    answer = snakemake(tmp_path, "--lint")
    assert answer.status == 0, answer.text
    assert "Congratulations, your workflow is in a good condition!" in answer.text


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_tool_finds_nothing(command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=CHECKOUT, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_every_module_are_checked():
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["files"] == ["scripts"]
    assert [override["module"] for override in settings["overrides"] if override.get("ignore_errors")] == []


def test_snakefile_is_a_table_of_contents():
    assert len((CHECKOUT / "Snakefile").read_text().splitlines()) < 50
