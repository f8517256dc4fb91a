"""Stub: writes the names of the build as its answers to the differential check."""

import gzip

from scripts.jobs.stub import begin

from scripts import record

if __name__ == "__main__":
    job = begin()
    described = record.read(job.identity)
    kept = ("server", "build", "outcome", "reason")
    text = record.canonical({key: described[key] for key in kept if key in described})
    job.answers.write_bytes(gzip.compress(text.encode(), mtime=0))
