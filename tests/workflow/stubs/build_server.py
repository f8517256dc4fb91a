"""Stub: makes an install tree of one file, and facts."""

from scripts.stub import begin, fill

from scripts import record
from tests.unit.made_records import build_facts

if __name__ == "__main__":
    job = begin()
    recipe = job.recipe
    program = fill(job.install / "bin", "server", record.canonical(recipe))
    fill(job.headers, "config.h", "#define SAME 1\n")
    job.calls.write_bytes(b"")
    names = {key: recipe[key] for key in ("server", "family", "build")} | {"release": "1.2.9"}
    known = {"sha256": record.file_sha256(program), "build_id": record.digest(recipe)}
    facts = {**build_facts(recipe["build"]), "stage": recipe["stage"]}
    record.write(job.facts, {**facts, **names, **known, "server_file": "bin/server"})
    record.write(job.identity, {**names, **known, "server_file": "bin/server", "source_path": "source"})
