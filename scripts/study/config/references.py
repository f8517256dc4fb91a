"""Mistakes in the names of a config: unknown references and reserved names."""

from collections.abc import Iterator
from typing import Any

from scripts.build.compilation.stages import PREBUILT, RESERVED
from scripts.lib.vocabulary import AA, RELINKED
from scripts.study.config.mistakes import Mistake, suggestion
from scripts.study.config.yaml_lines import KeyPath

Entries = dict[str, dict[str, dict[str, Any]]]
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


def references(config: dict[str, Any], entries: Entries, known: dict[str, set[str]]) -> Iterator[Mistake]:
    """Yield references to unknown names in a config and its entries, those with other mistakes included."""
    for path, name, kind in named(config, entries):
        if isinstance(name, str) and kind in known and name not in known[kind] and (kind, name) != BY_ITSELF:
            yield Mistake(path, f"{name!r} is unknown{suggestion(name, known[kind])}")


def named(config: dict[str, Any], entries: Entries) -> Iterator[tuple[KeyPath, Any, str]]:
    """Yield (key path, name, kind of the thing named) of every reference."""
    sections = {**entries, **{key: config.get(key) for key in ("variants", "workloads")}}
    yield ("reference",), config.get("reference"), "variants"
    yield from _diagnosed(config.get("diagnose"))
    yield from ((("expect", name), name, "variants") for name in _entries(config.get("expect")))
    yield from ((("workloads", name), name, "workloads") for name in _entries(sections["workloads"]))
    sections["workloads"] = entries["workloads"]
    for (section, key), kind in REFERENCES.items():
        for name, entry in _entries(sections[section]).items():
            match entry.get(key) if isinstance(entry, dict) else None:
                case list() as several:
                    yield from (((section, name, key, place), one, kind) for place, one in enumerate(several))
                case one:
                    yield (section, name, key), one, kind


def _diagnosed(section: Any) -> Iterator[tuple[KeyPath, Any, str]]:
    for key in ("variants", "workloads"):
        several = _entries(section).get(key)
        for place, name in enumerate(several if isinstance(several, list) else ()):
            yield ("diagnose", key, place), name, key


def _entries(section: Any) -> dict[str, Any]:
    return section if isinstance(section, dict) else {}


def taken(config: dict[str, Any]) -> Iterator[Mistake]:
    """Yield declared names that the workflow reserves."""
    uses = {AA: "the reference a second time", RELINKED: "the reference linked in another order"}
    for name in set(uses) & set(_entries(config.get("variants"))):
        yield Mistake(("variants", name), f"the name is the workflow's own, for {uses[name]}; choose another")
    for name in _entries(config.get("builds")):
        if own := next((own for own in RESERVED if name.startswith(own)), None):
            yield Mistake(("builds", name), f"names that begin with {own!r} are the workflow's own; choose another")
