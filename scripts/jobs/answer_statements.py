"""Send the statements of the differential check to a server on a new data directory, and write its answers.

The relinks of the build have to give the same answers; which do stands in `relinked.json` beside the answers.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts import ROOT
from scripts.build.relink import kept_relinks
from scripts.build.relink.kept_relinks import Relink, RelinkAnswers
from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity, Failable
from scripts.lib.host import entry, outcome, workplace
from scripts.lib.host.entry import say
from scripts.lib.host.process import CommandFailed
from scripts.lib.recipe_models import CheckRecipe
from scripts.measure.servers.server import ServerFailed
from scripts.measure.sql import server_answers, statement_files
from scripts.measure.sql.differential import differences, question


def main(recipe: CheckRecipe, identity: Path, answers_file: Path, log: Path, may_fail: bool = False) -> None:
    """Input: `identity`, the identity record of a build. Output: `answers_file`, its answers.

    Raises ServerFailed naming the statement at which the server died or stopped answering, and ValueError if the
    statements differ from those of the recipe. For a build that may fail, `answers_file` records the failure instead.
    """
    begin_s, described = time.monotonic(), json_record.read_part(BuildIdentity, identity)
    names = {key: getattr(described, key) for key in ("server", "family", "build", "release", "build_id")}
    names |= {key: getattr(recipe, key) for key in ("recipe", "build_digest", "statements_sha256")}
    if (actual := statement_files.statements_sha256(ROOT, recipe.family)) != recipe.statements_sha256:
        raise ValueError(f"statements_sha256: the files have {actual}, the recipe {recipe.statements_sha256}")

    def give_up(failed: Failable) -> None:
        server_answers.write_answers(answers_file, {**names, **failed.to_json()})

    with outcome.as_result(answers_file.parent, may_fail, give_up, ServerFailed, CommandFailed):
        outcome.usable(BuildIdentity, identity)
        answered = question(recipe.family, described.release, workplace.installed(identity), log)
        answer_relinks(identity.parent, described, answered, answers_file.with_name(kept_relinks.RECORD), log)
        server_answers.write_answers(answers_file, {**names, **answered})
        count, took_s = len(answered["answers"]), time.monotonic() - begin_s
        say(f"[check {described.server} {described.build}] {count} statements answered in {took_s:.0f} s")


def answer_relinks(
    build: Path, described: BuildIdentity, expected: server_answers.Answers, checked: Path, log: Path
) -> None:
    """Ask the relinks of a build the same statements, and write to `checked` which of them answer as `expected`."""
    checked.unlink(missing_ok=True)
    try:
        record = kept_relinks.read_relinks(build)
    except kept_relinks.NotRelinked:
        return

    def judged(number: int) -> Relink:
        with kept_relinks.refusal(ServerFailed) as why:
            install = workplace.installed(kept_relinks.identity_of(build, number))
            answered = question(
                described.family or "", described.release, install, log.with_suffix(f".relink{number}.log")
            )
            if differing := differences(answered, expected):
                raise ValueError(f"{len(differing)} answers are not those of the build, first: {differing[0]['asked']}")
        return Relink(number, refused=why.reason)

    # A server spends half of its time on starts and on waits between connections.
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as threads:
        answers = RelinkAnswers(record.sha256, list(threads.map(judged, record.usable)))
    json_record.write(checked, answers.to_json())


if __name__ == "__main__":
    answers_file: entry.Option = {"type": Path, "required": True, "dest": "answers_file"}
    others = {"recipe": entry.recipe(CheckRecipe), "may_fail": entry.MAY_FAIL}
    entry.run(main, __doc__, "identity", **others, answers=answers_file)
