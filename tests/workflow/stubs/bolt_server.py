"""Stub: makes an install tree of one file in place of BOLT's output."""

from scripts.jobs.stub import begin, fill

from scripts.lib import json_record
from tests.made.records import build_facts

if __name__ == "__main__":
    job = begin()
    recipe, base = job.recipe, json_record.read(job.base)
    assert base["build"] == recipe["input"]["name"], (base, recipe)
    program = fill(job.install / "bin", "server", json_record.canonical(recipe))
    names = {key: recipe[key] for key in ("server", "family", "build")} | {"release": base["release"]}
    known = {"sha256": json_record.file_sha256(program), "build_id": json_record.digest(recipe)}
    facts = {**build_facts(recipe["build"]), "stage": recipe["stage"]}
    json_record.write(job.facts, {**facts, **names, **known, "server_file": "bin/server"})
    json_record.write(job.identity, {**names, **known, "server_file": "bin/server", "source_path": "source"})
