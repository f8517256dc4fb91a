"""The builds of a study: properties, arguments, sizes, and the cost of builds, trainings and datasets."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.lib.host.outcome import sound_records
from scripts.lib.json_record import part
from scripts.lib.resolved_study import ResolvedBuild, ResolvedStudy
from scripts.lib.vocabulary import CONTROLS
from scripts.lib.wording import NARROW, NOTHING, count, duration, listing, missing, number, plural, short, size
from scripts.report.analysis.metrics import TPS
from scripts.report.page.document import (
    Cell,
    Fold,
    Head,
    Heading,
    PageBlock,
    Prose,
    Section,
    Table,
    Verbatim,
    grid,
    table_row,
    word_heads,
)

Facts = dict[str, Any]
ARGUMENT_PARTS = {"compile": "compile_arguments", "link": "link_arguments"}


@dataclass(frozen=True)
class Arguments:
    """What compiler or linker got in all builds, and what in some builds only; `without` are builds of unknown ones."""

    part: str
    shared: str
    marks: Table
    without: str


def input_of(build: Facts, facts: Iterable[Facts]) -> Facts | None:
    """Return the facts of the build that BOLT made this one from; None for any other build, or when it is not there."""
    key = (build["server"], part(build, "bolt").get("input_build"))
    return next((other for other in facts if (other["server"], other["build"]) == key), None)


def arguments(facts: list[Facts]) -> tuple[Arguments, ...]:
    """Return what compiler and linker were given in the builds of one server, as sets side by side."""
    return tuple(found for kind in ARGUMENT_PARTS if (found := _side_by_side(kind, facts)))


def _side_by_side(part: str, facts: list[Facts]) -> Arguments | None:
    found = {build["build"]: (input_of(build, facts) or build).get(ARGUMENT_PARTS[part]) for build in facts}
    known = {name: given for name, given in found.items() if given is not None}
    if not known:
        return None
    every = list(dict.fromkeys(argument for given in known.values() for argument in given))
    shared = [argument for argument in every if all(argument in given for given in known.values())]
    rows = [
        table_row(Cell(argument, is_code=True), *("●" if argument in given else "·" for given in known.values()))
        for argument in every
        if argument not in shared
    ]
    without = ", ".join(name for name, given in found.items() if given is None)
    marks = Table((*word_heads("argument"), *map(Head, known)), tuple(rows), style="marks")
    return Arguments(part, shlex.join(shared), marks, without)


def configure_commands(facts: list[Facts]) -> list[tuple[str, str]]:
    """Return (names of builds, their configure command), once per command."""
    by_command: dict[str, list[str]] = {}
    for build in facts:
        name = f"{build['build']} of {build['server']}"
        by_command.setdefault(shlex.join(build.get("configure_command") or []), []).append(name)
    return [(", ".join(names), command) for command, names in by_command.items() if command]


def build_blocks(study: ResolvedStudy, facts: list[Facts]) -> list[PageBlock]:
    """Return the builds of each server side by side, and their configure commands."""
    servers = by_server(study, facts)
    blocks = [block for server in servers for block in _server_blocks(server, len(servers) > 1)]
    if commands := configure_commands(facts):
        blocks.append(Fold("Configure commands", [Verbatim(command, names) for names, command in commands]))
    return blocks if servers else [Prose("No build of this study was made here."), *blocks]


def _server_blocks(server: "ServerBuilds", is_named: bool) -> Iterator[PageBlock]:
    if is_named:
        yield Heading(server.server)
    yield server.measured
    if server.behind:
        summary = f"Their stages, and builds that no variant uses: {len(server.behind.heads) - 1}"
        yield Fold(summary, (server.behind,))
    for each in server.arguments:
        label = f"{each.part} arguments in all builds{f' of {server.server}' if is_named else ''}"
        yield Verbatim(each.shared or "none", f"{label} (unknown: {each.without})" if each.without else label)
        if each.marks:
            yield Fold(f"{each.part} arguments in some builds only: {len(each.marks.rows)}", (each.marks,))


def cost_section(study: ResolvedStudy, cells: pd.DataFrame, facts: list[Facts], profiles: list[Facts],
                 datasets: list[Facts]) -> Section | None:  # fmt: skip
    """Return the time and the bytes that builds, profiles and datasets took; None where none was made."""
    if not (rows := cost_rows(facts, profiles, datasets)):
        return None
    notes = (*instrumentation_sentences(study, cells, profiles), *layout_sentences(facts))
    blocks = (Prose(COST_TEXT), grid(COST_HEAD, rows, 2), *map(Prose, notes))
    return Section("cost", "What it cost", blocks, nav="What it cost", is_folded=True)


COST_TEXT = (
    "Times are elapsed times, which depend on other load on the machine. Builds, profiles and datasets are made once "
    "and shared by all studies."
)
UNKNOWN_TEXT = "unknown"
MADE = {
    "plain": "compiled without a profile", "optimised": "compiled with a profile",
    "instrumented": "instrumented by the compiler, to be trained", "prebuilt": "made elsewhere",
    "published": "compiled with a profile by the published recipe",
    "relocatable": "linked so that BOLT can move its code",
    "published_instrumented": "instrumented by the published recipe, to be trained",
    "bolt_instrumented": "instrumented by BOLT, to be trained",
    "bolted": "its code moved by BOLT with a profile of its own",
}  # fmt: skip


def _value(name: str) -> Callable[[Facts], Any]:
    return lambda build: build.get(name)


def _step_s(name: str) -> Callable[[Facts], float | None]:
    return lambda build: part(build, "steps_s").get(name)


# Label -> the function that takes a value from the facts of a build, and the one that writes it.
EFFORT: dict[str, tuple[Callable[[Facts], Any], Callable[[Any], str]]] = {
    "units compiled": (_value("units_compiled"), number), "configure": (_step_s("configure"), duration),
    "compile": (_step_s("compile"), duration), "install": (_step_s("install"), duration),
    "in all": (_value("wall_s"), duration), "CPU time": (_value("cpu_s"), duration),
    "threads": (_value("threads"), number), "largest process, MiB": (_value("peak_rss_mib"), count),
    "install tree": (_value("install_bytes"), size), "build-id": (_value("build_id"), short),
    ".text SHA-256": (_value("text_sha256"), short), "SHA-256": (_value("sha256"), short),
    "source tree SHA-256": (_value("source_sha256"), short),
}  # fmt: skip
SIZES = {"text_bytes": ".text", "file_bytes": "server file"}


@dataclass(frozen=True)
class ServerBuilds:
    """The builds of one server: those that variants use, their stages and unused ones, and the arguments of all."""

    server: str
    measured: Table
    behind: Table | None
    arguments: tuple[Arguments, ...]


def by_server(study: ResolvedStudy, facts: list[Facts]) -> list[ServerBuilds]:
    """Return the builds by server in the study's order, with those that variants use before the others."""
    used = [(arm.server, arm.build) for name, arm in study.variants.items() if name not in CONTROLS]
    rank = {pair: place for place, pair in reversed(list(enumerate(used)))}
    ordered = sorted(facts, key=lambda build: rank.get((build["server"], build["build"]), len(rank)))
    servers = dict.fromkeys(build["server"] for build in ordered)
    return [_of_server(study, [build for build in ordered if build["server"] == name], set(rank)) for name in servers]


