"""Mistakes across keys of a config: values that contradict each other or name no file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.build.compilation.stages import DEFAULT_BOLT, DEFAULT_TOOLCHAIN, LOADER, PREBUILT, split_flags
from scripts.build.sources.kinds import SOLE_KINDS, kind_of, prebuilt
from scripts.lib.host.cache import cache_path
from scripts.lib.host.cpus import parse_cpus
from scripts.lib.host.storage import TABLE_OPTION, compressed_page_options, nearest_folder, no_holes_text, punches_holes
from scripts.lib.json_record import file_sha256
from scripts.lib.vocabulary import AUTOMATIC, NEVER
from scripts.measure.loadgen import lua
from scripts.measure.loadgen.lua import declared_scripts, outside_path, script_files
from scripts.measure.loadgen.run_sysbench import FILL_SCRIPT
from scripts.measure.loadgen.sysbench import OWNED
from scripts.measure.sql import statement_files
from scripts.study.config.client import client_environment_mistakes, client_host_mistakes
from scripts.study.config.environment_mistakes import environment_mistakes
from scripts.study.config.folders import folder_mistakes
from scripts.study.config.mistakes import Mistake, suggestion
from scripts.study.config.running_server_mistakes import running_server_mistakes
from scripts.study.config.schema import Schema
from scripts.study.config.server_options import ServerOptions

DIAGNOSED_BY = ("variants", "workloads")


def diagnosed_names(config: dict[str, Any]) -> Iterator[tuple[tuple, Any, str]]:
    """Yield (key path, name, kind of the thing named) of every name under the key."""
    own = config.get("diagnose")
    for key in DIAGNOSED_BY if isinstance(own, dict) else ():
        several = own.get(key)
        for place, name in enumerate(several if isinstance(several, list) else ()):
            yield ("diagnose", key, place), name, key


def diagnosis_mistakes(config: dict[str, Any], workloads: dict[str, dict[str, Any]]) -> Iterator[Mistake]:
    """Yield workloads that cannot be diagnosed: not of this study, or without a window; `workloads` are complete."""
    if "diagnose" not in config:
        return
    ours = config.get("workloads", {})
    for place, name in enumerate(config["diagnose"].get("workloads", ())):
        path = ("diagnose", "workloads", place)
        if name in workloads and name not in ours:
            yield Mistake(path, f"{name!r} is no workload of this study, expected one of {', '.join(ours)}")
        elif "sql" in workloads.get(name, {}):
            yield Mistake(path, f"{name!r} is timed SQL, which has no window to look into, expected one with a script")
    if ours and all("sql" in workloads.get(name, {}) for name in ours):
        yield Mistake(("diagnose",), "all workloads are timed SQL, which has no window to look into, expected another")


def outside_lua_mistakes(config: dict[str, Any], entries: dict[str, dict[str, dict]]) -> Iterator[tuple[tuple, str]]:
    """Yield (key path, text) of scripts that cannot be read, or whose modules share a name and differ."""
    seen: dict[str, Path] = {}
    for where, script in declared_scripts(config, entries):
        if outside_path(script).exists() and not outside_path(script).is_file():
            yield where, f"{script!r} is no file, expected the path of a Lua file"
            continue
        try:
            modules = script_files(outside_path(script))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            yield where, f"{script!r} cannot be read ({reason}), expected the path of a Lua file"
            continue
        modules.pop(outside_path(script).name)
        for name, file in modules.items():
            other = seen.setdefault(name, file)
            if file_sha256(other) != file_sha256(file):
                yield where, f"{file} and {other} differ, and Lua distinguishes them by name only: rename one of them"


def page_compression_mistakes(config: Mapping[str, Any], entries: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield tables with compressed pages whose file system cannot punch holes."""
    variants = config.get("variants", {})
    workloads = (entries["workloads"].get(name) or {} for name in config.get("workloads", {}))
    used = sorted({str(workload.get("dataset")) for workload in workloads})
    asking = {
        ("datasets", name): variants.values()
        for name in used
        if compressed_page_options(entries["datasets"].get(name, {}))
    }
    asking |= {
        ("variants", name, "data"): [arm]
        for name, arm in variants.items()
        if compressed_page_options(arm.get("data", {}))
    }
    for path, arms in asking.items():
        named = (config.get("storage", {}).get(arm.get("storage")) for arm in arms)
        places = [Path("results"), cache_path(), *(Path(folder).expanduser() for folder in named if folder)]
        for place in dict.fromkeys(map(nearest_folder, places)):
            if not _punches(place):
                yield Mistake((*path, "options", TABLE_OPTION), no_holes_text(place))


