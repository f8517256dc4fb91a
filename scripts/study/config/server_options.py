"""Mistakes in the options of servers: owned by the workflow, unknown to a release, or with a value that reaches out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.build.sources.installed import find_program
from scripts.build.sources.kinds import source_path
from scripts.measure.servers import families
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.families.option_rules import FROM_CLIENT
from scripts.study.config.declared_servers import InstalledSource, ServerDeclaration
from scripts.study.config.mistakes import Mistake
from scripts.study.config.yaml_lines import KeyPath

INSTALLED = "installed"


@dataclass(frozen=True)
class ServerOptions:
    """What the options of one server can be: its catalog entry, and whether a client host loads it."""

    entry: ServerDeclaration
    has_client: bool

    def mistakes(self, path: KeyPath, options: Mapping[str, str | float | bool]) -> Iterator[Mistake]:
        """Yield the mistakes of the options at a key path."""
        family, libraries = families.of(self.entry.family), self.libraries()
        for name, value in options.items():
            if instead := self._owner(family, name):
                yield Mistake((*path, name), f"{value!r} cannot be set here, {instead}")
            elif reason := family.refused_value(name, value, libraries):
                yield Mistake((*path, name), f"{value!r} {reason}")
        for line in family.unknown_options(self.entry.version, dict(options)):
            name, _, text = line.partition(": ")
            yield Mistake((*path, name), text)

    def libraries(self) -> frozenset[str] | None:
        """Return the libraries that options can name: those of the installation; None if only a job will know them."""
        family, source = families.of(self.entry.family), self.entry.sources[0]
        if isinstance(source, InstalledSource):
            return _installed_libraries(family, source_path(source.installed))
        return None if self.entry.is_prebuilt else family.BUILT_LIBRARIES | family.ADDED_LIBRARIES

    def _owner(self, family: Family, name: str) -> str:
        for_client = self.has_client and name in family.network_options("", 0)
        return family.owned_option(name) or (FROM_CLIENT if for_client else "")


def _installed_libraries(family: Family, path: Path) -> frozenset[str] | None:
    try:
        return family.libraries(find_program(path, INSTALLED, family.PRODUCT))
    except ValueError:
        return None  # a path without a server is reported elsewhere
