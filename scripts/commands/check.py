"""Compare the finished report of a study with its `expect:`, and print one line per expectation and the word.

Exit codes: 0 held, 1 broken, 2 open, 3 error.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Never

from scripts.lib import json_record
from scripts.lib.host.entry import say
from scripts.lib.visible import visible
from scripts.report.analysis.expectations import State

STUDIES = Path("results/studies")
CODES = {State.HELD: 0, State.BROKEN: 1, State.OPEN: 2}
ERROR = 3
SMALL = "-small"  # ends the name of a study at its small scale


def main(study: str) -> int:
    """Print how a study's expectations stand, and return the exit code.

    Raises ValueError if the study has no verdict.json or no expectations.
    """
    facts = read_verdict(study)
    for expectation in facts["expectations"]:
        sys.stdout.write(f"{visible(expectation['text'])}\n")
    sys.stdout.write(f"{facts['word']}\n")
    return CODES[State(facts["word"])]


def read_verdict(study: str) -> dict[str, Any]:
    """Return verdict.json of a study. Raises ValueError naming the file, or the key that its config lacks."""
    file = STUDIES / study / "verdict.json"
    if not file.is_file():
        raise ValueError(f"{file}: missing; `{_report_command(study)}` makes it")
    if (facts := json_record.read(file)).get("word") is None:
        raise ValueError(f"{file}: study {study} states no `expect:`, so there is nothing to check")
    return facts


def _report_command(study: str) -> str:
    name = study.removesuffix(SMALL)
    named = "" if name == "default" else f" STUDY={name}"
    return f"make report{named}{' SCALE=small' if name != study else ''}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Never:
        """End with the exit code of an error: argparse's own, 2, means open here."""
        self.print_usage(sys.stderr)
        self.exit(ERROR, f"{self.prog}: {message}\n")


def command(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = _Parser(prog="python -m scripts.commands.check", description=__doc__)
    parser.add_argument("study", help="name of a finished study: results/studies/<name>")
    try:
        return main(parser.parse_args(arguments).study)
    except (ValueError, OSError, KeyError) as error:
        say(str(error))
        return ERROR


if __name__ == "__main__":
    sys.exit(command())
