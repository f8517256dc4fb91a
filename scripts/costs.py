"""What the study's builds, trainings and datasets cost: seconds, CPU time, memory, sizes, disk."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from scripts.build_details import MADE
from scripts.failed_builds import sound
from scripts.metrics import TPS
from scripts.wording import NARROW, NOTHING, count, duration, listing, missing, plural, size

Facts = dict[str, Any]
HEAD = ("what", "how", "time", "CPU time", "largest process, MiB", ".text", "server file", "disk")
INSTRUMENTED = "instrumented"


def rows(facts: list[Facts], profiles: list[Facts], datasets: list[Facts]) -> list[tuple[str, ...]]:
    """Return one row a build, training and dataset of the study, with HEAD's fields, and their sum."""
    builds, trained = sound(facts), sound(profiles)
    made = [*map(_build, builds), *map(_training, trained), *map(_dataset, datasets)]
    if not made:
        return []
    time_s = _sum(*(build.get("wall_s") for build in builds), *(profile.get("wall_s") for profile in trained),
                  *(data.get("load_s") for data in datasets))  # fmt: skip
    cpu_s = _sum(*(build.get("cpu_s") for build in builds))
    disk = _sum(*(build.get("install_bytes") for build in builds), *(data.get("bytes") for data in datasets))
    return [*made, ("all of these", "", duration(time_s), duration(cpu_s), "", "", "", size(disk))]


def _sum(*values: float | None) -> float | None:
    known = [value for value in values if not missing(value)]
    return sum(known) if known else None


def _build(build: Facts) -> tuple[str, ...]:
    return (
        f"build {build['build']} of {build['server']}",
        MADE.get(build.get("stage"), NOTHING),
        duration(build.get("wall_s")),
        duration(build.get("cpu_s")),
        count(build.get("peak_rss_mib")),
        size(build.get("text_bytes")),
        size(build.get("file_bytes")),
        size(build.get("install_bytes")),
    )


def _training(profile: Facts) -> tuple[str, ...]:
    what = f"training {profile['training']} of {profile['server']}"
    how = f"runs {profile.get('trained') or INSTRUMENTED}"
    return (what, how, duration(profile.get("wall_s")), *[NOTHING] * 5)


def _dataset(data: Facts) -> tuple[str, ...]:
    what = f"dataset {data['dataset']} of {data['server']}"
    how = "initialised; loaded in every run" if data.get("fresh") else "loaded once"
    return (what, how, duration(data.get("load_s")), *[NOTHING] * 4, size(data.get("bytes")))


def laid_out(facts: list[Facts]) -> list[str]:
    """Return what the sizes of builds that BOLT made do not show, nothing without such builds."""
    named = [build["build"] for build in sound(facts) if build.get("stage") == "bolted"]
    if not named:
        return []
    return [
        f"Of {listing(named)}, .text is what BOLT laid out anew; the code it moved away is in .text.cold, "
        "and the old place of both, which takes room in the file and none in caches, in .bolt.org.text."
    ]


def slowed(study: Facts, cells: pd.DataFrame, profiles: list[Facts]) -> list[str]:
    """Return how fast each instrumented server was in training beside the reference, a sentence a profile.

    The reference's value is that of the same workload, server and client count; a training with other client counts
    cannot be set beside it, and the sentence says so.
    """
    reference = study["reference"]
    ours = cells[(cells["variant"] == reference) & (cells["metric"] == TPS.name)]
    values = {(row.workload, row.clients): row.value for row in ours.itertuples() if not missing(row.value)}
    same = [each for each in sound(profiles) if each["server"] == study["variants"][reference]["server"]]
    return [_slowed(profile, values, study) for profile in same if profile.get("runs")]


def _slowed(profile: Facts, values: dict[tuple[str, int], float], study: Facts) -> str:
    name = profile.get("trained") or f"the server of training {profile['training']}"
    both = [(run, values.get((run["workload"], run["clients"]))) for run in profile["runs"] if run.get("tps")]
    told = [
        f"{100 * run['tps'] / value:.0f}{NARROW}% in {run['workload']} at {plural(run['clients'], 'client')}"
        for run, value in both
        if value
    ]
    if told:
        text = f"{name} in training gave, of the transactions per second of {study['reference']}: {listing(told)}"
        return f"{text}. One run each, so without an interval."
    return f"{name} was trained with {_clients(profile['runs'])}, {_other(profile['runs'], study)}"


def _clients(runs: Iterable[Facts]) -> str:
    counts = sorted({run["clients"] for run in runs if not missing(run.get("clients"))})
    return f"{listing(list(map(str, counts)))} clients" if counts else "an unknown number of clients"


def _other(runs: Iterable[Facts], study: Facts) -> str:
    same = [run["workload"] for run in runs if run["workload"] in study["workloads"]]
    if not same:
        return "on workloads that are not measured: how much slower it was is not known."
    measured = listing(list(map(str, study["clients"])))
    return f"the runs were measured with {measured}: how much slower it was cannot be told from the two."
