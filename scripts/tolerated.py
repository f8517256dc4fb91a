"""What of a study may fail: builds that are declared so, and what nobody else needs."""

from collections.abc import Iterator

from scripts.paths import Paths

Pair = tuple[str, str]


def folders(paths: Paths) -> list[str]:
    """Return the folders of builds, stages, profiles and checks that may fail.

    A build may when its entry says `may_fail`; a stage or a profile when all its users may.
    """
    every = {*paths.builds.values(), *paths.stages.values()}
    needed = set(_needed(paths))
    profiles = {paths.profile(*pair) for pair in needed}
    spared = sorted(every - needed)
    made = [folder for pair in spared for folder in (paths.build(*pair), paths.answers(*pair))]
    return made + [folder for folder in paths.profiles if folder not in profiles]


def _needed(paths: Paths) -> Iterator[Pair]:
    """Yield server and name of every build and stage without which the study cannot go on."""
    plan = paths.plan
    for server, build in paths.builds.values():
        if not plan.study.entries["builds"].get(build, {}).get("may_fail"):
            yield from ((server, name) for name in (build, *plan.stages.behind(build)))
