"""A study: a config file laid over the catalog and checked as a whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scripts.build.compilation.stages import PREBUILT
from scripts.build.sources.declared import DeclaredServer
from scripts.lib.json_record import Json
from scripts.lib.vocabulary import AA, RELINKED
from scripts.study.config import expansion
from scripts.study.config import yaml_lines as config_text
from scripts.study.config.cross_checks import Sense
from scripts.study.config.declared_study import DEFAULTS, NO_WINDOW, StudyDeclaration
from scripts.study.config.declared_variants import VariantDeclaration
from scripts.study.config.mistakes import Mistake, Places, form, odd_keys, odd_texts, with_text_keys
from scripts.study.config.references import references, taken
from scripts.study.config.scalars import as_written
from scripts.study.config.sound import Sound, of_parts
from scripts.study.config.yaml_lines import Config, ConfigError, Document, KeyPath, at, mapping

CATALOG = {
    "servers": "servers.yaml",
    "builds": "builds.yaml",
    "toolchains": "builds.yaml",
    "trainings": "trainings.yaml",
    "workloads": "workloads.yaml",
    "datasets": "workloads.yaml",
}
# A study names its workloads, without keys where the catalog's entry will do.
NEEDED_SECTION = "workloads"
# Mappings from names, of which a name with a mistake can be left out.
NAMED = ("variants", "workloads", "expect", "options", "storage", "client_environment")


@dataclass(frozen=True)
class WrittenOut:
    """A config at one scale, its entries laid over the catalog's, and the places where they are written."""

    config: Config
    entries: dict[str, Config]
    places: Places
    in_itself: tuple[Mistake, ...]

    def mistakes(self, root: Path) -> Iterator[Mistake]:
        """Yield every mistake but those of YAML's reading."""
        unfit = [*odd_texts(self.config), *odd_texts({**self.entries})]
        reported = {mistake.path for mistake in unfit}
        yield from unfit
        yield from (mistake for mistake in self._others(root, unfit) if mistake.path not in reported)

    def _others(self, root: Path, unfit: list[Mistake]) -> Iterator[Mistake]:
        keyed = with_text_keys(self.config)
        formed = [*odd_keys(self.config), *form(_laid(keyed, self.entries), self.places)]
        yield from (*self.in_itself, *formed)
        yield from references(keyed, self.entries, _known_names(keyed, self.entries))
        yield from taken({**keyed, "builds": self.entries["builds"]})
        yield from Sense(self.sound([*formed, *unfit]), root).mistakes()

    def sound(self, mistakes: list[Mistake]) -> Sound:
        """Return the parts of the config and of its entries that have none of these mistakes."""
        config = _sound(with_text_keys(self.config), mistakes)
        return of_parts({**config, **_whole(self.entries, mistakes)}, tuple(mapping(config.get(NEEDED_SECTION))))


def write_out(config: Config, size: str, documents: tuple[Document, ...], catalog: dict[str, Document]) -> WrittenOut:
    """Return a config at the scale `size`; `documents` are its files, `catalog` those of the catalog by name."""
    laid = expansion.scaled(config, documents) if size == expansion.SMALL else config
    small = laid.get(expansion.SMALL) if size == expansion.SMALL else None

    def origin(path: KeyPath) -> KeyPath:
        origin_path = expansion.origin_of(laid, path)
        return (expansion.SMALL, *origin_path) if expansion.states_key(small, origin_path) else origin_path

    places = Places(config, documents, tuple(catalog.values()), origin)
    misfits = (*expansion.scale_mistakes(config), *expansion.matrix_mistakes(laid))
    expanded = expansion.expanded_matrix(laid)
    return WrittenOut(expanded, _entries(with_text_keys(expanded), catalog), places, misfits)


def _sound(config: Config, mistakes: list[Mistake]) -> Config:
    """Return the parts of a config without mistakes, which are checked further: the user sees all mistakes at once."""
    faults = {mistake.path[:1] for mistake in mistakes}
    named = [key for key in NAMED if isinstance(config.get(key), dict)]
    rest = {key: value for key, value in config.items() if key not in named and (key,) not in faults}
    fit = _whole({key: mapping(config[key]) for key in named}, mistakes)
    return rest | {key: value for key, value in fit.items() if value}


