"""The builds of a study: properties, arguments, sizes, and the cost of builds, trainings and datasets."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from scripts.lib.build_records import BuildFacts, DatasetFacts, TrainedProfile, TrainingRun, sound
from scripts.lib.json_record import Json
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


@dataclass(frozen=True)
class Arguments:
    """What compiler or linker got in all builds, and what in some builds only; `without` are builds of unknown ones."""

    part: str
    shared: str
    marks: Table
    without: str


def input_of(build: BuildFacts, facts: Iterable[BuildFacts]) -> BuildFacts | None:
    """Return the facts of the build that BOLT made this one from; None for any other build, or when it is not there."""
    pair = (build.server, build.bolt.input_build)
    return next((other for other in facts if other.pair == pair), None)


def arguments(facts: list[BuildFacts]) -> tuple[Arguments, ...]:
    """Return what compiler and linker were given in the builds of one server, as sets side by side."""
    compiled = {build.build: input_of(build, facts) or build for build in facts}
    parts = {
        "compile": {name: build.compile_arguments for name, build in compiled.items()},
        "link": {name: build.link_arguments for name, build in compiled.items()},
    }
    return tuple(shown for part, of_builds in parts.items() if (shown := _side_by_side(part, of_builds)))


def _side_by_side(part: str, of_builds: Mapping[str, list[str] | None]) -> Arguments | None:
    lists = {name: words for name, words in of_builds.items() if words is not None}
    if not lists:
        return None
    union = list(dict.fromkeys(argument for words in lists.values() for argument in words))
    shared = [argument for argument in union if all(argument in words for words in lists.values())]
    rows = [
        table_row(Cell(argument, is_code=True), *("●" if argument in words else "·" for words in lists.values()))
        for argument in union
        if argument not in shared
    ]
    without = ", ".join(name for name, words in of_builds.items() if words is None)
    marks = Table((*word_heads("argument"), *map(Head, lists)), tuple(rows), style="marks")
    return Arguments(part, shlex.join(shared), marks, without)


def configure_commands(facts: list[BuildFacts]) -> list[tuple[str, str]]:
    """Return (names of builds, their configure command), once per command."""
    by_command: dict[str, list[str]] = {}
    for build in facts:
        by_command.setdefault(shlex.join(build.configure_command or []), []).append(build.title)
    return [(", ".join(names), command) for command, names in by_command.items() if command]


def build_blocks(study: ResolvedStudy, facts: list[BuildFacts]) -> list[PageBlock]:
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
    for words in server.arguments:
        label = f"{words.part} arguments in all builds{f' of {server.server}' if is_named else ''}"
        yield Verbatim(words.shared or "none", f"{label} (unknown: {words.without})" if words.without else label)
        if words.marks:
            yield Fold(f"{words.part} arguments in some builds only: {len(words.marks.rows)}", (words.marks,))


def cost_section(study: ResolvedStudy, cells: pd.DataFrame, facts: list[BuildFacts], profiles: list[TrainedProfile],
                 datasets: list[DatasetFacts]) -> Section | None:  # fmt: skip
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


def _effort(build: BuildFacts) -> dict[str, str]:
    """Return what a build took, and by what it is told from others, by label."""
    steps_s = build.steps_s or {}
    return {
        "units compiled": number(build.units_compiled), "configure": duration(steps_s.get("configure")),
        "compile": duration(steps_s.get("compile")), "install": duration(steps_s.get("install")),
        "in all": duration(build.wall_s), "CPU time": duration(build.cpu_s), "threads": number(build.threads),
        "largest process, MiB": count(build.peak_rss_mib), "install tree": size(build.install_bytes),
        "build-id": short(build.build_id), ".text SHA-256": short(build.text_sha256),
        "SHA-256": short(build.sha256), "source tree SHA-256": short(build.source_sha256),
    }  # fmt: skip


@dataclass(frozen=True)
class ServerBuilds:
    """The builds of one server: those that variants use, their stages and unused ones, and the arguments of all."""

    server: str
    measured: Table
    behind: Table | None
    arguments: tuple[Arguments, ...]


def by_server(study: ResolvedStudy, facts: list[BuildFacts]) -> list[ServerBuilds]:
    """Return the builds by server in the study's order, with those that variants use before the others."""
    used = [(arm.server, arm.build) for name, arm in study.variants.items() if name not in CONTROLS]
    rank = {pair: number for number, pair in reversed(list(enumerate(used)))}
    ordered = sorted(facts, key=lambda build: rank.get(build.pair, len(rank)))
    servers = dict.fromkeys(build.server for build in ordered)
    return [_of_server(study, [build for build in ordered if build.server == name], set(rank)) for name in servers]