def _punches(place: Path) -> bool:
    try:
        return punches_holes(place)
    except OSError:
        return True  # a place that cannot be written to is reported elsewhere


# Keys that a study of timed SQL alone may leave out, and their values then.
NO_WINDOW = {"warmup_s": 0, "measure_s": 0}


def fitted_workload(schema: Schema, config: dict[str, Any], entries: dict[str, Any]) -> Schema:
    """Return the schema of a config, which demands the seconds of a window unless all its loads are timed SQL."""
    named = config.get("workloads")
    loads = [entries["workloads"].get(name, {}) for name in named] if isinstance(named, dict) else []
    if loads and all(isinstance(load, dict) and "sql" in load for load in loads):
        return schema
    return {**schema, "required": [*schema["required"], *NO_WINDOW]}


def sql_mistakes_of_workload(path: tuple, workload: dict[str, Any], root: Path) -> Iterator[Mistake]:
    """Yield mistakes of one workload about timed SQL, its file included."""
    if "sql" not in workload:
        if "passes" in workload:
            yield Mistake((*path, "passes"), f"{workload['passes']!r}, expected none: only timed SQL has passes")
        return
    for key in ("script", "options", "rows"):
        if key in workload:
            yield Mistake((*path, key), f"{workload[key]!r} beside `sql`, expected a script of sysbench's or timed SQL")
    file = statement_files.timed_sql_path(root, workload["sql"])
    if not file.is_file():
        ours = [one.name for one in (root / "workloads").glob("*.sql")]
        where = "is no file of workloads/" if file.is_relative_to(root) else "is no file"
        yield Mistake((*path, "sql"), f"{workload['sql']!r} {where}{suggestion(workload['sql'], ours)}")
        return
    try:
        statement_files.read_timed(file)
    except ValueError as error:
        yield Mistake((*path, "sql"), str(error))


