"""Stub: writes one counter file and the record of a profile."""

from scripts.stub import begin, fill

from scripts import record
from tests.unit.made_records import others

if __name__ == "__main__":
    job = begin()
    assert all(record.read(dataset)["server"] == job.recipe["server"] for dataset in job.datasets)
    fill(job.counters, "main.gcda", "counters")
    made = others()["profiles"][0]
    record.write(job.profile, {**made, "server": job.recipe["server"], "training": job.recipe["training"]})
