"""Mistakes across keys of a config: values that contradict each other or name no file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.build.compilation.stages import LOADER, PREBUILT, split_flags
from scripts.build.sources.kinds import KINDS, SOLE_KINDS
from scripts.lib.host.cache import cache_path
from scripts.lib.host.cpus import parse_cpus
from scripts.lib.host.storage import TABLE_OPTION, compressed_page_options, nearest_folder, no_holes_text, punches_holes
from scripts.lib.json_record import file_sha256
from scripts.lib.vocabulary import AUTOMATIC, NEVER
from scripts.measure.loadgen import lua
from scripts.measure.loadgen.lua import outside_path, script_files
from scripts.measure.loadgen.sysbench import OWNED
from scripts.measure.sql import statement_files
from scripts.study.config.declared_builds import BuildDeclaration
from scripts.study.config.declared_hosts import CpuPlacement
from scripts.study.config.declared_loads import WorkloadDeclaration
from scripts.study.config.declared_servers import ServerDeclaration
from scripts.study.config.declared_variants import VariantDeclaration
from scripts.study.config.environment_mistakes import (
    client_environment_mistakes,
    client_host_mistakes,
    environment_mistakes,
)
from scripts.study.config.folders import folder_mistakes
from scripts.study.config.mistakes import Mistake, suggestion
from scripts.study.config.running_server_mistakes import running_server_mistakes
from scripts.study.config.server_options import ServerOptions
from scripts.study.config.sound import Sound
from scripts.study.config.yaml_lines import KeyPath


def diagnosis_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield workloads that cannot be diagnosed: not of this study, or without a window."""
    declared, names = sound.declared, list(sound.loads)
    if declared.diagnose is None:
        return
    for index, name in enumerate(declared.diagnose.workloads or ()):
        path = ("diagnose", "workloads", index)
        if name in declared.workloads and name not in names:
            yield Mistake(path, f"{name!r} is no workload of this study, expected one of {', '.join(names)}")
        elif name in declared.workloads and declared.workloads[name].sql:
            yield Mistake(path, f"{name!r} is timed SQL, which has no window to look into, expected one with a script")
    if sound.is_timed_sql_alone:
        yield Mistake(("diagnose",), "all workloads are timed SQL, which has no window to look into, expected another")


def outside_lua_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield scripts that cannot be read, or whose modules share a name and differ."""
    seen: dict[str, Path] = {}
    for where, script in sound.outside_scripts.items():
        if outside_path(script).exists() and not outside_path(script).is_file():
            yield Mistake(where, f"{script!r} is no file, expected the path of a Lua file")
            continue
        try:
            modules = script_files(outside_path(script))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            yield Mistake(where, f"{script!r} cannot be read ({reason}), expected the path of a Lua file")
            continue
        modules.pop(outside_path(script).name)
        for name, file in modules.items():
            other = seen.setdefault(name, file)
            if file_sha256(other) != file_sha256(file):
                text = f"{file} and {other} differ, and Lua distinguishes them by name only: rename one of them"
                yield Mistake(where, text)


def page_compression_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield tables with compressed pages whose file system cannot punch holes."""
    declared, variants = sound.declared, sound.declared.variants
    used = sorted({load.dataset for load in sound.loads.values()} & declared.datasets.keys())
    asking: dict[KeyPath, list[VariantDeclaration]] = {
        ("datasets", name): list(variants.values())
        for name in used
        if compressed_page_options({"options": declared.datasets[name].options})
    }
    asking |= {
        ("variants", name, "data"): [arm]
        for name, arm in variants.items()
        if arm.data and compressed_page_options({"options": arm.data.options})
    }
    for path, arms in asking.items():
        named = (declared.storage.get(arm.storage or "") for arm in arms)
        places = [Path("results"), cache_path(), *(Path(storage).expanduser() for storage in named if storage)]
        for folder in dict.fromkeys(map(nearest_folder, places)):
            if not _punches(folder):
                yield Mistake((*path, "options", TABLE_OPTION), no_holes_text(folder))


def _punches(folder: Path) -> bool:
    try:
        return punches_holes(folder)
    except OSError:
        return True  # a folder that cannot be written to is reported elsewhere


