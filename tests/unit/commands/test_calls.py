"""Every command answers a wrong call with usage or with key, value and expectation, and ends with 2."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.commands import study_names

CHECKOUT = Path(__file__).parents[3]
COMMANDS = sorted(
    {file.stem for file in (CHECKOUT / "scripts/commands").glob("*.py") if "__main__" in file.read_text()}
    | {file.parent.name for file in (CHECKOUT / "scripts/commands").glob("*/__main__.py")}
)
# The exit codes of `check` are words: 2 says that an expectation is open.
CODES = {"check": 3}


def call(command, *arguments):
    return subprocess.run(
        [sys.executable, "-m", f"scripts.commands.{command}", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "200"},
    )  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_option_is_answered_by_the_usage_of_the_command(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = call(command, "--no-such-option")
    assert ended.returncode == CODES.get(command, 2)
    assert f"usage: python -m scripts.commands.{command} " in ended.stderr
    assert list(tmp_path.iterdir()) == []


MISSPELT = ("--config", "studies/qick.yaml")
NO_FILE = "studies/qick.yaml: no such file, .*did you mean studies/quick.yaml"


@pytest.mark.parametrize(
    ("command", "arguments", "told"),
    [
        ("doctor", MISSPELT, NO_FILE),
        ("retry", MISSPELT, NO_FILE),
        ("drop_tables", MISSPELT, NO_FILE),
        ("watch", ("--once", *MISSPELT), NO_FILE),
        ("package", ("--config", "studies/quick.yaml", "--variant", "pgoo", "--log", "{tmp}/log"), "VARIANT=pgoo: "),
        ("compare_studies", ("--a", "{tmp}", "--b", "{tmp}"), "expected one finished study or the folder of one"),
        ("answers", ("--answers", "qick"), "--answers qick: expected a study"),
    ],
)
def test_what_does_not_exist_is_named_with_what_is_expected(command, arguments, told, tmp_path, monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    (tmp_path / "studies").mkdir()
    ended = call(command, *(each.format(tmp=tmp_path) for each in arguments))
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 2
    assert re.search(told, ended.stderr)


@pytest.mark.parametrize(
    ("name", "guessed"),
    [("qick", "quick"), ("quick.yaml", "quick"), ("studies/quick.yaml", "quick"), ("zzz", None), ("", None)],
)
def test_nearest_name_is_guessed(name, guessed):
    assert study_names.guess(name, ["quick", "storage"]) == (f", did you mean {guessed}?" if guessed else "")