def _entries(config: Config, catalog: dict[str, Document]) -> dict[str, Config]:
    """Return catalog entries with the study's own laid over them, key by key."""
    entries = {}
    for kind, file in CATALOG.items():
        named = with_text_keys(mapping(at(catalog[file].value, (kind,))))
        for name, entry in mapping(config.get(kind)).items():
            if isinstance(entry, dict):
                named[name] = {**mapping(named.get(name)), **entry}
        entries[kind] = named
    return entries


def _laid(config: Config, entries: dict[str, Config]) -> Config:
    """Return a config with the catalog's entries under its own; a section that is no mapping stays as it is."""
    laid = dict(config)
    for kind, named in entries.items():
        section = config.get(kind, None if kind == NEEDED_SECTION else {})
        if isinstance(section, dict) and (section or kind != NEEDED_SECTION):
            odd = {name: entry for name, entry in section.items() if not isinstance(entry, dict)}
            # A workload with nothing after its colon takes the catalog's entry.
            refused = {name: odd[name] for name in odd if odd[name] is not None or kind != NEEDED_SECTION}
            laid[kind] = {**named, **refused}
    return laid


def _whole(entries: dict[str, Config], mistakes: list[Mistake]) -> dict[str, Config]:
    """Return the entries without mistakes; none of a section that has a mistake itself."""
    faults = {mistake.path[:2] for mistake in mistakes}
    return {
        kind: {name: entry for name, entry in named.items() if (kind,) not in faults and (kind, name) not in faults}
        for kind, named in entries.items()
    }


def _known_names(config: Config, entries: dict[str, Config]) -> dict[str, set[str]]:
    """Return every declared name by kind, entries with mistakes included; not the kinds whose section is no mapping."""
    kinds: dict[str, Config] = {**entries, "variants": {}, "storage": {}}
    if not config.get("variants") and expansion.MATRIX_SECTION in config:
        del kinds["variants"]  # a matrix with mistakes is reported already
    declared = {kind: config.get(kind, {}) for kind in kinds}
    # A workload with nothing after its colon refers to the catalog.
    declared["workloads"] = {name: entry for name, entry in mapping(declared["workloads"]).items() if entry is not None}
    return {kind: {*kinds[kind], *section} for kind, section in declared.items() if isinstance(section, dict)}


Line = tuple[str, int, str]


@dataclass(frozen=True)
class Study(Sound):
    """A checked study; `scaled` lists the settings of a small study that differ from full size."""

    scaled: tuple[expansion.Setting, ...] = ()
    places: Places = field(default=Places({}, (), ()), compare=False, repr=False)

    @property
    def name(self) -> str:
        """Return the name of the study."""
        return self.declared.study

    @cached_property
    def arms(self) -> dict[str, VariantDeclaration]:
        """Return the variants by name, then `aa` (the reference a second time) and `relinked`, where it is measured."""
        declared, reference = self.declared.variants, self.declared.variants[self.declared.reference]
        return {**declared, AA: reference, **({RELINKED: reference} if self._measures_relinks else {})}

    @property
    def _measures_relinks(self) -> bool:
        variants = self.declared.variants
        builds = {(variant.server, variant.build) for variant in variants.values()}
        return self.declared.relinked and len(builds) > 1 and variants[self.declared.reference].build != PREBUILT

    @property
    def server_sources(self) -> dict[str, DeclaredServer]:
        """Return where each server comes from."""
        return {name: DeclaredServer(sources=server.entries) for name, server in self.declared.servers.items()}

    @property
    def hosts(self) -> dict[str, Json]:
        """Return `placement` and `client` as they are written."""
        return {"placement": as_written(self.declared.placement), "client": as_written(self.declared.client)}

    @property
    def workloads(self) -> list[str]:
        """Return the names of the workloads to measure, in the order of the config."""
        return list(self.measured)

    def line(self, mistake: Mistake) -> str:
        """Return a mistake found after loading as one line: file and line, key, text."""
        return self.places.line(mistake)


def read(file: Path, root: Path, **overrides: Json) -> Study:
    """Read and check a config file, as with `--config` and `overrides`.

    Raises ConfigError with every mistake found, OSError when it cannot be read.
    """
    return load({**mapping(config_text.read(file).value), **overrides}, root, str(file), (file,))


