"""Stub: makes an install tree of one file in place of BOLT's output."""

from scripts.jobs.stub import begin, fill

from scripts import record
from tests.made.records import build_facts

if __name__ == "__main__":
    job = begin()
    recipe, base = job.recipe, record.read(job.base)
    assert base["build"] == recipe["input"]["name"], (base, recipe)
    program = fill(job.install / "bin", "server", record.canonical(recipe))
    names = {key: recipe[key] for key in ("server", "family", "build")} | {"release": base["release"]}
    known = {"sha256": record.file_sha256(program), "build_id": record.digest(recipe)}
    facts = {**build_facts(recipe["build"]), "stage": recipe["stage"]}
    record.write(job.facts, {**facts, **names, **known, "server_file": "bin/server"})
    record.write(job.identity, {**names, **known, "server_file": "bin/server", "source_path": "source"})