def sql_mistakes_of_study(config: dict[str, Any], entries: dict[str, Any]) -> Iterator[Mistake]:
    """Yield keys of a study that contradict timed SQL; `entries` are the complete ones without mistakes."""
    timed = {name: load for name, load in entries["workloads"].items() if "sql" in load}
    used = [name for name in config.get("workloads", {}) if name in timed]
    if used and config.get("clients", [1]) != [1]:
        text = f"{config['clients']}, expected [1]: {used[0]!r} is timed SQL, sent by one connection"
        yield Mistake(("clients",), text)
    for name in used:
        dataset = timed[name]["dataset"]
        if timed[name].get("fill"):
            text = "true, expected none: the first pass of timed SQL is cold, on a server just started"
            yield Mistake(("workloads", name, "fill"), text)
        if entries["datasets"].get(dataset, {}).get("fresh"):
            text = f"{dataset!r} is loaded anew before every run, expected a dataset with a snapshot"
            yield Mistake(("workloads", name, "dataset"), f"{text}: the first pass is cold, on a server just started")
    for training, declared in entries["trainings"].items():
        for place, name in enumerate(declared["workloads"]):
            if name in timed:
                text = f"{name!r} is timed SQL, expected a load of sysbench's"
                yield Mistake(("trainings", training, "workloads", place), text)


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
    """The parts of a config and its entries without mistakes in themselves, and the checkout `root`."""

    config: dict[str, Any]
    entries: dict[str, dict[str, dict[str, Any]]]
    root: Path

    def mistakes(self) -> Iterator[Mistake]:
        """Yield every contradiction between keys, and every reference to a file that does not exist."""
        for name, variant in self.config.get("variants", {}).items():
            yield from self._variant(("variants", name), variant)
        for name, server in self.entries["servers"].items():
            yield from _sources(("servers", name, "sources"), server["sources"])
        for name, build in self.entries["builds"].items():
            yield from self._tools(("builds", name), build)
            yield from _flags(("builds", name), build)
        for name, workload in self.entries["workloads"].items():
            yield from sql_mistakes_of_workload(("workloads", name), workload, self.root)
            if "sql" not in workload:
                yield from self._script(("workloads", name), workload)
        for name, dataset in self.entries["datasets"].items():
            yield from self._script(("datasets", name), {"script": FILL_SCRIPT, **dataset})
        yield from _rows(self.config, self.entries)
        yield from sql_mistakes_of_study(self.config, self.entries)
        yield from diagnosis_mistakes(self.config, self.entries["workloads"])
        yield from (Mistake(*found) for found in outside_lua_mistakes(self.config, self.entries))
        yield from folder_mistakes(self.config, self.entries["toolchains"])
        yield from page_compression_mistakes(self.config, self.entries)
        yield from _loader(self.entries["builds"].get(LOADER, {}))
        yield from environment_mistakes(self.config, self.entries["builds"])
        yield from client_environment_mistakes(self.config, self.entries["workloads"])
        yield from client_host_mistakes(self.config, self.entries["workloads"])
        yield from running_server_mistakes(self.config, self.entries)
        yield from _together(self.config)
        yield from _restart(self.config, self.entries["workloads"])
        yield from _expect(self.config)
        if "at_most" in self.config and "precision" not in self.config:
            yield Mistake(("at_most",), f"{self.config['at_most']!r}, expected `precision` beside it")
        yield from _placement(self.config.get("placement"), one_host="client" not in self.config)
        yield from self._published()

    def _variant(self, path: tuple, variant: dict[str, Any]) -> Iterator[Mistake]:
        server, build = self.entries["servers"].get(variant["server"]), variant["build"]
        if server and (ready := prebuilt(server["sources"])) != (build == PREBUILT):
            expected = f"{PREBUILT!r}, the only one a ready-made server has" if ready else "a way of compiling it"
            yield Mistake((*path, "build"), f"{build!r} of {variant['server']!r}, expected {expected}")
        if server:
            yield from self._options(path, server, variant.get("options", {}))
            declared = self.entries["builds"].get(build, {})
            for training in {declared[key] for key in ("profile", "bolt") if key in declared}:
                entry = self.entries["trainings"].get(training, {})
                yield from self._options(("trainings", training), server, entry.get("options", {}))
        yield from self._script((*path, "data"), {"script": FILL_SCRIPT, **variant.get("data", {})})

    def _options(self, path: tuple, server: dict[str, Any], own: dict[str, Any]) -> Iterator[Mistake]:
        """Yield mistakes in the options that a server gets, those of the study and its own at a key path."""
        allowed = ServerOptions(server, has_client="client" in self.config)
        yield from allowed.mistakes(("options",), self.config.get("options", {}))
        yield from allowed.mistakes((*path, "options"), own)

    def _tools(self, path: tuple, build: dict[str, Any]) -> Iterator[Mistake]:
        """Yield toolchains of the wrong kind."""
        compiler = self.entries["toolchains"].get(build.get("toolchain", DEFAULT_TOOLCHAIN), {})
        tool = self.entries["toolchains"].get(build.get("bolt_toolchain", DEFAULT_BOLT), {})
        if compiler.get("kind", "gcc") == "bolt":
            text = f"{build['toolchain']!r} is no compiler; BOLT's is `bolt_toolchain`"
            yield Mistake((*path, "toolchain"), text)
        if "bolt" in build and tool and tool.get("kind") != "bolt":
            text = f"{build['bolt_toolchain']!r} is of kind gcc or clang, expected bolt"
            yield Mistake((*path, "bolt_toolchain"), text)
        if build.get("published") and not (compiler.get("kind", "gcc") == "gcc" and "profile" in build):
            text = "the published recipe is a profile of gcc's: give `profile`, and a gcc"
            yield Mistake((*path, "published"), text)

    def _script(self, path: tuple, declared: dict[str, Any]) -> Iterator[Mistake]:
        """Yield scripts that do not exist, and options that have a key of their own in a study."""
        script = declared["script"]
        named = script not in SYSBENCH_SCRIPTS and not lua.is_outside(script)
        if script == "bulk_insert":
            text = f"{script!r} begins at row 1 in every call, the one after the warm-up too, expected 'bulk_rows.lua'"
            yield Mistake((*path, "script"), text)
        elif named and not (self.root / "workloads" / script).is_file():
            ours = [file.name for file in (self.root / "workloads").glob("*.lua")]
            text = f"{script!r} is neither sysbench's nor in workloads/{suggestion(script, [*SYSBENCH_SCRIPTS, *ours])}"
            yield Mistake((*path, "script"), text)
        for option, value in declared.get("options", {}).items():
            if owner := OWNED.get(option.replace("_", "-")):
                yield Mistake((*path, "options", option), f"{value!r} cannot be set here, it comes from {owner}")

    def _published(self) -> Iterator[Mistake]:
        file = self.config.get("published")
        if file and not (self.root / file).is_file():
            there = [f"studies/published/{one.name}" for one in (self.root / "studies" / "published").glob("*.csv")]
            yield Mistake(("published",), f"there is no file {file!r}{suggestion(file, there)}")


