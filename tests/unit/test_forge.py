"""What a forge and a commit run is what `make` runs: the workflow file, the hooks, and the templates."""

import re

import yaml

from tests.made.studies import CHECKOUT

MAKEFILE = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
FORGE = CHECKOUT / ".github"
WORKFLOWS = [FORGE / "workflows" / "ci.yml", CHECKOUT / "docs" / "check-workflow.yml"]
HOOKS = yaml.safe_load((CHECKOUT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]


def steps(file):
    """Return the commands of all jobs of a workflow."""
    jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def test_workflows_call_targets_that_there_are():
    named = {name for file in WORKFLOWS for run in steps(file) for name in re.findall(r"\bmake ([a-z-]+)", run)}
    assert named >= {"lint", "docs", "test", "faults", "report"}
    assert named - {"apt-get"} <= TARGETS


def test_workflow_runs_lint_fast_tests_on_two_pythons_and_real_tests():
    jobs = yaml.safe_load(WORKFLOWS[0].read_text(encoding="utf-8"))["jobs"]
    assert jobs["fast"]["strategy"]["matrix"]["python"] == ["3.11", "3.13"]
    assert any(run.startswith("make test FAST=1") for run in steps(WORKFLOWS[0]))
    assert ".ci/run" in steps(WORKFLOWS[0])
    assert all(job["timeout-minutes"] <= 180 for job in jobs.values())


def test_hooks_are_the_commands_of_make_lint():
    lint = MAKEFILE.split("\nlint:")[1].split("\n\n")[0]
    tools = set(re.findall(r"-m (\w+)", lint)) | set(re.findall(r"^\t(\w+) -x", lint, re.MULTILINE))
    hooked = " ".join(hook["entry"] for hook in HOOKS)
    assert {tool for tool in tools if not re.search(rf"\b{tool}\b", hooked)} == set()
    shell = {name for pattern in re.findall(r"SHELL_SCRIPTS := (.*)", MAKEFILE)[0].split() for name in [pattern]}
    files = re.compile(next(hook["files"] for hook in HOOKS if hook["id"] == "shellcheck"))
    assert {name for name in shell if not files.search(name)} == set()


def test_hook_of_generated_files_names_tests_that_there_are():
    entry = next(hook["entry"] for hook in HOOKS if hook["id"] == "generated")
    named = re.findall(r"tests/\S+", entry)
    assert [name for name in named if not (CHECKOUT / name).is_file()] == []
    assert len(named) >= 4


def test_templates_ask_for_the_doctor():
    forms = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in FORGE.glob("ISSUE_TEMPLATE/*.yml")]
    labels = [part["attributes"]["label"] for form in forms for part in form["body"]]
    assert len(forms) == sum("`make doctor" in label for label in labels) == 2
    assert "make doctor" in (FORGE / "pull_request_template.md").read_text(encoding="utf-8")
    needed = [part for form in forms for part in form["body"] if part.get("validations", {}).get("required")]
    assert len(needed) >= 5
