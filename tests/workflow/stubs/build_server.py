"""Stub: makes an install tree of one file, relinks of it when they are wanted, and facts."""

from scripts.jobs.stub import begin, break_down, fill

from scripts.build.compilation import compiler_calls
from scripts.build.relink import kept_relinks
from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity, Failable, TrainedProfile
from scripts.lib.host import outcome
from scripts.lib.host.process import CommandFailed
from scripts.lib.recipe_models import CompileRecipe
from tests.made.records import build_facts


def give_up(mark: Failable) -> None:
    """Write what the real script does for a build that failed and may."""
    job.headers.mkdir(parents=True, exist_ok=True)
    compiler_calls.write_calls([], job.calls)
    outcome.keep_build(CompileRecipe.of(job.recipe), "1.2.9", mark, job.identity, job.facts, job.install)


def make() -> None:
    recipe = job.recipe
    break_down(recipe["build"])
    if job.profile:
        outcome.usable(TrainedProfile, job.profile)
    program = fill(job.install / "bin", "server", json_record.canonical(recipe))
    fill(job.headers, "config.h", "#define SAME 1\n")
    job.calls.write_bytes(b"")
    names = {key: recipe[key] for key in ("server", "family", "build")} | {"release": "1.2.9"}
    known = {"sha256": json_record.file_sha256(program), "build_id": json_record.digest(recipe)}
    facts = {**build_facts(recipe["build"]), "stage": recipe["stage"]}
    json_record.write(job.facts, {**facts, **names, **known, "server_file": "bin/server"})
    identity = {**names, **known, "server_file": "bin/server", "source_path": "source"}
    relink(identity)
    json_record.write(job.identity, identity)


def relink(identity: dict) -> None:
    folder, numbers = job.identity.parent, range(1, job.relinks + 1)
    for number in numbers:
        program = fill(job.headers, f"relink{number}", f"{identity['sha256']} {number}")
        described = {**identity, "sha256": json_record.file_sha256(program), "relink": number}
        kept_relinks.keep(folder, program, BuildIdentity.of(described))
    if numbers:
        made = [{"number": number, "refused": None} for number in numbers]
        json_record.write(
            folder / kept_relinks.RECORD, {"sha256": identity["sha256"], "refused": None, "relinks": made}
        )


if __name__ == "__main__":
    job = begin()
    with outcome.as_result(job.identity.parent, job.may_fail, give_up, CommandFailed):
        make()
