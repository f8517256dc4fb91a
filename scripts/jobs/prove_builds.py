"""Prove that the builds of a study differ where they should, and nowhere else, from their facts and compiler calls."""

from itertools import groupby
from pathlib import Path
from typing import Any

from scripts.build.compilation import binary, foreign_flags
from scripts.build.compilation import proofs as builds_proofs
from scripts.build.compilation.compiler_calls import CompilerCall, read_kept_calls
from scripts.build.compilation.proofs import Made
from scripts.lib import json_record
from scripts.lib.host import entry, outcome


def main(builds: list[Path], calls: list[Path], proofs: Path, log: Path) -> None:
    """Inputs: `builds`, the facts of builds and stages; `calls` of the compiler, beside those that were compiled.

    Output: `proofs`, a record, which also names flags that no recipe gave. Failed builds are left out.
    Raises ValueError naming builds, units and arguments if a proof does not hold; a proof about a build that may fail
    is only shown in the report.
    """
    by_folder = {path.parent: path for path in calls}
    known = {path: facts for path in builds if not outcome.has_failed(facts := json_record.read(path))}
    known = {path: facts for path, facts in known.items() if facts["server_file"]}  # not a server that already runs
    made = [Made(_with_code(facts, path), _calls(by_folder.get(path.parent))) for path, facts in known.items()]
    made.sort(key=lambda each: (each.facts["server"], each.name))
    found = [
        (server, proof)
        for server, group in groupby(made, key=lambda each: each.facts["server"])
        for proof in builds_proofs.prove(group)
    ]
    spared = {(facts["server"], facts["build"]) for path, facts in known.items() if outcome.may_fail(path.parent)}
    builds_proofs.demand(proof for server, proof in found if not spared & {(server, name) for name in proof.builds})
    shown = [{"server": server, **proof.facts()} for server, proof in found]
    json_record.write(proofs, {"proofs": shown, foreign_flags.FACT: [_foreign(each) for each in made if each.calls]})


def _with_code(facts: dict[str, Any], file: Path) -> dict[str, Any]:
    program = file.parent / "install" / facts["server_file"]
    return {**facts, "text_sha256": binary.text_sha256(program)}


def _foreign(made: Made) -> dict[str, Any]:
    """Return the foreign flags of a build as text, with the names of server and build."""
    text = foreign_flags.foreign_flags(made.facts, made.calls or ()).text
    return {"server": made.facts["server"], "build": made.name, "flags": text}


def _calls(file: Path | None) -> tuple[CompilerCall, ...] | None:
    return tuple(read_kept_calls(file)) if file else None


if __name__ == "__main__":
    entry.run(main, __doc__, "proofs", builds=entry.FILES, calls=entry.FILES)
