"""The plan in a few lines: what would be made, and how long compiling and measuring would take."""

import json
from pathlib import Path

from scripts.paths import OVERHEAD_S, Paths

# An instrumented or profile-using compile takes about this many times the CPU of a plain one (measured, gcc 12).
INSTRUMENTED_COST = 1.3
# Seconds of what is not compiled: BOLT took 27 s and 8 s for MariaDB on two cores.
QUICK = {"bolt_instrumented": 30, "bolted": 10, "prebuilt": 10}


def text(paths: Paths, cores: int) -> str:
    """Return the plan of a study, seconds estimated from this machine's earlier builds, else from the catalog."""
    config = paths.plan.study.config
    builds = [
        pair for folder, pair in {**paths.builds, **needed_stages(paths)}.items() if not made(folder, "identity.json")
    ]
    profiles = [folder for folder in paths.profiles if not made(folder, "profile.json")]
    datasets = [folder for folder in paths.datasets if not made(folder, "dataset.json")]
    runs = [path for path in paths.runs if not Path(path).exists()]
    compile_s = sum(compile_estimate_s(paths, server, build, cores) for server, build in builds)
    training_s = sum(training_estimate_s(paths, paths.profiles[folder][1]) for folder in profiles)
    measure_s = len(runs) * (config["warmup_s"] + config["measure_s"] + OVERHEAD_S)
    lines = [
        f"plan of study {paths.plan.study.name}",
        f"  builds to make    {len(builds):5} of {len(paths.builds) + len(paths.stages)}{names(builds)}",
        f"  trainings to run  {len(profiles):5} of {len(paths.profiles)}",
        f"  datasets to load  {len(datasets):5} of {len(paths.datasets)}",
        f"  runs to measure   {len(runs):5} of {len(paths.runs)}",
        f"  estimated: compiling {minutes(compile_s)}, training {minutes(training_s)}, measuring {minutes(measure_s)}",
    ]
    return "\n".join(lines) + "\n\n"


def needed_stages(paths: Paths) -> dict[str, tuple[str, str]]:
    """Return the stages that builds still to be made, and trainings still to be run, need."""
    wanted = [pair for folder, pair in paths.builds.items() if not made(folder, "identity.json")]
    found: dict[str, tuple[str, str]] = {}
    while wanted:
        server, build = wanted.pop()
        stages = [paths.plan.stages.input(build)]
        profile = paths.profile(server, build)
        if profile and not made(profile, "profile.json"):
            stages.append(paths.profiles[profile][2])
        for stage in filter(None, stages):
            found[paths.build(server, stage)] = (server, stage)
            wanted.append((server, stage))
    return {folder: pair for folder, pair in sorted(found.items()) if not made(folder, "identity.json")}


def made(folder: str, record: str) -> bool:
    """Tell whether a thing's record is there."""
    return (Path(folder) / record).exists()


def names(pairs: list[tuple[str, str]]) -> str:
    """Return the builds by name in brackets."""
    return f"  ({', '.join(f'{server} {build}' for server, build in pairs)})" if pairs else ""


def compile_estimate_s(paths: Paths, server: str, build: str, cores: int) -> float:
    """Return seconds of a compile on `cores` cores: from an earlier build here, else from the catalog's estimate."""
    entry, kind = paths.plan.study.entries["servers"][server], paths.plan.stages.of(build).kind
    if kind in QUICK:
        return QUICK[kind]
    known = [json.loads(file.read_text()) for file in Path("results/builds", server).glob("*/facts.json")]
    compiled_s = [facts["cpu_s"] for facts in known if facts.get("stage") not in QUICK]
    plain_s = min(compiled_s, default=entry.get("compile_cpu_minutes", 30) * 60)
    factor = INSTRUMENTED_COST if "instrumented" in kind else 1
    return plain_s * factor / max(1, cores)


def training_estimate_s(paths: Paths, training: str) -> float:
    """Return seconds of a training: its workloads, and starting and stopping the server for each."""
    declared = paths.plan.study.entries["trainings"][training]
    return len(declared["workloads"]) * (declared["seconds"] + OVERHEAD_S)


def minutes(seconds: float) -> str:
    """Return a duration in the unit a person would use."""
    match seconds:
        case 0:
            return "nothing"
        case _ if seconds < 100:
            return f"about {seconds:.0f} s"
        case _ if seconds < 3 * 3600:
            return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"
