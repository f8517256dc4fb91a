"""Prove that the builds of a study differ where they should, and nowhere else, from their facts and compiler calls."""

from collections.abc import Collection
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from scripts.build.compilation import binary, foreign_flags
from scripts.build.compilation import proofs as builds_proofs
from scripts.build.compilation.compiler_calls import CompilerCall, read_kept_calls
from scripts.build.compilation.proofs import Made
from scripts.lib import json_record
from scripts.lib.build_records import BuildFacts, JudgedFlags, Proofs
from scripts.lib.host import entry


def main(builds: list[Path], calls: list[Path], proofs: Path, log: Path, tolerated: Collection[Path] = ()) -> None:
    """Inputs: `builds`, the facts of builds and stages; `calls` of the compiler, beside those that were compiled.

    Output: `proofs`, a record, which also names flags that no recipe gave. Failed builds are left out.
    Raises ValueError naming builds, units and arguments if a proof does not hold; a proof about a build that may fail,
    whose folder is `tolerated`, is only shown in the report.
    """
    by_folder = {path.parent: path for path in calls}
    described = {path: json_record.read_part(BuildFacts, path) for path in builds}
    # A failed build has no program, nor has one of a server that already runs.
    compared = {path: facts for path, facts in described.items() if facts.server_file and not facts.has_failed}
    builds_made = [
        Made(_with_code(facts, path), _calls(by_folder.get(path.parent))) for path, facts in compared.items()
    ]
    builds_made.sort(key=lambda build: build.facts.pair)
    proven = [
        replace(proof, server=server)
        for server, of_server in groupby(builds_made, key=lambda build: build.facts.server)
        for proof in builds_proofs.prove(of_server)
    ]
    spared = {facts.pair for path, facts in compared.items() if path.parent in tolerated}
    builds_proofs.demand(proof for proof in proven if not spared & {(proof.server, name) for name in proof.builds})
    flags = [_foreign(build.facts, build.calls) for build in builds_made if build.calls]
    json_record.write(proofs, Proofs(proven, flags).to_json())


def _with_code(facts: BuildFacts, file: Path) -> BuildFacts:
    return replace(facts, text_sha256=binary.text_sha256(file.parent / "install" / (facts.server_file or "")))


def _foreign(facts: BuildFacts, calls: tuple[CompilerCall, ...]) -> JudgedFlags:
    return JudgedFlags(server=facts.server, build=facts.build, flags=foreign_flags.foreign_flags(facts, calls).text)


def _calls(file: Path | None) -> tuple[CompilerCall, ...] | None:
    return tuple(read_kept_calls(file)) if file else None


if __name__ == "__main__":
    entry.run(main, __doc__, "proofs", builds=entry.FILES, calls=entry.FILES, tolerated=entry.FILES)
