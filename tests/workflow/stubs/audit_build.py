"""Stub: writes the audit of a build with a profile."""

from scripts.stub import begin

from scripts import failures, record
from tests.unit.made_records import audit

if __name__ == "__main__":
    job = begin()
    names = {key: job.recipe[key] for key in ("server", "build")}
    with failures.as_result(
        job.audit.parent, lambda reason: record.write(job.audit, {**names, **failures.told(reason)})
    ):
        failures.usable(job.identity)
        record.write(job.audit, {**audit(job.recipe["build"]), **names})
