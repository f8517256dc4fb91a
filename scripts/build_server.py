"""Build a server: from a source tree to an install tree, its identity, and the facts of the build."""

import argparse
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from scripts import binary, compile_records, families, record, toolchain
from scripts.compile import Compiled, build_tree, compile_server, source_link
from scripts.flags import build_flags, published_options
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

    Raises ValueError when the compiler lacks a profile flag or the profile belongs to other sources or another
    compiler; CommandFailed when a command fails.
    """
    family = families.of(recipe["family"])
    chosen = toolchain.find(recipe["toolchain"]["name"], recipe["toolchain"]["commands"])
    described = record.read(source)
    link = source_link(source.parent / "tree", described["tree_sha256"], cache_directory())
    install.parent.mkdir(parents=True, exist_ok=True)
    with shared(tell_wait), build_tree(described["tree_sha256"], cache_directory(), recipe["stage"]) as build:
        flags = build_flags(recipe, chosen, build, profile, link, threads)
        options = [*recipe.get("configure", []), *published_options(recipe, profile)]
        configured = {**recipe, "configure": options}
        compiled = compile_server(family, link, build, chosen, flags, configured, threads, log)
        begin_s = time.monotonic()
        family.install(link, build, install.absolute(), log)
        steps_s = {**compiled.steps_s, "install": time.monotonic() - begin_s}
        made = compile_records.read_calls(compiled.records, build)
        if chosen.kind == "clang" and recipe["stage"] == "instrumented":
            # Clang's profile names functions, not units: only the objects tell which unit has which.
            made = compile_records.with_functions(made, build, chosen.nm)
        compile_records.keep(made, calls)
        keep_headers(build, headers)
    program = install / family.SERVER
    names = {key: recipe[key] for key in ("server", "family", "build")} | {"release": described["release"]}
    known = binary.identify(program)
    declared = {"stage": recipe["stage"], "toolchain": chosen.facts(), "flags": flags.facts()}
    record.write(
        facts,
        {
            **names,
            "source_sha256": described["tree_sha256"],
            **declared,
            **_effort(compiled, steps_s, made),
            **known,
            **binary.sizes(program, install),
            "threads": threads,
            "server_file": family.SERVER,
        },
    )
    record.write(identity, {**names, **known, "server_file": family.SERVER, "source_path": str(link)})


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