def _of_server(study: ResolvedStudy, facts: list[Facts], used: set[tuple[str, str]]) -> ServerBuilds:
    measured = [build for build in facts if (build["server"], build["build"]) in used]
    rest = [build for build in facts if build not in measured]
    tables = [_sided(study, some, facts) for some in (measured or rest, rest if measured else [])]
    return ServerBuilds(facts[0]["server"], tables[0], tables[1] if tables[1].heads[1:] else None, arguments(facts))


def _sided(study: ResolvedStudy, shown: list[Facts], facts: list[Facts]) -> Table:
    columns = [_properties(study, build, facts) for build in shown]
    first = _properties(study, facts[0], facts)
    labels = dict.fromkeys(label for column in [first, *columns] for label in column)
    rows = [(label, tuple(_marked(column.get(label), first.get(label)) for column in columns)) for label in labels]
    rows += [(label, tuple(_sized(build, key, facts[0]) for build in shown)) for key, label in SIZES.items()]
    effort = {label: [_written(of(build), write) for build in shown] for label, (of, write) in EFFORT.items()}
    rows += [(label, tuple(map(Cell, texts))) for label, texts in effort.items()]
    filled = [table_row(label, *texts) for label, texts in rows if any(field.text != NOTHING for field in texts)]
    heads = (Head(""), *word_heads(*(build["build"] for build in shown)))
    return Table(heads, tuple(filled), style="sided builds")


