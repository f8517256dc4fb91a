"""Stub: finds a build's answers identical to those of the reference, which must be of the same server.

STUB_WRONG names builds that answer otherwise.
"""

import gzip
import json
import os

from scripts.jobs.stub import begin

from scripts.lib import json_record
from scripts.lib.build_records import Failable
from scripts.lib.host import outcome
from tests.made.records import check

if __name__ == "__main__":
    job = begin()
    given, reference = (json.loads(gzip.decompress(file.read_bytes())) for file in (job.answers, job.reference))
    assert given["server"] == reference["server"], (given, reference)
    known = {**check(given["build"]), **given, "reference_build": reference["build"]}

    def give_up(mark: Failable) -> None:
        json_record.write(job.check, {**known, **mark.to_json()})

    with outcome.as_result(job.check.parent, job.may_fail, give_up):
        outcome.demand_sound(Failable.of(given), job.answers.parent)
        if given["build"] in os.environ.get("STUB_WRONG", "").split():
            raise outcome.Refused(f"build {given['build']} answers 1 of 409 questions differently")
        json_record.write(job.check, known)
