"""Compare a build's answers with those of its check reference, a build of the same server: all must be identical."""

from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.lib.host import entry, outcome
from scripts.measure.sql import server_answers
from scripts.measure.sql.differential import demand_comparable, differences, facts, story


def main(answers_file: Path, reference: Path, check: Path, log: Path) -> None:
    """Inputs: `answers_file` and `reference`, the answers of two builds. Outputs: `check`, a record, and `log`.

    Raises Refused naming both builds and the statements with different answers. For a build that may fail, `check`
    records this instead, also if the build or the reference failed before.
    """
    given, expected = server_answers.read_answers(answers_file), server_answers.read_answers(reference)
    known: dict[str, Any] = {key: given[key] for key in ("server", "release", "build")}
    known["reference_build"] = expected["build"]

    def give_up(reason: str) -> None:
        json_record.write(check, {**known, **outcome.failure_facts(reason)})

    with outcome.as_result(check.parent, give_up):
        for each, file in ((given, answers_file), (expected, reference)):
            outcome.demand_sound(each, file.parent)
        demand_comparable(given, expected)
        found = differences(given, expected)
        log.write_text(json_record.json_text(found, indent=1) + "\n", encoding="utf-8")
        known.update(facts(given, expected, found))
        if found:
            raise outcome.Refused(story(given, expected, found))
        json_record.write(check, known)


if __name__ == "__main__":
    answers_file = {"type": Path, "required": True, "dest": "answers_file"}
    entry.run(main, __doc__, "reference", "check", answers=answers_file)
