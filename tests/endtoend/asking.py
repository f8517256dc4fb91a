"""The check's entry scripts run by hand on a build's identity, as the workflow does."""

import sys
from dataclasses import dataclass
from pathlib import Path

from scripts.lib import json_record
from scripts.measure.sql.statement_files import statements_sha256
from tests.endtoend.installed_mariadb import finish
from tests.workflow.running import CHECKOUT


@dataclass(frozen=True)
class Asked:
    """What one run of answer_statements came to: its status, what it told the user, and where its answers are."""

    status: int
    said: str
    answers: Path


def ask(identity: Path, folder: Path, name: str = "answers") -> Asked:
    """Let the build that `identity` describes answer every statement; files are in `folder`."""
    described = json_record.read(identity)
    recipe = {
        "recipe": 1,
        "server": described["server"],
        "family": described["family"],
        "build_digest": described["sha256"][:12],
        "statements_sha256": statements_sha256(CHECKOUT, described["family"]),
    }
    file = folder / f"{name}.json.gz"
    places = ["--identity", identity, "--answers", file, "--log", folder / f"{name}.log"]
    command = ["-m", "scripts.jobs.answer_statements", "--recipe", json_record.canonical(recipe), *map(str, places)]
    return Asked(*finish([sys.executable, *command]), file)


def compare(given: Path, reference: Path, check: Path) -> tuple[int, str]:
    """Compare two files of answers; returns the status of the entry script and what it told the user."""
    places = ["--answers", given, "--reference", reference, "--check", check, "--log", check.with_suffix(".log")]
    return finish([sys.executable, "-m", "scripts.jobs.compare_answers", *map(str, places)])
