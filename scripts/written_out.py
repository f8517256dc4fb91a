"""A config written out in full: at one scale, its matrix expanded, laid over the catalog; and all its mistakes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import config_schema, matrix, scale, sql_config
from scripts.config_mistakes import Mistake, Places, form, odd_keys, with_text_keys
from scripts.config_names import references, taken
from scripts.config_sense import Sense
from scripts.config_text import Document, KeyPath

CATALOG = {
    "servers": "servers.yaml",
    "builds": "builds.yaml",
    "toolchains": "builds.yaml",
    "trainings": "trainings.yaml",
    "workloads": "workloads.yaml",
    "datasets": "workloads.yaml",
}
Entries = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True)
class WrittenOut:
    """A config and the entries it makes of the catalog's; `places` lead back to where all this is written."""

    config: dict[str, Any]
    entries: Entries
    places: Places
    own: tuple[Mistake, ...]

    def mistakes(self, schema: config_schema.Schema, root: Path) -> Iterator[Mistake]:
        """Find every mistake but those in the text itself."""
        keyed = with_text_keys(self.config)
        formed = [*odd_keys(self.config), *form(keyed, sql_config.fitted(schema, keyed, self.entries), self.places)]
        whole, broken = _whole(self.entries, schema, self.places)
        yield from (*self.own, *formed, *broken)
        yield from references(keyed, self.entries, _known(keyed, self.entries))
        yield from taken({**keyed, "builds": self.entries["builds"]})
        yield from Sense(_sound(keyed, formed), whole, root).mistakes()


def write_out(config: dict[str, Any], size: str, documents: tuple[Document, ...], catalog: dict) -> WrittenOut:
    """Return a config at the scale `size`; `documents` are the files it was merged from, `catalog` holds more."""
    laid = scale.laid(config, documents) if size == scale.SMALL else config
    small = laid.get(scale.SMALL) if size == scale.SMALL else None

    def origin(path: KeyPath) -> KeyPath:
        there = matrix.origin(laid, path)
        return (scale.SMALL, *there) if scale.says(small, there) else there

    places = Places(config, documents, tuple(catalog.values()), origin)
    own = (*scale.mistakes(config), *matrix.mistakes(laid))
    expanded = matrix.expanded(laid)
    return WrittenOut(expanded, _entries(with_text_keys(expanded), catalog), places, own)


def _sound(config: dict[str, Any], mistakes: list[Mistake]) -> dict[str, Any]:
    """Return what of a config is sound in itself and so can be checked further: the user sees everything at once."""
    faults = {mistake.path[:depth] for mistake in mistakes for depth in (1, 2)}
    wrong = {mistake.path for mistake in mistakes}
    named = {key: value for key, value in config.items() if isinstance(value, dict) and (key,) not in wrong}
    rest = {key: value for key, value in config.items() if key not in named and (key,) not in faults}
    return rest | {
        key: {name: entry for name, entry in value.items() if (key, name) not in faults} for key, value in named.items()
    }


def _entries(config: dict[str, Any], catalog: dict[str, Document]) -> Entries:
    """Return catalog entries with the study's own laid over them, key by key."""
    entries = {}
    for kind, file in CATALOG.items():
        found = with_text_keys(catalog[file].value[kind])
        for name, own in _mapping(config.get(kind)).items():
            if isinstance(own, dict):
                found[name] = {**found.get(name, {}), **own}
        entries[kind] = found
    return entries


def _whole(entries: Entries, schema: config_schema.Schema, places: Places) -> tuple[Entries, list[Mistake]]:
    """Return the entries that are whole and sound, and the mistakes of the others, the catalog's like the config's."""
    whole, mistakes = {}, []
    for kind, named in entries.items():
        shape, whole[kind] = config_schema.entry(schema, kind), {}
        for name, entry in named.items():
            found = list(form(entry, shape, places, (kind, name)))
            mistakes += found
            if not found:
                whole[kind][name] = entry
    return whole, mistakes


def _known(config: dict[str, Any], entries: Entries) -> dict[str, set[str]]:
    """Return every name that is declared, well or badly, by kind; without kinds whose declarations are no mapping."""
    kinds = {**entries, "variants": {}, "storage": {}}
    declared = {kind: config.get(kind, {}) for kind in kinds}
    # A workload with nothing after its colon is a name, and declares nothing.
    declared["workloads"] = {name: own for name, own in _mapping(declared["workloads"]).items() if own is not None}
    if not config.get("variants") and matrix.SECTION in config:
        del declared["variants"], kinds["variants"]  # a matrix with mistakes, which have no variants, is told already
    return {kind: {*kinds[kind], *declared[kind]} for kind in kinds if isinstance(declared[kind], dict)}


def _mapping(section: Any) -> dict[str, Any]:
    return section if isinstance(section, dict) else {}
