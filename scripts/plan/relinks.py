"""Which builds are relinked: the reference of a study, in the job that makes it, if it is made from sources.

A build's recipe does not say so. The folder of a build is the same in all studies, and a study that finds its
reference finished measures it as it is: without relinks, unless it was a study's reference when it was made.
"""

from scripts.builds.stages import PREBUILT
from scripts.plan.paths import Paths

# Relinks that a spread can be computed of, and how many are worth their space: one per repetition in between.
LEAST, MOST = 5, 20


def wanted(paths: Paths) -> dict[str, int]:
    """Return folder -> number of relinks of the study's reference, and of BOLT's input behind it."""
    config = paths.plan.study.config
    variant = paths.plan.study.variants[config["reference"]]
    server, build = variant["server"], variant["build"]
    if paths.plan.stages.of(build).kind == PREBUILT:
        return {}
    before = paths.plan.stages.input(build)
    count = min(max(LEAST, config["repetitions"]), MOST)
    return {paths.build(server, name): count for name in (build, before) if name}


def may_be_there(paths: Paths) -> bool:
    """Return whether the reference has relinks to measure, or gets them when its build is made."""
    folders = list(wanted(paths))
    if not folders:
        return False
    due = not paths.listing.has(f"{folders[0]}/identity.json")
    found = paths.listing.record(f"{folders[0]}/relinked.json") or {}
    return due or any(not one["refused"] for one in found.get("relinks", []))
