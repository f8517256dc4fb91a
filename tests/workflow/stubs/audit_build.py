"""Stub: writes the audit of a build with a profile."""

from scripts.stub import begin

from scripts import record
from tests.unit.made_records import audit

if __name__ == "__main__":
    job = begin()
    names = {key: job.recipe[key] for key in ("server", "build")}
    record.write(job.audit, {**audit(job.recipe["build"]), **names})