def sql_mistakes_of_workload(path: KeyPath, workload: WorkloadDeclaration, root: Path) -> Iterator[Mistake]:
    """Yield mistakes of one workload about timed SQL, its file included."""
    if not workload.sql:
        if "passes" in workload.model_fields_set:
            yield Mistake((*path, "passes"), f"{workload.passes!r}, expected none: only timed SQL has passes")
        return
    sysbench_keys = {"script": workload.script, "options": workload.options, "rows": workload.rows}
    for key in (key for key in sysbench_keys if key in workload.model_fields_set):
        yield Mistake(
            (*path, key), f"{sysbench_keys[key]!r} beside `sql`, expected a script of sysbench's or timed SQL"
        )
    file = statement_files.timed_sql_path(root, workload.sql)
    if not file.is_file():
        names = [file.name for file in (root / "workloads").glob("*.sql")]
        where = "is no file of workloads/" if file.is_relative_to(root) else "is no file"
        yield Mistake((*path, "sql"), f"{workload.sql!r} {where}{suggestion(workload.sql, names)}")
        return
    try:
        statement_files.read_timed(file)
    except ValueError as error:
        yield Mistake((*path, "sql"), str(error))


def sql_mistakes_of_study(sound: Sound) -> Iterator[Mistake]:
    """Yield keys of a study that contradict timed SQL."""
    declared = sound.declared
    used = {name: load for name, load in sound.loads.items() if load.sql}
    if used and declared.clients != [1]:
        text = f"{declared.clients}, expected [1]: {next(iter(used))!r} is timed SQL, sent by one connection"
        yield Mistake(("clients",), text)
    for name, load in used.items():
        if load.fill:
            text = "true, expected none: the first pass of timed SQL is cold, on a server just started"
            yield Mistake(("workloads", name, "fill"), text)
        if load.dataset in declared.datasets and declared.datasets[load.dataset].fresh:
            text = f"{load.dataset!r} is loaded anew before every run, expected a dataset with a snapshot"
            yield Mistake(("workloads", name, "dataset"), f"{text}: the first pass is cold, on a server just started")
    for training, entry in declared.trainings.items():
        for index, name in enumerate(entry.workloads):
            if name in declared.workloads and declared.workloads[name].sql:
                text = f"{name!r} is timed SQL, expected a load of sysbench's"
                yield Mistake(("trainings", training, "workloads", index), text)


SYSBENCH_SCRIPTS = (
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "select_random_points",
    "select_random_ranges",
)
# Key of a build -> flags it stands for; the key also makes the stages and the audit.
KEYED_FLAGS = {
    "lto": re.compile(r"-flto(=.*)?"),
    "profile": re.compile(r"-fprofile-(use|generate|instr|arcs).*|-fauto-profile.*|--coverage"),
}


