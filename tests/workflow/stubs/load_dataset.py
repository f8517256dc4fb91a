"""Stub: makes a snapshot of one file and its record."""

from scripts.jobs.stub import begin, fill

from scripts.lib import json_record

if __name__ == "__main__":
    job = begin()
    fill(job.snapshot, "table", json_record.canonical(job.recipe))
    shown = {"server": job.recipe["server"], "dataset": job.recipe["dataset"], **job.recipe["tables"]}
    json_record.write(job.dataset, {**shown, "bytes": 1_000_000, "snapshot_sha256": "e2" * 32, "load_s": 0.1})
