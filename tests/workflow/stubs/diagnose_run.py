"""Stub: writes the record of a diagnosis that found one function, or a wait, or nothing."""

import time

from scripts.jobs.stub import begin

from scripts.lib import json_record
from tests.made.diagnoses import diagnosed

if __name__ == "__main__":
    started_at = time.time()
    job = begin()
    job.text.write_text("what sysbench would have printed\n")
    tool = job.recipe["tool"]
    facts = {**diagnosed(job.place, tool), "recipe": job.recipe}
    json_record.write(job.diagnosis, {**facts, "times": {"started_at": started_at, "ended_at": time.time()}})
