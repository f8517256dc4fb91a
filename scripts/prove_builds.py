"""Prove that the builds of a study differ where they should, and nowhere else, from their facts and compiler calls."""

from itertools import groupby
from pathlib import Path
from typing import Any

from scripts import build_proofs, failures, job, machine_code, record
from scripts.build_proofs import Made
from scripts.compile_records import kept


def main(builds: list[Path], calls: list[Path], proofs: Path, log: Path) -> None:
    """Make `proofs` from facts of builds and stages, and from the calls that lie beside those that were compiled.

    Builds that failed are left out. Raises ValueError naming builds, units and arguments when a proof does not hold,
    unless it is about one that may fail: the report shows it.
    """
    by_folder = {path.parent: path for path in calls}
    known = {path: facts for path in builds if not failures.has_failed(facts := record.read(path))}
    made = [Made(_with_code(facts, path), _calls(by_folder.get(path.parent))) for path, facts in known.items()]
    made.sort(key=lambda each: (each.facts["server"], each.name))
    found = [
        (server, proof)
        for server, group in groupby(made, key=lambda each: each.facts["server"])
        for proof in build_proofs.prove(group)
    ]
    spared = {(facts["server"], facts["build"]) for path, facts in known.items() if failures.may_fail(path.parent)}
    build_proofs.demand(proof for server, proof in found if not spared & {(server, name) for name in proof.builds})
    record.write(proofs, {"proofs": [{"server": server, **proof.facts()} for server, proof in found]})


def _with_code(facts: dict[str, Any], file: Path) -> dict[str, Any]:
    program = file.parent / "install" / facts["server_file"]
    return {**facts, "text_sha256": machine_code.text_sha256(program)}


def _calls(file: Path | None) -> tuple | None:
    return tuple(kept(file)) if file else None


if __name__ == "__main__":
    several = {"type": Path, "nargs": "*", "default": []}
    job.run(main, __doc__, "proofs", builds=several, calls=several)
