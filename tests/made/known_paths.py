"""All paths with digests that the studies of the checkout lead to, the same on every machine.

`python -m tests.made.known_paths` writes tests/data/formats/studies.txt.xz anew. A line that changes there says that
finished studies would fetch, compile, train, load or measure again.
"""

import contextlib
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from scripts.build.compilation import toolchain
from scripts.build.sources import kinds
from scripts.lib.json_record import digest
from scripts.lib.vocabulary import RELINKED
from scripts.study.config import loading
from scripts.study.plan.diagnosis_plan import Diagnoses
from scripts.study.plan.order import BlockKey, keys_in_order
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.studies import CHECKOUT

KNOWN = CHECKOUT / "tests" / "data" / "formats" / "studies.txt.xz"
CONFIGS = (CHECKOUT / "config.yaml", *sorted((CHECKOUT / "studies").glob("*.yaml")))
GCC = "12.2.0"


@contextlib.contextmanager
def made_up_machine() -> Iterator[None]:
    """Replace what plans read from the machine: compilers, installed servers, working trees and archives."""

    def found(name: str, entry: dict) -> toolchain.Toolchain:
        kind = entry.get("kind", "gcc")
        commands = {key: f"/usr/bin/{entry[key]}" for key in toolchain.COMMANDS[kind]}
        return toolchain.Toolchain(name, kind, GCC, commands)

    def digest_of_path(path: Path) -> str:
        return digest(str(path))

    with (
        mock.patch.object(toolchain, "find", found),
        mock.patch.object(kinds.installed, "find_program", lambda path, key, product: path),
        mock.patch.object(kinds.working_tree, "content_sha256", digest_of_path),
        mock.patch.object(kinds.working_tree, "digest_of_state", digest_of_path),
    ):
        yield


def sizes(config: Path) -> list[str]:
    """Return the scales that a study can be made at."""
    return ["full", "small"] if "\nsmall:" in config.read_text(encoding="utf-8") else ["full"]


def known_paths(config: Path, size: str) -> list[str]:
    """Return lines of kind and path for everything that a study makes at this scale, sorted.

    A check's line also has what is no part of its path: the digest of its recipe, and the build it is compared with.
    """
    return known_lines(Schedule(Plan(loading.read(config, CHECKOUT, scale=size), CHECKOUT)))


def known_lines(paths: Schedule) -> list[str]:
    """Return lines of kind and path for everything that a plan makes, sorted."""
    return sorted(f"{kind} {path}" for kind, path in _kinds_and_paths(paths))


def _kinds_and_paths(paths: Schedule) -> Iterator[tuple[str, str]]:
    plan = paths.plan
    for server in {server for server, _ in [*paths.builds.values(), *paths.stages.values()]}:
        yield f"source {server}", paths.source(server)
    for server, build in paths.measured_builds.values():
        recipe, reference = plan.check(server, build).digest, plan.check_reference(server)
        yield "check", f"{paths.answers(server, build)} {recipe} {reference}"
    kinds_of_paths = {
        "build": paths.builds,
        "stage": paths.stages,
        "profile": paths.profiles,
        "dataset": paths.datasets,
        "audit": paths.audits,
        "run": [
            digests_of_run(paths, name, key)
            for key in keys_in_order(plan.study)
            for name in plan.study.arms
            if name != RELINKED
        ],
        "diagnosis": Diagnoses(paths).of_paths,
    }
    for kind, found in kinds_of_paths.items():
        yield from ((kind, path) for path in found)


def digests_of_run(paths: Schedule, variant: str, key: BlockKey) -> str:
    """Return a path with the digests of a run's variant and load; before blocks its record lay there."""
    load = paths.load_part(variant, key.workload)
    return f"{paths.study}/runs/{paths.variant_part(variant)}/{load}/{key.clients}/{key.repetition}.json"


def stored() -> dict[tuple[str, str], list[str]]:
    """Return (study, scale) -> lines, as written in KNOWN."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in lzma.decompress(KNOWN.read_bytes()).decode().splitlines():
        name, size, rest = line.split(" ", 2)
        found.setdefault((name, size), []).append(rest)
    return found


def main() -> None:
    with made_up_machine():
        lines = [
            f"{config.stem} {size} {line}\n"
            for config in CONFIGS
            for size in sizes(config)
            for line in known_paths(config, size)
        ]
    KNOWN.write_bytes(lzma.compress("".join(lines).encode(), preset=9))
    sys.stdout.write(f"{KNOWN}: {len(lines)} lines\n")


if __name__ == "__main__":
    main()
