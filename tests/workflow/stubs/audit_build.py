"""Stub: writes the audit of a build with a profile."""

from scripts.jobs.stub import begin

from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity, Failable
from scripts.lib.host import outcome
from tests.made.records import audit

if __name__ == "__main__":
    job = begin()
    names = {key: job.recipe[key] for key in ("server", "build")}

    def give_up(mark: Failable) -> None:
        json_record.write(job.audit, {**names, **mark.to_json()})

    with outcome.as_result(job.audit.parent, job.may_fail, give_up):
        outcome.usable(BuildIdentity, job.identity)
        json_record.write(job.audit, {**audit(job.recipe["build"]), **names})
