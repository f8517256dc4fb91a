"""Build a server: from a source tree to an install tree, its identity, and the facts of the build."""

import argparse
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from scripts import binary, compile_records, families, profile_audit, record, toolchain
from scripts.compile import Compiled, Flags, build_tree, compile_server, instrument_flags, profile_flags, source_link
from scripts.hostlock import shared
from scripts.process import entry, tell_wait
from scripts.workplace import cache_directory


def main(
    recipe: dict,
    source: Path,
    profile: Path | None,
    install: Path,
    headers: Path,
    calls: Path,
    identity: Path,
    facts: Path,
    threads: int,
    log: Path,
) -> None:
    """Make `install`, then `facts`, then `identity`, which consumers depend on.

    Raises ValueError when the compiler lacks the profile flag, the profile belongs to other sources or another
    compiler, or the build did not use it; CommandFailed when a command fails.
    """
    family = families.of(recipe["family"])
    chosen = toolchain.find(recipe["toolchain"]["name"], recipe["toolchain"]["commands"])
    described = record.read(source)
    link = source_link(source.parent / "tree", described["tree_sha256"], cache_directory())
    install.parent.mkdir(parents=True, exist_ok=True)
    with shared(tell_wait), build_tree(described["tree_sha256"], cache_directory()) as build:
        flags = build_flags(recipe, chosen, build, profile, link)
        compiled = compile_server(family, link, build, chosen, flags, recipe, threads, log)
        begin_s = time.monotonic()
        family.install(link, build, install.absolute(), log)
        steps_s = {**compiled.steps_s, "install": time.monotonic() - begin_s}
        made = compile_records.read_calls(compiled.records, build)
        compile_records.keep(made, calls)
        keep_headers(build, headers)
    program = install / family.SERVER
    audited = _audit(recipe, profile, made, chosen)
    names = {key: recipe[key] for key in ("server", "family", "build")} | {"release": described["release"]}
    known = binary.identify(program)
    shown = {**names, "source_sha256": described["tree_sha256"], "toolchain": chosen.facts(), "flags": flags.facts()}
    record.write(
        facts,
        {
            **shown,
            **_effort(compiled, steps_s, made),
            **known,
            **binary.sizes(program, install),
            "threads": threads,
            "server_file": family.SERVER,
            "audit": audited,
        },
    )
    record.write(identity, {**names, **known, "server_file": family.SERVER, "source_path": str(link)})


def build_flags(recipe: dict, chosen: toolchain.Toolchain, build: Path, profile: Path | None, source: Path) -> Flags:
    """Return the flags of this build's stage; a profile of other sources or of another compiler is refused."""
    common = tuple(recipe.get("flags", []))
    if recipe["stage"] == "instrumented":
        toolchain.probe_profile_flag(chosen)
        return Flags(common=common, profile=instrument_flags(build))
    if profile is None:
        return Flags(common=common)
    toolchain.probe_profile_flag(chosen)
    trained = record.read(profile)
    for key, here in (("compiler", f"{chosen.name} {chosen.version}"), ("source_path", str(source))):
        if trained[key] != here:
            raise ValueError(f"{profile}: {key} is {trained[key]!r}, this build has {here!r}; the profile does not fit")
    return Flags(common=common, profile=profile_flags(build, (profile.parent / "counters").absolute()))


def _audit(recipe: dict, profile: Path | None, calls: list, chosen: toolchain.Toolchain) -> dict[str, Any] | None:
    if profile is None:
        return None
    counters = profile_audit.read_counters(profile.parent / "counters", chosen.gcov_dump)
    audited = profile_audit.audit(counters, compile_records.units(calls), recipe["profile"]["training"])
    profile_audit.demand(audited)
    return audited


def _effort(compiled: Compiled, steps_s: dict[str, float], calls: list) -> dict[str, Any]:
    linked = [call for call in calls if call.links]
    units = compile_records.units(calls)
    return {
        "configure_command": compiled.configure_command,
        "compile_arguments": compile_records.effective_arguments(units),
        "link_arguments": compile_records.effective_arguments(linked),
        "steps_s": steps_s,
        "wall_s": sum(steps_s.values()),
        "cpu_s": compiled.usage.cpu_s,
        "peak_rss_mib": compiled.usage.peak_rss_mib,
        "units_compiled": len(units),
    }


def keep_headers(build: Path, kept: Path) -> None:
    """Keep the configuration headers, so that anyone can see that all builds of a server had the same."""
    shutil.rmtree(kept, ignore_errors=True)
    for header in build.rglob("*config*.h"):
        target = kept / header.relative_to(build)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(header, target)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", type=json.loads, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--profile", type=Path, nargs="?")
    for name in ("source", "install", "headers", "calls", "identity", "facts", "log"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    with entry(arguments.log):
        main(**vars(arguments))
