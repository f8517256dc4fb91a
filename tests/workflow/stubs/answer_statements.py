"""Stub: writes the names of the build as its answers to the differential check; its relinks give the same."""

import gzip

from scripts.jobs.stub import begin

from scripts import record
from scripts.builds import relinked

if __name__ == "__main__":
    job = begin()
    described = record.read(job.identity)
    kept = ("server", "build", "outcome", "reason")
    text = record.canonical({key: described[key] for key in kept if key in described})
    job.answers.write_bytes(gzip.compress(text.encode(), mtime=0))
    if (job.identity.parent / relinked.RECORD).exists():
        facts = relinked.read_relinks(job.identity.parent)
        kept = {key: facts[key] for key in ("sha256", "relinks")}
        record.write(job.answers.with_name(relinked.RECORD), kept)