def _of_server(study: ResolvedStudy, facts: list[BuildFacts], used: set[tuple[str, str]]) -> ServerBuilds:
    measured = [build for build in facts if build.pair in used]
    rest = [build for build in facts if build not in measured]
    tables = [_sided(study, some, facts) for some in (measured or rest, rest if measured else [])]
    return ServerBuilds(facts[0].server, tables[0], tables[1] if tables[1].heads[1:] else None, arguments(facts))


def _sided(study: ResolvedStudy, shown: list[BuildFacts], facts: list[BuildFacts]) -> Table:
    columns, efforts = [_properties(study, build, facts) for build in shown], list(map(_effort, shown))
    first = _properties(study, facts[0], facts)
    labels = dict.fromkeys(label for column in [first, *columns] for label in column)
    rows = [(label, tuple(_marked(column.get(label), first.get(label)) for column in columns)) for label in labels]
    rows.append((".text", tuple(_code_size(build, facts[0]) for build in shown)))
    rows.append(("server file", tuple(_sized(build.file_bytes, facts[0].file_bytes) for build in shown)))
    rows += [(label, tuple(Cell(effort[label]) for effort in efforts)) for label in _effort(facts[0])]
    filled = [table_row(label, *texts) for label, texts in rows if any(field.text != NOTHING for field in texts)]
    heads = (Head(""), *word_heads(*(build.build for build in shown)))
    return Table(heads, tuple(filled), style="sided builds")


def _marked(text: str | None, first: str | None) -> Cell:
    return Cell(text or NOTHING, (), "same" if text == first else "differs")


def _code_size(build: BuildFacts, first: BuildFacts) -> Cell:
    """Return the size of the machine code; BOLT moves a part of the code out of .text."""
    if build.stage == "bolted" and build.text_bytes is not None:
        return Cell(size(build.text_bytes), ("without .text.cold",))
    return _sized(build.text_bytes, first.text_bytes)


def _sized(of_build: int | None, of_first: int | None) -> Cell:
    """Return a size, with its difference to that of the first build."""
    if of_build is None or not of_first or of_build == of_first:
        return Cell(size(of_build))
    change = f"{(of_build / of_first - 1) * 100:+.1f}{NARROW}%".replace("-", "\u2212")
    return Cell(size(of_build), (change,))


def _properties(study: ResolvedStudy, build: BuildFacts, facts: list[BuildFacts]) -> dict[str, str]:
    """Return declared properties and those read from the binary, by label; BOLT's input gives those of compiling."""
    declared, compiled = study.builds.get(build.build, ResolvedBuild()), input_of(build, facts) or build
    properties = {
        "made": UNKNOWN_TEXT if build.stage is None else MADE.get(build.stage, build.stage),
        "release": build.release or UNKNOWN_TEXT,
        "compiler": _tool(compiled),
        "link-time optimisation": _lto(compiled),
        "training of its profile": _training_text(compiled, declared) or "none",
    }
    if build.bolt:
        properties |= {"BOLT": _tool(build), "training of BOLT": build.bolt.training or "none"}
    for kind in ("common", "profile", "lto", "link"):
        flags = compiled.flags.values()[kind]
        unknown = NOTHING if compiled.flags else UNKNOWN_TEXT
        properties[f"flags, {kind}"] = unknown if flags is None else "\n".join(map(str, flags)) or "none"
    told = {f"binary: {key.replace('_', ' ')}": _facts_text(value) for key, value in (build.told or {}).items()}
    return properties | told


def _tool(build: BuildFacts) -> str:
    return " ".join(filter(None, (build.toolchain.name, build.toolchain.version))) or UNKNOWN_TEXT


def _training_text(build: BuildFacts, declared: ResolvedBuild) -> str | None:
    if build.stage == "prebuilt":
        return UNKNOWN_TEXT
    used = declared.profile
    uses = any(flag.startswith("-fprofile-use") for flag in build.flags.profile or [])
    return used or ("yes, which one is unknown" if uses and declared == ResolvedBuild() else None)


def _facts_text(value: Json) -> str:
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


def _lto(build: BuildFacts) -> str:
    if build.compile_arguments is None:
        return UNKNOWN_TEXT
    how = [argument for argument in build.compile_arguments if argument.startswith("-flto")]
    return ("thin" if THIN in how else "yes") if how else "no"


COST_HEAD = ("what", "how", "time", "CPU time", "largest process, MiB", ".text", "server file", "disk")
INSTRUMENTED = "instrumented"


