"""Stub: makes a tree of one file and the record of its release."""

from scripts.jobs.stub import begin, fill

from scripts.build.sources import kinds
from scripts.lib import json_record

if __name__ == "__main__":
    job = begin()
    recipe = job.recipe
    fill(job.tree, "configure", "PACKAGE_VERSION='1.2'\n")
    names = {key: recipe[key] for key in ("server", "product", "version", "content_sha256") if key in recipe}
    files = [{"name": "archive", "sha256": recipe["sha256"]}] if "sha256" in recipe else []
    how = {"release": f"{recipe['version']}.9", "kind": kinds.kind_of(job.sources[0]), "origin": "a stub"}
    json_record.write(job.identity, {**names, **how, "files": files, "tree_sha256": json_record.digest(recipe)})