def _sources(path: tuple, sources: list[dict[str, Any]]) -> Iterator[Mistake]:
    """Yield sources that would never be used, or that mix ready-made servers with sources."""
    for place, source in enumerate(sources):
        kind = kind_of(source)
        if kind in SOLE_KINDS and len(sources) > 1:
            yield Mistake((*path, place), f"{kind!r} beside other sources, expected it alone: none can stand in for it")
        elif prebuilt([source]) != prebuilt(sources):
            text = f"{kind!r} behind {kind_of(sources[0])!r}, expected sources to compile or ready-made ones, not both"
            yield Mistake((*path, place), text)


def _flags(path: tuple, build: dict[str, Any]) -> Iterator[Mistake]:
    for flag in split_flags(build.get("flags", [])):
        for key, pattern in KEYED_FLAGS.items():
            if pattern.fullmatch(flag):
                yield Mistake((*path, "flags"), f"{flag!r} has a key of its own, expected under `{key}`")


def _loader(build: dict[str, Any]) -> Iterator[Mistake]:
    for key in ("profile", "bolt", "may_fail"):
        if build.get(key):
            text = f"{build[key]!r}, expected none: this build loads the datasets, and trainings need them"
            yield Mistake(("builds", LOADER, key), text)


def _expect(config: dict[str, Any]) -> Iterator[Mistake]:
    reference = config.get("reference")
    if reference in config.get("expect", {}):
        text = f"{reference!r} is the reference, expected a variant that is compared with it"
        yield Mistake(("expect", reference), text)


def _rows(config: dict[str, Any], entries: dict[str, Any]) -> Iterator[Mistake]:
    """Yield loads that draw their keys from more rows than a table of theirs has."""
    variants = [variant.get("data", {}) for variant in config.get("variants", {}).values()]
    for name, load in entries["workloads"].items():
        if "rows" not in load or "sql" in load:
            continue
        datasets = [entries["datasets"].get(load["dataset"], {}), *variants]
        least = min((data["rows"] for data in datasets if "rows" in data), default=0)
        if load["rows"] > least:
            of = f"dataset {load['dataset']!r}"
            held = f"at most the {least} rows of {of}" if least else f"none: {of} declares no rows"
            yield Mistake(("workloads", name, "rows"), f"{load['rows']}, expected {held}")


def _together(config: dict[str, Any]) -> Iterator[Mistake]:
    if config.get("together") == 2:
        text = "2, expected 1 or at least 3: the reference, the reference a second time, and a variant"
        yield Mistake(("together",), text)


def _restart(config: dict[str, Any], workloads: Mapping[str, Any]) -> Iterator[Mistake]:
    if config.get("restart") != NEVER:
        return
    alone = "with `restart: never` one server at a time goes through all client counts"
    for key in (key for key in ("slice_s", "rounds", "together") if config.get(key) not in (None, AUTOMATIC, 1)):
        yield Mistake((key,), f"{config[key]}, expected none: {alone}")
    for name in (name for name in config.get("workloads", {}) if "sql" in workloads.get(name, {})):
        text = "timed SQL needs a server just started, expected a load of sysbench beside `restart: never`"
        yield Mistake(("workloads", name), text)


def _placement(placement: Any, one_host: bool) -> Iterator[Mistake]:
    if not isinstance(placement, dict):
        return
    found = {}
    for key, value in placement.items():
        try:
            found[key] = _places(str(value).replace(" ", ""))
        except ValueError as error:
            yield Mistake(("placement", key), str(error).removeprefix(": "))
    if common := set.intersection(*found.values()) if len(found) > 1 and one_host else ():
        text = f"server and client both have {', '.join(sorted(common))}, expected disjoint CPUs"
        yield Mistake(("placement",), text)


def _places(value: str) -> set[str]:
    return set(value.split(",")) if value.startswith("numa") else {f"CPU {cpu}" for cpu in parse_cpus("", value)}
