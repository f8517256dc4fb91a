"""Stub: writes the audit of a build with a profile."""

from scripts.jobs.stub import begin

from scripts.lib import json_record
from scripts.lib.host import outcome
from tests.made.records import audit

if __name__ == "__main__":
    job = begin()
    names = {key: job.recipe[key] for key in ("server", "build")}
    with outcome.as_result(
        job.audit.parent, lambda reason: json_record.write(job.audit, {**names, **outcome.failure_facts(reason)})
    ):
        outcome.usable(job.identity)
        json_record.write(job.audit, {**audit(job.recipe["build"]), **names})