def cost_rows(
    facts: list[BuildFacts], profiles: list[TrainedProfile], datasets: list[DatasetFacts]
) -> list[tuple[str, ...]]:
    """Return one row per build, training and dataset with the fields of COST_HEAD, and one for their sum."""
    builds, trained = sound(facts), sound(profiles)
    rows = [*map(_build_cost, builds), *map(_training_cost, trained), *map(_dataset_cost, datasets)]
    if not rows:
        return []
    time_s = _sum_known(*(build.wall_s for build in builds), *(profile.wall_s for profile in trained),
                  *(data.load_s for data in datasets))  # fmt: skip
    cpu_s = _sum_known(*(build.cpu_s for build in builds))
    disk = _sum_known(*(build.install_bytes for build in builds), *(data.bytes for data in datasets))
    return [*rows, ("all of these", "", duration(time_s), duration(cpu_s), "", "", "", size(disk))]


def _sum_known(*values: float | None) -> float | None:
    counted = [value for value in values if not missing(value)]
    return sum(counted) if counted else None


def _build_cost(build: BuildFacts) -> tuple[str, ...]:
    return (
        f"build {build.title}",
        MADE.get(build.stage or "", NOTHING),
        duration(build.wall_s),
        duration(build.cpu_s),
        count(build.peak_rss_mib),
        size(build.text_bytes),
        size(build.file_bytes),
        size(build.install_bytes),
    )


def _training_cost(profile: TrainedProfile) -> tuple[str, ...]:
    what = f"training {profile.training} of {profile.server}"
    return (what, f"runs {profile.trained or INSTRUMENTED}", duration(profile.wall_s), *[NOTHING] * 5)


def _dataset_cost(data: DatasetFacts) -> tuple[str, ...]:
    what = f"dataset {data.dataset} of {data.server}"
    how = "initialised; loaded in every run" if data.fresh else "loaded once"
    return (what, how, duration(data.load_s), *[NOTHING] * 4, size(data.bytes))


def layout_sentences(facts: list[BuildFacts]) -> list[str]:
    """Return what the sizes of builds made by BOLT do not show; nothing without such builds."""
    named = [build.build for build in sound(facts) if build.stage == "bolted"]
    if not named:
        return []
    return [
        f"In {listing(named)}, .text is the code that BOLT laid out again; the code it moved away is in .text.cold. "
        "The original of both is in .bolt.org.text, which takes room in the file but not in caches."
    ]


def instrumentation_sentences(study: ResolvedStudy, cells: pd.DataFrame, profiles: list[TrainedProfile]) -> list[str]:
    """Return how fast each instrumented server was in training beside the reference, one sentence per profile.

    The reference's value is that of the same workload, server and client count. A training with other client counts
    cannot be compared, and the sentence says so.
    """
    reference = study.reference
    of_reference = cells[(cells["variant"] == reference) & (cells["metric"] == TPS.name)]
    values = {(row.workload, row.clients): row.value for row in of_reference.itertuples() if not missing(row.value)}
    server = study.variants[reference].server
    trained = [profile for profile in sound(profiles) if profile.server == server and profile.runs]
    return [_instrumentation_sentence(profile, profile.runs or [], values, study) for profile in trained]


def _instrumentation_sentence(
    profile: TrainedProfile, runs: Sequence[TrainingRun], values: dict[tuple[str, int], float], study: ResolvedStudy
) -> str:
    name = profile.trained or f"the server of training {profile.training}"
    speeds = [
        f"{100 * run.tps / value:.0f}{NARROW}% in {run.workload} at {plural(run.clients, 'client')}"
        for run in runs
        if run.tps and run.clients is not None and (value := values.get((run.workload, run.clients)))
    ]
    if speeds:
        text = f"{name} in training gave, of the transactions per second of {study.reference}: {listing(speeds)}"
        return f"{text}. One run each, so without an interval."
    return f"{name} was trained with {_clients(runs)}, {_other(runs, study)}"


def _clients(runs: Iterable[TrainingRun]) -> str:
    counts = sorted({run.clients for run in runs if run.clients is not None})
    return f"{listing(list(map(str, counts)))} clients" if counts else "an unknown number of clients"


def _other(runs: Iterable[TrainingRun], study: ResolvedStudy) -> str:
    same = [run.workload for run in runs if run.workload in study.workloads]
    if not same:
        return "on workloads that are not measured: how much slower it was is unknown."
    measured = listing(list(map(str, study.clients)))
    return f"the runs were measured with {measured}: how much slower it was cannot be derived from the two."
