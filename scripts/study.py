"""A study: the config file laid over the catalog, checked as a whole before anything runs."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import config_schema, config_text, scale, sql_config
from scripts.config_mistakes import Mistake, Places
from scripts.config_names import AA
from scripts.config_text import ConfigError, Document
from scripts.written_out import CATALOG, Entries, WrittenOut, write_out

Line = tuple[str, int, str]


@dataclass(frozen=True)
class Study:
    """A checked study. `entries` holds servers, builds, toolchains, trainings, workloads and datasets by name.

    `scaled` are the settings that make it a small one, with what they are at full size; nothing at full size.
    """

    name: str
    config: dict[str, Any]
    entries: Entries
    scaled: tuple[scale.Setting, ...] = ()

    @property
    def variants(self) -> dict[str, dict[str, Any]]:
        """Return the variants by name, `aa` (the reference a second time) the last."""
        variants = {name: dict(variant) for name, variant in self.config["variants"].items()}
        return {**variants, AA: dict(variants[self.config["reference"]])}

    @property
    def workloads(self) -> list[str]:
        """Return the names of the workloads to measure, in the order of the config."""
        return list(self.config["workloads"])


def read(file: Path, root: Path, **overrides: Any) -> Study:
    """Read and check a config file, as with `--config` and `overrides`.

    Raises ConfigError with every mistake found, OSError when it cannot be read.
    """
    return load({**config_text.read(file).value, **overrides}, root, str(file), (file,))


def load(config: dict[str, Any], root: Path, where: str, files: Sequence[str | Path] = ()) -> Study:
    """Check a config at its scale, and what it says of a smaller one, and lay it over the catalog in `root`.

    `where` names it in messages; `files` are the config files it was merged from, a later one wins, which tell the
    lines and what YAML misread; what differs from them came from `--config`. Raises ConfigError with every mistake
    found, one a line.
    """
    schema = config_schema.read(root)
    catalog = {file: config_text.read_text(root / "catalog" / file) for file in dict.fromkeys(CATALOG.values())}
    documents = tuple(config_text.read(Path(file)) for file in files)
    sizes = {size: write_out(config, size, documents, catalog) for size in scale.sizes(config)}

    mistakes, misread = _misread([*documents, *catalog.values()])
    # What the full size asks of a machine, the small one need not.
    checked = [whole for size, whole in sizes.items() if size in (scale.asked(config), scale.SMALL)]
    lines = {_line(mistake, whole.places) for whole in checked for mistake in mistakes}
    lines |= {
        _line(found, whole.places)
        for whole in checked
        for found in whole.mistakes(schema, root)
        if whole.places.origin(found.path) not in misread
    }
    if lines:
        raise ConfigError(_told(lines, where))
    return _study(sizes, scale.asked(config))


def _study(sizes: dict[str, WrittenOut], asked: str) -> Study:
    full, whole = sizes[scale.FULL], sizes[asked]
    scaled = scale.settings({**full.config, **full.entries}, {**whole.config, **whole.entries})
    return Study(
        whole.config["study"], sql_config.NO_WINDOW | copy.deepcopy(whole.config), whole.entries, tuple(scaled)
    )


def _misread(documents: list[Document]) -> tuple[set[Mistake], set[tuple]]:
    """Return what YAML reads otherwise than it looks, and the key paths of which nothing else needs to be said."""
    traps = [(document.name, trap) for document in documents for trap in document.traps]
    mistakes = {Mistake(trap.path, trap.text, (name, trap.line)) for name, trap in traps}
    return mistakes, {trap.path for _, trap in traps if trap.misread}


def _line(mistake: Mistake, places: Places) -> Line:
    file, line = mistake.place or places.of(mistake.path)
    return file, line or 0, places.line(mistake)


def _told(lines: set[Line], where: str) -> str:
    """Return all mistakes as text, one a line, in the order of files and lines."""
    texts = [text for *_, text in sorted(lines)]
    return f"{where}: {len(texts)} mistake(s)\n" + "\n".join(f"  {text}" for text in texts)