def _written(value: Any, write: Callable[[Any], str]) -> str:
    return NOTHING if missing(value) else write(value)


def _marked(text: str | None, first: str | None) -> Cell:
    return Cell(text or NOTHING, (), "same" if text == first else "differs")


def _sized(build: Facts, key: str, first: Facts) -> Cell:
    """Return a size, with its difference to that of the first build; BOLT moves a part of the code out of .text."""
    ours, base = build.get(key), first.get(key)
    if key == "text_bytes" and build.get("stage") == "bolted" and not missing(ours):
        return Cell(size(ours), ("without .text.cold",))
    if missing(ours) or missing(base) or build is first or not base:
        return Cell(size(ours))
    change = f"{(ours / base - 1) * 100:+.1f}{NARROW}%".replace("-", "\u2212")
    return Cell(size(ours), (change,) if ours != base else ())


def _properties(study: ResolvedStudy, build: Facts, facts: list[Facts]) -> dict[str, str]:
    """Return declared properties and those read from the binary, by label; BOLT's input gives those of compiling."""
    declared = study.builds.get(build["build"], ResolvedBuild())
    made, compiled = build.get("stage"), input_of(build, facts) or build
    properties = {
        "made": MADE.get(made, UNKNOWN_TEXT if made is None else str(made)),
        "release": str(build.get("release") or UNKNOWN_TEXT),
        "compiler": _tool(compiled),
        "link-time optimisation": _lto(compiled),
        "training of its profile": str(_training_text(compiled, declared) or "none"),
    }
    if build.get("bolt"):
        properties |= {"BOLT": _tool(build), "training of BOLT": str(part(build, "bolt").get("training") or "none")}
    for kind in ("common", "profile", "lto", "link"):
        flags = part(compiled, "flags").get(kind)
        unknown = UNKNOWN_TEXT if compiled.get("flags") is None else NOTHING
        properties[f"flags, {kind}"] = unknown if flags is None else "\n".join(map(str, flags)) or "none"
    return properties | {
        f"binary: {key.replace('_', ' ')}": _facts_text(value) for key, value in (build.get("told") or {}).items()
    }


def _tool(build: Facts) -> str:
    return " ".join(filter(None, (part(build, "toolchain").get(key) for key in ("name", "version")))) or UNKNOWN_TEXT


def _training_text(build: Facts, declared: ResolvedBuild) -> str | None:
    if build.get("stage") == "prebuilt":
        return UNKNOWN_TEXT
    used = declared.profile or part(build, "audit").get("training")
    given = any(flag.startswith("-fprofile-use") for flag in part(build, "flags").get("profile") or [])
    return used or ("yes, which one is unknown" if given and declared == ResolvedBuild() else None)


def _facts_text(value: Any) -> str:
    match value:
        case dict():
            return (
                "\n".join(f"{key.replace('_', ' ')}: {_facts_text(inner)}" for key, inner in value.items())
                or UNKNOWN_TEXT
            )
        case None | "":
            return UNKNOWN_TEXT
        case bool():
            return "yes" if value else "no"
    return str(value)


THIN = "-flto=thin"


def _lto(build: Facts) -> str:
    found = build.get("compile_arguments")
    if found is None:
        return UNKNOWN_TEXT
    how = [argument for argument in found if argument.startswith("-flto")]
    return ("thin" if THIN in how else "yes") if how else "no"


COST_HEAD = ("what", "how", "time", "CPU time", "largest process, MiB", ".text", "server file", "disk")
INSTRUMENTED = "instrumented"


