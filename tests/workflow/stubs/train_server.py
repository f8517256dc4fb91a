"""Stub: writes one counter file and the record of a profile."""

from scripts.stub import begin, fill

from scripts import failures, record
from tests.unit.made_records import others

if __name__ == "__main__":
    job = begin()
    names = {"server": job.recipe["server"], "training": job.recipe["training"]}
    fill(job.counters, "main.gcda", "counters")

    def give_up(reason: str) -> None:
        record.write(job.profile, {**names, "trained": "a stub", "tool": None, **failures.told(reason)})

    assert all(record.read(dataset)["server"] == job.recipe["server"] for dataset in job.datasets)
    with failures.as_result(job.profile.parent, give_up):
        failures.usable(job.identity)
        record.write(job.profile, {**others()["profiles"][0], **names})
