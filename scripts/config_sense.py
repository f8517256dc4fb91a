"""Mistakes in the sense of a config: what is sound in itself but does not go together, or leads to no file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import client_config, diagnose_config, families, outside_lua, page_compression, sql_config
from scripts.config_mistakes import Mistake, suggestion
from scripts.filling import SCRIPT
from scripts.source_kinds import ALONE, kind_of, prebuilt
from scripts.stages import DEFAULT_BOLT, DEFAULT_TOOLCHAIN, LOADER, PREBUILT, split_flags
from scripts.sysbench import OWNED
from scripts.topology import parse_cpus

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
# Flags that are a key of a build, which makes the stages and the audit that belong to them.
KEYED_FLAGS = {
    "lto": re.compile(r"-flto(=.*)?"),
    "profile": re.compile(r"-fprofile-(use|generate|instr|arcs).*|-fauto-profile.*|--coverage"),
}


@dataclass(frozen=True)
class Sense:
    """What of a config is sound in itself, the sound and whole ones of its entries, and the checkout."""

    config: dict[str, Any]
    entries: dict[str, dict[str, dict[str, Any]]]
    root: Path

    def mistakes(self) -> Iterator[Mistake]:
        """Find everything that does not make sense."""
        for name, variant in self.config.get("variants", {}).items():
            yield from self._variant(("variants", name), variant)
        for name, server in self.entries["servers"].items():
            yield from _sources(("servers", name, "sources"), server["sources"])
        for name, build in self.entries["builds"].items():
            yield from self._tools(("builds", name), build)
            yield from _flags(("builds", name), build)
        for name, workload in self.entries["workloads"].items():
            yield from sql_config.of_workload(("workloads", name), workload, self.root)
            if "sql" not in workload:
                yield from self._script(("workloads", name), workload)
        for name, dataset in self.entries["datasets"].items():
            yield from self._script(("datasets", name), {"script": SCRIPT, **dataset})
        yield from sql_config.of_study(self.config, self.entries)
        yield from diagnose_config.mistakes(self.config, self.entries["workloads"])
        yield from (Mistake(*told) for told in outside_lua.mistakes(self.config, self.entries))
        yield from page_compression.mistakes(self.config, self.entries)
        yield from _loader(self.entries["builds"].get(LOADER, {}))
        yield from _block_span(self.config)
        yield from client_config.mistakes(self.config, self.entries["workloads"])
        yield from _placement(self.config.get("placement"), one_host="client" not in self.config)
        yield from self._published()

    def _variant(self, path: tuple, variant: dict[str, Any]) -> Iterator[Mistake]:
        server, build = self.entries["servers"].get(variant["server"]), variant["build"]
        if server and (ready := prebuilt(server["sources"])) != (build == PREBUILT):
            expected = f"{PREBUILT!r}, the only one a ready-made server has" if ready else "a way of compiling it"
            yield Mistake((*path, "build"), f"{build!r} of {variant['server']!r}, expected {expected}")
        if server:
            yield from self._options(path, server, variant.get("options", {}))
        yield from self._script((*path, "data"), {"script": SCRIPT, **variant.get("data", {})})

    def _options(self, path: tuple, server: dict[str, Any], own: dict[str, Any]) -> Iterator[Mistake]:
        """Find options that the server's release is known not to have, the study's own among them."""
        family = families.of(server["family"])
        for where, options in ((("options",), self.config.get("options", {})), ((*path, "options"), own)):
            for line in family.unknown_options(server["version"], options):
                name, _, text = line.partition(": ")
                yield Mistake((*where, name), text)

    def _tools(self, path: tuple, build: dict[str, Any]) -> Iterator[Mistake]:
        """Find toolchains of the wrong kind."""
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
        """Find scripts nobody has, and options that have a key of their own in a study."""
        script = declared["script"]
        named = script not in SYSBENCH_SCRIPTS and not outside_lua.is_outside(script)
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
    """Find sources that would never be used, or would make another thing of the server."""
    for place, source in enumerate(sources):
        kind = kind_of(source)
        if kind in ALONE and len(sources) > 1:
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


def _block_span(config: dict[str, Any]) -> Iterator[Mistake]:
    keys = ("variants", "block_span_s", "warmup_s", "measure_s")
    if all(config.get(key) for key in keys):
        runs = len(config["variants"]) + 1
        least_s = runs * (config.get("rest_s", 0) + config["warmup_s"] + config["measure_s"])
        if config["block_span_s"] < least_s:
            text = f"{config['block_span_s']}, expected at least {least_s}: the {runs} runs of a block take that long"
            yield Mistake(("block_span_s",), f"{text}, and none could be compared")


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
