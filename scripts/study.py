"""A study: the config file laid over the catalog, checked as a whole before anything runs."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import config_schema, config_text
from scripts.config_mistakes import Mistake, Places, form, odd_keys, with_text_keys
from scripts.config_names import AA, references, taken
from scripts.config_sense import Sense
from scripts.config_text import ConfigError, Document

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
class Study:
    """A checked study. `entries` holds servers, builds, toolchains, trainings, workloads and datasets by name."""

    name: str
    config: dict[str, Any]
    entries: Entries

    @property
    def variants(self) -> dict[str, dict[str, Any]]:
        """Return the variants by name, `aa` (the reference a second time) the last."""
        variants = {name: dict(variant) for name, variant in self.config["variants"].items()}
        return {**variants, AA: dict(variants[self.config["reference"]])}

    @property
    def workloads(self) -> list[str]:
        """Return the names of the workloads to measure, in the order of the config."""
        return list(self.config["workloads"])


def read(file: Path, root: Path) -> Study:
    """Read and check a config file. Raises ConfigError with every mistake found, OSError when it cannot be read."""
    return load(config_text.read(file).value, root, str(file), (file,))


def load(config: dict[str, Any], root: Path, where: str, files: Sequence[str | Path] = ()) -> Study:
    """Check a config and lay it over the catalog in `root`.

    `where` names it in messages; `files` are the config files it was merged from, a later one wins, which tell the
    lines and what YAML misread; what differs from them came from `--config`. Raises ConfigError with every mistake
    found, one a line.
    """
    schema = config_schema.read(root)
    catalog = {file: config_text.read_text(root / "catalog" / file) for file in dict.fromkeys(CATALOG.values())}
    documents = tuple(config_text.read(Path(file)) for file in files)
    places = Places(config, documents, tuple(catalog.values()))

    mistakes, misread = _misread([*documents, *catalog.values()])
    keyed = with_text_keys(config)
    formed = [*odd_keys(config), *form(keyed, schema, places)]
    entries = _entries(keyed, catalog)
    whole, broken = _whole(entries, schema, places)
    names = [*references(keyed, entries, _known(keyed, entries)), *taken({**keyed, "builds": entries["builds"]})]
    sense = Sense(sound(keyed, formed), whole, root).mistakes()
    mistakes |= {found for found in (*formed, *broken, *names, *sense) if found.path not in misread}
    if mistakes:
        raise ConfigError(_told(mistakes, places, where))
    return Study(config["study"], copy.deepcopy(config), entries)


def _misread(documents: list[Document]) -> tuple[set[Mistake], set[tuple]]:
    """Return what YAML reads otherwise than it looks, and the key paths of which nothing else needs to be said."""
    traps = [(document.name, trap) for document in documents for trap in document.traps]
    mistakes = {Mistake(trap.path, trap.text, (name, trap.line)) for name, trap in traps}
    return mistakes, {trap.path for _, trap in traps if trap.misread}


def sound(config: dict[str, Any], mistakes: list[Mistake]) -> dict[str, Any]:
    """Return what of a config is sound in itself and so can be checked further: the user sees everything at once."""
    faults = {mistake.path[:depth] for mistake in mistakes for depth in (1, 2)}
    named = {key: value for key, value in config.items() if isinstance(value, dict)}
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


def _whole(entries: Entries, schema: dict, places: Places) -> tuple[Entries, list[Mistake]]:
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
    return {kind: {*kinds[kind], *declared[kind]} for kind in kinds if isinstance(declared[kind], dict)}


def _mapping(section: Any) -> dict[str, Any]:
    return section if isinstance(section, dict) else {}


def _told(mistakes: set[Mistake], places: Places, where: str) -> str:
    """Return all mistakes as text, one a line, in the order of files and lines."""
    placed = sorted((*_rank(mistake, places), places.line(mistake)) for mistake in mistakes)
    lines = list(dict.fromkeys(line for *_, line in placed))
    return f"{where}: {len(lines)} mistake(s)\n" + "\n".join(f"  {line}" for line in lines)


def _rank(mistake: Mistake, places: Places) -> Iterator[Any]:
    file, line = mistake.place or places.of(mistake.path)
    yield from (file, line or 0)
