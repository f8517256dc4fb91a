"""Stub: writes the names of the build as its answers to the differential check; its relinks give the same."""

import gzip

from scripts.jobs.stub import begin

from scripts.build.relink import kept_relinks
from scripts.lib import json_record

if __name__ == "__main__":
    job = begin()
    described = json_record.read(job.identity)
    kept = ("server", "build", "outcome", "reason")
    text = json_record.canonical({key: described[key] for key in kept if key in described})
    job.answers.write_bytes(gzip.compress(text.encode(), mtime=0))
    if (job.identity.parent / kept_relinks.RECORD).exists():
        record = kept_relinks.read_relinks(job.identity.parent)
        answers = kept_relinks.RelinkAnswers(record.sha256, record.relinks)
        json_record.write(job.answers.with_name(kept_relinks.RECORD), answers.to_json())