def load(config: Config, root: Path, where: str, files: Sequence[str | Path] = ()) -> Study:
    """Lay a config over the catalog in `root` and check it at the scale it asks for and at its small one.

    `where` names it in messages; `files` are the config files it was merged from, a later one wins: they give lines and
    what YAML misread. Values that differ from theirs came from `--config`. Raises ConfigError with every mistake found,
    one per line.
    """
    try:
        return _load(config, root, where, files)
    except RecursionError as error:
        raise ConfigError(f"{where}: {config_text.NESTED}") from error


def _load(config: Config, root: Path, where: str, files: Sequence[str | Path]) -> Study:
    catalog = {file: config_text.read_text(root / "catalog" / file) for file in dict.fromkeys(CATALOG.values())}
    documents = tuple(config_text.read(Path(file)) for file in files)
    sizes = {size: write_out(config, size, documents, catalog) for size in expansion.declared_scales(config)}

    mistakes, misread = _misread([*documents, *catalog.values()])
    mistakes |= set(_named_twice(documents))
    # The full size may ask for more than this machine has; the small one need not.
    checked = [written for size, written in sizes.items() if size in (expansion.asked_scale(config), expansion.SMALL)]
    lines = {_line(mistake, written.places) for written in checked for mistake in mistakes}
    lines |= {
        _line(mistake, written.places)
        for written in checked
        for mistake in written.mistakes(root)
        if written.places.origin(mistake.path) not in misread
    }
    if lines:
        raise ConfigError(_mistakes_text(lines, where))
    return _study(sizes, expansion.asked_scale(config))


def _study(sizes: dict[str, WrittenOut], size: str) -> Study:
    written, full = sizes[size], sizes[expansion.FULL]
    defaults = _defaults(written)
    config, full_config = (defaults | scale.config for scale in (written, full))
    scaled = expansion.scale_settings({**full_config, **full.entries}, {**config, **written.entries})
    content = {key: config[key] for key in config.keys() - NO_WINDOW.keys()} | written.entries
    sound = of_parts(content, tuple(mapping(config[NEEDED_SECTION])))
    declared = sound.declared.model_copy(update={key: config[key] for key in NO_WINDOW})
    return Study(declared, sound.measured, tuple(scaled), written.places)


def _defaults(written: WrittenOut) -> Config:
    """Return the defaults of the keys that every study has."""
    variants, reference = mapping(written.config["variants"]), str(written.config["reference"])
    others = [name for name in variants if name != reference]
    named = " and ".join(others) if others else AA
    arms = f"do the other {len(others)} variants" if len(others) > 2 else f"do{'es' * (len(others) < 2)} {named}"
    loads = written.entries[NEEDED_SECTION]
    is_timed = all("sql" in mapping(loads[name]) for name in mapping(written.config[NEEDED_SECTION]))
    fixed = {key: StudyDeclaration.model_fields[key].default for key in DEFAULTS} | (NO_WINDOW if is_timed else {})
    return {"title": written.config["study"], "question": f"How {arms} compare with {reference}?", **fixed}


def _misread(documents: list[Document]) -> tuple[set[Mistake], set[KeyPath]]:
    """Return the mistakes of YAML's reading, and the key paths whose other mistakes follow from them."""
    traps = [(document.name, trap) for document in documents for trap in document.traps]
    mistakes = {Mistake(trap.path, trap.text, (name, trap.line)) for name, trap in traps}
    return mistakes, {trap.path for _, trap in traps if trap.misread}


def _named_twice(documents: Sequence[Document]) -> Iterator[Mistake]:
    """Yield the name of a study that another config file names too: one of them would be measured under this name."""
    naming = [document for document in documents if "study" in mapping(document.value)]
    for document in naming[1:]:
        first = f"{naming[0].name}:{naming[0].line(('study',))}"
        study = at(document.value, ("study",))
        text = f"{study!r}, but {first} names a study too; expected one study, and other files without"
        yield Mistake(("study",), text, (document.name, document.line(("study",))))


def _line(mistake: Mistake, places: Places) -> Line:
    file, line = mistake.place or places.of(mistake.path)
    return file, line or 0, places.line(mistake)


def _mistakes_text(lines: set[Line], where: str) -> str:
    """Return all mistakes as text, one per line, in the order of files and lines."""
    texts = [text for *_, text in sorted(lines)]
    return f"{where}: {len(texts)} mistake(s)\n" + "\n".join(f"  {text}" for text in texts)
