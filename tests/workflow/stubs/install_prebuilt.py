"""Stub: makes an install tree of one file in place of a ready-made server."""

from scripts.jobs.stub import begin, fill

from scripts.lib import json_record
from tests.made.records import build_facts

if __name__ == "__main__":
    job = begin()
    recipe = job.recipe
    program = fill(job.install / "bin", "server", json_record.canonical(recipe))
    names = {key: recipe[key] for key in ("server", "family", "build")} | {"release": "1.2.9"}
    known = {"sha256": json_record.file_sha256(program), "build_id": json_record.digest(recipe)}
    json_record.write(job.facts, {**build_facts(recipe["build"]), **names, **known, "server_file": "bin/server"})
    json_record.write(job.identity, {**names, **known, "server_file": "bin/server", "source_path": None})
