"""Stub: writes one counter file and the record of a profile."""

from scripts.jobs.stub import begin, fill

from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity, Failable
from scripts.lib.host import outcome
from tests.made.records import others

if __name__ == "__main__":
    job = begin()
    names = {"server": job.recipe["server"], "training": job.recipe["training"]}
    fill(job.counters, "main.gcda", "counters")

    def give_up(mark: Failable) -> None:
        json_record.write(job.profile, {**names, "trained": "a stub", "tool": None, **mark.to_json()})

    assert all(json_record.read(dataset)["server"] == job.recipe["server"] for dataset in job.datasets)
    with outcome.as_result(job.profile.parent, job.may_fail, give_up):
        outcome.usable(BuildIdentity, job.identity)
        json_record.write(job.profile, {**others()["profiles"][0], **names})
