"""Stub: makes a tree of one file and the record of its release."""

from scripts.stub import begin, fill

from scripts import record

if __name__ == "__main__":
    job = begin()
    fill(job.tree, "configure", "PACKAGE_VERSION='1.2'\n")
    names = {key: job.recipe[key] for key in ("server", "product", "version")}
    how = {"release": f"{job.recipe['version']}.9", "kind": "file", "origin": "a stub", "files": []}
    record.write(job.identity, {**names, **how, "tree_sha256": record.digest(names)})