@dataclass(frozen=True)
class Sense:
    """The parts of a study without mistakes in themselves, and the checkout `root`."""

    sound: Sound
    root: Path

    def mistakes(self) -> Iterator[Mistake]:
        """Yield every contradiction between keys, and every reference to a file that does not exist."""
        yield from self._of_entries()
        yield from _rows(self.sound)
        yield from sql_mistakes_of_study(self.sound)
        yield from diagnosis_mistakes(self.sound)
        yield from outside_lua_mistakes(self.sound)
        yield from folder_mistakes(self.sound)
        yield from page_compression_mistakes(self.sound)
        yield from environment_mistakes(self.sound)
        yield from client_environment_mistakes(self.sound)
        yield from client_host_mistakes(self.sound)
        yield from running_server_mistakes(self.sound)
        yield from _of_measuring(self.sound)
        yield from _placement(self.sound)
        yield from self._published()

    def _of_entries(self) -> Iterator[Mistake]:
        declared = self.sound.declared
        for name, variant in declared.variants.items():
            yield from self._variant(("variants", name), variant)
        for name, server in declared.servers.items():
            yield from _sources(("servers", name, "sources"), [source.kind for source in server.sources])
        for name, build in declared.builds.items():
            yield from self._tools(("builds", name), build)
            yield from _flags(("builds", name), build)
        for name, workload in declared.workloads.items():
            yield from sql_mistakes_of_workload(("workloads", name), workload, self.root)
            if not workload.sql:
                yield from self._script(("workloads", name), workload.script or "", workload.options)
        for name, dataset in declared.datasets.items():
            yield from self._script(("datasets", name), dataset.script, dataset.options)
        if LOADER in declared.builds:
            yield from _loader(declared.builds[LOADER])

    def _variant(self, path: KeyPath, variant: VariantDeclaration) -> Iterator[Mistake]:
        declared = self.sound.declared
        if server := declared.servers.get(variant.server):
            if server.is_prebuilt != (variant.build == PREBUILT):
                only = f"{PREBUILT!r}, the only one a ready-made server has"
                expected = only if server.is_prebuilt else "a way of compiling it"
                text = f"{variant.build!r} of {variant.server!r}, expected {expected}"
                yield Mistake((*path, "build"), text)
            yield from self._options(path, server, variant.options)
            build = declared.builds.get(variant.build)
            for training in filter(None, {build.profile, build.bolt} if build else ()):
                if entry := declared.trainings.get(training):
                    yield from self._options(("trainings", training), server, entry.options or {})
        if variant.data:
            yield from self._script((*path, "data"), variant.data.script, variant.data.options)

    def _options(
        self, path: KeyPath, server: ServerDeclaration, options: Mapping[str, str | float | bool]
    ) -> Iterator[Mistake]:
        """Yield mistakes in the options that a server gets, those of the study and its own at a key path."""
        allowed = ServerOptions(server, has_client=self.sound.declared.client is not None)
        yield from allowed.mistakes(("options",), self.sound.declared.options)
        yield from allowed.mistakes((*path, "options"), options)

    def _tools(self, path: KeyPath, build: BuildDeclaration) -> Iterator[Mistake]:
        """Yield toolchains of the wrong kind."""
        toolchains = self.sound.declared.toolchains
        compiler, tool = toolchains.get(build.toolchain), toolchains.get(build.bolt_toolchain)
        if compiler and compiler.kind == "bolt":
            text = f"{build.toolchain!r} is no compiler; BOLT's is `bolt_toolchain`"
            yield Mistake((*path, "toolchain"), text)
        if build.bolt and tool and tool.kind != "bolt":
            text = f"{build.bolt_toolchain!r} is of kind gcc or clang, expected bolt"
            yield Mistake((*path, "bolt_toolchain"), text)
        if build.published and not ((compiler is None or compiler.kind == "gcc") and build.profile):
            text = "the published recipe is a profile of gcc's: give `profile`, and a gcc"
            yield Mistake((*path, "published"), text)

    def _script(self, path: KeyPath, script: str, options: Mapping[str, str | float | bool]) -> Iterator[Mistake]:
        """Yield a script that does not exist, and options that have a key of their own in a study."""
        named = script not in SYSBENCH_SCRIPTS and not lua.is_outside(script)
        if script == "bulk_insert":
            text = f"{script!r} begins at row 1 in every call, the one after the warm-up too, expected 'bulk_rows.lua'"
            yield Mistake((*path, "script"), text)
        elif named and not (self.root / "workloads" / script).is_file():
            scripts = [file.name for file in (self.root / "workloads").glob("*.lua")]
            text = (
                f"{script!r} is neither sysbench's nor in workloads/{suggestion(script, [*SYSBENCH_SCRIPTS, *scripts])}"
            )
            yield Mistake((*path, "script"), text)
        for option, value in options.items():
            if owner := OWNED.get(option.replace("_", "-")):
                yield Mistake((*path, "options", option), f"{value!r} cannot be set here, it comes from {owner}")

    def _published(self) -> Iterator[Mistake]:
        file = self.sound.declared.published
        if file and not (self.root / file).is_file():
            known_files = [
                f"studies/published/{csv.name}" for csv in (self.root / "studies" / "published").glob("*.csv")
            ]
            yield Mistake(("published",), f"there is no file {file!r}{suggestion(file, known_files)}")


