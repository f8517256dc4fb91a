"""Compare the finished report of a study with its `expect:`, and print one line per expectation and the word.

Exit codes: 0 held, 1 broken, 2 open, 3 error.
"""

import argparse
import sys
from pathlib import Path
from typing import Never

from scripts.lib.host.entry import say
from scripts.lib.visible import visible
from scripts.report.analysis.expectations import Judgement
from scripts.report.page.study_answer import ANSWER_FILE, StudyAnswer

STUDIES = Path("results/studies")
CODES = {Judgement.HELD: 0, Judgement.BROKEN: 1, Judgement.OPEN: 2}
ERROR = 3
SMALL = "-small"  # ends the name of a study at its small scale


def main(study: str) -> int:
    """Print how a study's expectations stand, and return the exit code.

    Raises ValueError naming the file answer.json if it is missing, or the key that the study lacks.
    """
    file = STUDIES / study / ANSWER_FILE
    if not file.is_file():
        raise ValueError(f"{file}: missing; `{_report_command(study)}` makes it")
    answer = StudyAnswer.read(file)
    if answer.word is None:
        raise ValueError(f"{file}: study {study} states no `expect:`, so there is nothing to check")
    for expectation in answer.expectations:
        sys.stdout.write(f"{visible(expectation.text)}\n")
    sys.stdout.write(f"{answer.word}\n")
    return CODES[Judgement(answer.word)]


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
    except (ValueError, TypeError, OSError) as error:
        say(str(error))
        return ERROR


if __name__ == "__main__":
    sys.exit(command())
