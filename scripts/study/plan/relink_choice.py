"""Which builds are relinked: the reference of a study that compares builds, in the job that makes it from sources.

A build's recipe does not say so. The folder of a build is the same in all studies, and a study that finds its
reference finished measures it as it is: without relinks, unless it was a study's reference when it was made.
"""

from typing import Protocol

from scripts.build.relink.kept_relinks import RelinkRecord
from scripts.lib.vocabulary import RELINKED
from scripts.study.plan.listing import Listing
from scripts.study.plan.recipes import Plan

# Relinks that a spread can be computed of, and how many are worth their space: one per repetition in between.
LEAST, MOST = 5, 20


class Builds(Protocol):
    """A plan, the folders of its builds, and what lies on disk."""

    plan: Plan
    listing: Listing

    def build(self, server: str, build: str) -> str:
        """Return the folder of a build or of a stage behind one."""


def wanted(paths: Builds) -> dict[str, int]:
    """Return folder -> number of relinks of the study's reference, and of BOLT's input behind it."""
    declared = paths.plan.study.declared
    if not (arm := paths.plan.study.arms.get(RELINKED)):
        return {}
    count = min(max(LEAST, declared.repetitions), MOST)
    return {paths.build(arm.server, name): count for name in (arm.build, paths.plan.stages.input(arm.build)) if name}


def may_be_there(paths: Builds) -> bool:
    """Return whether the reference has relinks to measure, or gets them when its build is made."""
    folders = list(wanted(paths))
    if not folders:
        return False
    due = not paths.listing.has(f"{folders[0]}/identity.json")
    record = RelinkRecord.of(paths.listing.record(f"{folders[0]}/relinked.json") or {})
    return due or any(not relink.refused for relink in record.relinks)
