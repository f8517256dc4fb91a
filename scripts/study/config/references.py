"""Mistakes in the names of a config: unknown references and reserved names."""

from collections.abc import Iterator, Mapping

from scripts.build.compilation.stages import PREBUILT, RESERVED
from scripts.lib.json_record import Json
from scripts.lib.vocabulary import AA, RELINKED
from scripts.study.config.mistakes import Mistake, suggestion
from scripts.study.config.yaml_lines import Config, KeyPath, at, mapping

Entries = Mapping[str, Config]
Reference = tuple[KeyPath, Json, str]
# (section, key) -> the section whose entries the key names.
REFERENCES = {
    ("variants", "server"): "servers",
    ("variants", "build"): "builds",
    ("variants", "storage"): "storage",
    ("builds", "toolchain"): "toolchains",
    ("builds", "bolt_toolchain"): "toolchains",
    ("builds", "profile"): "trainings",
    ("builds", "bolt"): "trainings",
    ("trainings", "workloads"): "workloads",
    ("workloads", "dataset"): "datasets",
}
BY_ITSELF = ("builds", PREBUILT)


def references(config: Config, entries: Entries, names: dict[str, set[str]]) -> Iterator[Mistake]:
    """Yield references to unknown names in a config and its entries, those with other mistakes included."""
    for path, name, kind in named(config, entries):
        if isinstance(name, str) and kind in names and name not in names[kind] and (kind, name) != BY_ITSELF:
            yield Mistake(path, f"{name!r} is unknown{suggestion(name, names[kind])}")


def named(config: Config, entries: Entries) -> Iterator[Reference]:
    """Yield (key path, name, kind of the thing named) of every reference."""
    yield ("reference",), config.get("reference"), "variants"
    for key in ("variants", "workloads"):
        if isinstance(names := at(config, ("diagnose", key)), list):
            yield from _names_at(("diagnose", key), names, key)
    yield from ((("expect", name), name, "variants") for name in mapping(config.get("expect")))
    yield from ((("workloads", name), name, "workloads") for name in mapping(config.get("workloads")))
    sections = {**entries, "variants": mapping(config.get("variants"))}
    for (section, key), kind in REFERENCES.items():
        for name, entry in sections[section].items():
            yield from _names_at((section, name, key), mapping(entry).get(key), kind)


def _names_at(path: KeyPath, names: Json, kind: str) -> Iterator[Reference]:
    if isinstance(names, list):
        yield from (((*path, index), name, kind) for index, name in enumerate(names))
    else:
        yield path, names, kind


def taken(config: Config) -> Iterator[Mistake]:
    """Yield declared names that the workflow reserves."""
    uses = {AA: "the reference a second time", RELINKED: "the reference linked in another order"}
    for name in set(uses) & set(mapping(config.get("variants"))):
        yield Mistake(("variants", name), f"the name is the workflow's own, for {uses[name]}; choose another")
    for name in mapping(config.get("builds")):
        if reserved := next((reserved for reserved in RESERVED if name.startswith(reserved)), None):
            yield Mistake(
                ("builds", name), f"names that begin with {reserved!r} are the workflow's own; choose another"
            )