def cost_rows(facts: list[Facts], profiles: list[Facts], datasets: list[Facts]) -> list[tuple[str, ...]]:
    """Return one row per build, training and dataset with the fields of COST_HEAD, and one for their sum."""
    builds, trained = sound_records(facts), sound_records(profiles)
    made = [*map(_build_cost, builds), *map(_training_cost, trained), *map(_dataset_cost, datasets)]
    if not made:
        return []
    time_s = _sum_known(*(build.get("wall_s") for build in builds), *(profile.get("wall_s") for profile in trained),
                  *(data.get("load_s") for data in datasets))  # fmt: skip
    cpu_s = _sum_known(*(build.get("cpu_s") for build in builds))
    disk = _sum_known(*(build.get("install_bytes") for build in builds), *(data.get("bytes") for data in datasets))
    return [*made, ("all of these", "", duration(time_s), duration(cpu_s), "", "", "", size(disk))]


def _sum_known(*values: float | None) -> float | None:
    known = [value for value in values if not missing(value)]
    return sum(known) if known else None


def _build_cost(build: Facts) -> tuple[str, ...]:
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


def _training_cost(profile: Facts) -> tuple[str, ...]:
    what = f"training {profile['training']} of {profile['server']}"
    how = f"runs {profile.get('trained') or INSTRUMENTED}"
    return (what, how, duration(profile.get("wall_s")), *[NOTHING] * 5)


def _dataset_cost(data: Facts) -> tuple[str, ...]:
    what = f"dataset {data['dataset']} of {data['server']}"
    how = "initialised; loaded in every run" if data.get("fresh") else "loaded once"
    return (what, how, duration(data.get("load_s")), *[NOTHING] * 4, size(data.get("bytes")))


def layout_sentences(facts: list[Facts]) -> list[str]:
    """Return what the sizes of builds made by BOLT do not show; nothing without such builds."""
    named = [build["build"] for build in sound_records(facts) if build.get("stage") == "bolted"]
    if not named:
        return []
    return [
        f"In {listing(named)}, .text is the code that BOLT laid out again; the code it moved away is in .text.cold. "
        "The original of both is in .bolt.org.text, which takes room in the file but not in caches."
    ]


def instrumentation_sentences(study: ResolvedStudy, cells: pd.DataFrame, profiles: list[Facts]) -> list[str]:
    """Return how fast each instrumented server was in training beside the reference, one sentence per profile.

    The reference's value is that of the same workload, server and client count. A training with other client counts
    cannot be compared, and the sentence says so.
    """
    reference = study.reference
    ours = cells[(cells["variant"] == reference) & (cells["metric"] == TPS.name)]
    values = {(row.workload, row.clients): row.value for row in ours.itertuples() if not missing(row.value)}
    same = [each for each in sound_records(profiles) if each["server"] == study.variants[reference].server]
    return [_instrumentation_sentence(profile, values, study) for profile in same if profile.get("runs")]


def _instrumentation_sentence(profile: Facts, values: dict[tuple[str, int], float], study: ResolvedStudy) -> str:
    name = profile.get("trained") or f"the server of training {profile['training']}"
    both = [(run, values.get((run["workload"], run["clients"]))) for run in profile["runs"] if run.get("tps")]
    speeds = [
        f"{100 * run['tps'] / value:.0f}{NARROW}% in {run['workload']} at {plural(run['clients'], 'client')}"
        for run, value in both
        if value
    ]
    if speeds:
        text = f"{name} in training gave, of the transactions per second of {study.reference}: {listing(speeds)}"
        return f"{text}. One run each, so without an interval."
    return f"{name} was trained with {_clients(profile['runs'])}, {_other(profile['runs'], study)}"


def _clients(runs: Iterable[Facts]) -> str:
    counts = sorted({run["clients"] for run in runs if not missing(run.get("clients"))})
    return f"{listing(list(map(str, counts)))} clients" if counts else "an unknown number of clients"


def _other(runs: Iterable[Facts], study: ResolvedStudy) -> str:
    same = [run["workload"] for run in runs if run["workload"] in study.workloads]
    if not same:
        return "on workloads that are not measured: how much slower it was is unknown."
    measured = listing(list(map(str, study.clients)))
    return f"the runs were measured with {measured}: how much slower it was cannot be derived from the two."
