"""Compare a build's answers with those of its check reference, a build of the same server: all must be identical."""

from pathlib import Path

from scripts.lib import json_record
from scripts.lib.build_records import Check, Failable
from scripts.lib.host import entry, outcome
from scripts.measure.sql import server_answers
from scripts.measure.sql.differential import checked, demand_comparable, differences, story


def main(answers_file: Path, reference: Path, check: Path, log: Path, may_fail: bool = False) -> None:
    """Inputs: `answers_file` and `reference`, the answers of two builds. Outputs: `check`, a record, and `log`.

    Raises Refused naming both builds and the statements with different answers. For a build that may fail, `check`
    records this instead, also if the build or the reference failed before.
    """
    answers, expected = server_answers.read_answers(answers_file), server_answers.read_answers(reference)
    record = Check(
        server=answers["server"],
        release=answers["release"],
        build=answers["build"],
        reference_build=expected["build"],
    )

    def give_up(mark: Failable) -> None:
        json_record.write(check, record.failed(mark).to_json())

    with outcome.as_result(check.parent, may_fail, give_up):
        for answered, file in ((answers, answers_file), (expected, reference)):
            outcome.demand_sound(Failable.of(answered), file.parent)
        demand_comparable(answers, expected)
        different = differences(answers, expected)
        log.write_text(json_record.json_text(different, indent=1) + "\n", encoding="utf-8")
        record = checked(answers, expected, different)
        if different:
            raise outcome.Refused(story(answers, expected, different))
        json_record.write(check, record.to_json())


if __name__ == "__main__":
    answers_file: entry.Option = {"type": Path, "required": True, "dest": "answers_file"}
    entry.run(main, __doc__, "reference", "check", answers=answers_file, may_fail=entry.MAY_FAIL)
