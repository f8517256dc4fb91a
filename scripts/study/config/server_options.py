"""Mistakes in the options of servers: owned by the workflow, unknown to a release, or with a value that reaches out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.build.sources.installed import find_program
from scripts.build.sources.kinds import kind_of, prebuilt, source_path
from scripts.measure.servers import families
from scripts.measure.servers.families.option_rules import FROM_CLIENT
from scripts.study.config.mistakes import Mistake

INSTALLED = "installed"


@dataclass(frozen=True)
class ServerOptions:
    """What the options of one server can be: its catalog entry, and whether a client host loads it."""

    entry: Mapping[str, Any]
    has_client: bool

    def mistakes(self, path: tuple, options: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yield the mistakes of the options at a key path."""
        family, libraries = families.of(self.entry["family"]), self.libraries()
        for name, value in options.items():
            if instead := self._owner(family, name):
                yield Mistake((*path, name), f"{value!r} cannot be set here, {instead}")
            elif reason := family.refused_value(name, value, libraries):
                yield Mistake((*path, name), f"{value!r} {reason}")
        for line in family.unknown_options(self.entry["version"], dict(options)):
            name, _, text = line.partition(": ")
            yield Mistake((*path, name), text)

    def libraries(self) -> frozenset[str] | None:
        """Return the libraries that options can name: those of the installation; None if only a job will know them."""
        family, sources = families.of(self.entry["family"]), self.entry["sources"]
        if kind_of(sources[0]) == INSTALLED:
            return _installed_libraries(family, source_path(sources[0][INSTALLED]))
        return None if prebuilt(sources) else family.BUILT_LIBRARIES | family.ADDED_LIBRARIES

    def _owner(self, family: families.Family, name: str) -> str:
        for_client = self.has_client and name in family.network_options("", 0)
        return family.owned_option(name) or (FROM_CLIENT if for_client else "")


def _installed_libraries(family: families.Family, path: Path) -> frozenset[str] | None:
    try:
        return family.libraries(find_program(path, INSTALLED, family.PRODUCT))
    except ValueError:
        return None  # a path without a server is reported elsewhere