def _sources(path: KeyPath, kinds: list[str]) -> Iterator[Mistake]:
    """Yield sources that would never be used, or that mix ready-made servers with sources."""
    for index, kind in enumerate(kinds):
        if kind in SOLE_KINDS and len(kinds) > 1:
            yield Mistake((*path, index), f"{kind!r} beside other sources, expected it alone: none can stand in for it")
        elif KINDS[kind].prebuilt != KINDS[kinds[0]].prebuilt:
            text = f"{kind!r} behind {kinds[0]!r}, expected sources to compile or ready-made ones, not both"
            yield Mistake((*path, index), text)


def _flags(path: KeyPath, build: BuildDeclaration) -> Iterator[Mistake]:
    for flag in split_flags(build.flags or []):
        for key, pattern in KEYED_FLAGS.items():
            if pattern.fullmatch(flag):
                yield Mistake((*path, "flags"), f"{flag!r} has a key of its own, expected under `{key}`")


def _loader(build: BuildDeclaration) -> Iterator[Mistake]:
    for key, value in (("profile", build.profile), ("bolt", build.bolt), ("may_fail", build.may_fail)):
        if value:
            text = f"{value!r}, expected none: this build loads the datasets, and trainings need them"
            yield Mistake(("builds", LOADER, key), text)


def _rows(sound: Sound) -> Iterator[Mistake]:
    """Yield loads that draw their keys from more rows than a table of theirs has."""
    declared = sound.declared
    laid = [variant.data for variant in declared.variants.values()]
    for name, load in declared.workloads.items():
        if load.rows is None or load.sql:
            continue
        datasets = [declared.datasets.get(load.dataset), *laid]
        least = min((data.rows for data in datasets if data and data.rows is not None), default=0)
        if load.rows > least:
            of = f"dataset {load.dataset!r}"
            limit = f"at most the {least} rows of {of}" if least else f"none: {of} declares no rows"
            yield Mistake(("workloads", name, "rows"), f"{load.rows}, expected {limit}")


def _of_measuring(sound: Sound) -> Iterator[Mistake]:
    declared = sound.declared
    if declared.together == 2:
        text = "2, expected 1 or at least 3: the reference, the reference a second time, and a variant"
        yield Mistake(("together",), text)
    if declared.restart == NEVER:
        yield from _restart(sound)
    if declared.expect and declared.reference in declared.expect:
        text = f"{declared.reference!r} is the reference, expected a variant that is compared with it"
        yield Mistake(("expect", declared.reference), text)
    if declared.at_most and declared.precision is None:
        yield Mistake(("at_most",), f"{declared.at_most!r}, expected `precision` beside it")


def _restart(sound: Sound) -> Iterator[Mistake]:
    declared = sound.declared
    alone = "with `restart: never` one server at a time goes through all client counts"
    values = {"slice_s": declared.slice_s, "rounds": declared.rounds, "together": declared.together}
    for key in (key for key in values if key in declared.model_fields_set and values[key] not in (AUTOMATIC, 1)):
        yield Mistake((key,), f"{values[key]}, expected none: {alone}")
    for name, load in sound.loads.items():
        if load.sql:
            text = "timed SQL needs a server just started, expected a load of sysbench beside `restart: never`"
            yield Mistake(("workloads", name), text)


def _placement(sound: Sound) -> Iterator[Mistake]:
    placement = sound.declared.placement
    if not isinstance(placement, CpuPlacement):
        return
    places: dict[str, set[str]] = {}
    for key, value in (("server", placement.server), ("client", placement.client)):
        try:
            places[key] = _places(str(value).replace(" ", ""))
        except ValueError as error:
            yield Mistake(("placement", key), str(error).removeprefix(": "))
    common = set.intersection(*places.values()) if len(places) > 1 and sound.declared.client is None else set()
    if common:
        text = f"server and client both have {', '.join(sorted(common))}, expected disjoint CPUs"
        yield Mistake(("placement",), text)


def _places(value: str) -> set[str]:
    return set(value.split(",")) if value.startswith("numa") else {f"CPU {cpu}" for cpu in parse_cpus("", value)}
