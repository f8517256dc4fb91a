"""Which options of servers a study can set, and to which values: the part of a family that judges them."""

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar, TypeVar

from scripts.lib.wording import option_value
from scripts.measure.servers.families.option_values import HARMLESS, KINDS_BY_NAME, OptionKind, library_names, refusal

OptionValue = bool | int | float | str
Options = Mapping[str, OptionValue]
T = TypeVar("T")

# What a study uses instead of an option of `OWNED_OPTIONS`, as the end of a sentence.
FROM_CLIENT = "it comes from `client`: without one the server listens on a private socket only"
FROM_STORAGE = "it comes from `storage`, the place of data directories"
FROM_SERVER = "it comes from the `server` and `build` of the variant"
FROM_WORKFLOW = "the workflow sets it for each start"
NO_ACCOUNTS = "the workflow makes the accounts of a server; put statements into the script of a workload"
ONE_LOG = "the workflow reads the server's log and keeps it beside the records"


def by_name(names: Mapping[T, Iterable[str]]) -> dict[str, T]:
    """Return name -> key of a table of several names for each key."""
    return {name: key for key, several in names.items() for name in several}


def plain_names(options: Options) -> Options:
    """Return options by their names with `_`, as servers take them besides `-`."""
    return {name.replace("-", "_"): value for name, value in options.items()}


class OptionRules:
    """Rules on the options of a family, in all spellings that its servers take."""

    # Server options that a study cannot set: shell pattern of names -> what to use instead, as the end of a sentence.
    OWNED_OPTIONS: ClassVar[Mapping[str, str]] = {}
    # What the server does with the values of the others: shell pattern of names -> kind; the first that matches counts.
    OPTION_KINDS: ClassVar[Mapping[str, OptionKind]] = KINDS_BY_NAME
    # Libraries that options can name: of every build of ours, and those that a build has where an option names them.
    BUILT_LIBRARIES: ClassVar[frozenset[str]] = frozenset()
    ADDED_LIBRARIES: ClassVar[frozenset[str]] = frozenset()

    def owned_option(self, name: str) -> str:
        """Return what to use instead of an option that the workflow sets itself; an empty text for a free option."""
        return next((instead for owned, instead in self.OWNED_OPTIONS.items() if self.means(name, owned)), "")

    def bare_name(self, name: str) -> str:
        """Return an option's name in small letters, with `_`, without what the server strips from it."""
        return name.lower().replace("-", "_")

    def means(self, name: str, pattern: str) -> bool:
        """Return whether the server may take a name for one of a pattern, as `OWNED_OPTIONS` has them."""
        return fnmatchcase(self.bare_name(name), pattern)

    def option_kind(self, name: str) -> OptionKind:
        """Return what the server does with the value of an option, by its name in any spelling."""
        bare = self.bare_name(name)
        for pattern, kind in self.OPTION_KINDS.items():
            # A name that may mean a harmless option may mean another one too.
            if fnmatchcase(bare, pattern) if kind in HARMLESS else self.means(name, pattern):
                return kind
        return OptionKind.LOCAL

    def named_libraries(self, options: Options) -> set[str]:
        """Return the names of the libraries that options name."""
        texts = [option_value(value) for name, value in options.items() if self.option_kind(name) is OptionKind.LIBRARY]
        return {name for text in texts for name in library_names(text).values() if name}

    def libraries(self, program: Path) -> frozenset[str] | None:
        """Return the names of the libraries that an installed server can load; the default: None, they are unknown."""
        return None

    def refused_value(self, name: str, value: OptionValue, libraries: Collection[str] | None) -> str:
        """Return why an option cannot have a value, and what was expected; an empty text for a value that it can have.

        Refused are values by which a server runs a command, loads a foreign library, connects, or names what is not in
        its data directory. `libraries` are the names that its installation holds, None if they are unknown yet.
        """
        return refusal(self.option_kind(name), option_value(value), libraries)
