"""Prove that the builds of a study differ where they should, and nowhere else, from their facts and compiler calls."""

import argparse
from itertools import groupby
from pathlib import Path
from typing import Any

from scripts import build_proofs, failures, machine_code, record
from scripts.build_proofs import Made
from scripts.compile_records import kept
from scripts.process import entry


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


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--builds", type=Path, nargs="*", default=[])
    parser.add_argument("--calls", type=Path, nargs="*", default=[])
    for name in ("proofs", "log"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    with entry(arguments.log):
        main(**vars(arguments))
