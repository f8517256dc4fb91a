"""Flags of recorded command lines that neither the recipe nor the server's own build system gave.

`CFLAGS` of a shell is in every compile of a language, `LDFLAGS` in every link. So a flag is judged that all of them
have: it is foreign if it is of a kind that the server's build system never gives to all, see `Family.FOREIGN_FLAGS`.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.build.compilation.compiler_calls import CompilerCall, read_kept_calls
from scripts.lib.host.cache import cache_path
from scripts.lib.recipe_models import StageKind
from scripts.measure.servers import families

# What changes the code, or where it is read from. Warnings are not judged, nor names of files, objects and libraries.
JUDGED = re.compile(
    r"-(?:[Ofgm]|D|U|I|i(?:system|quote|dirafter|macros|nclude) |B|L|specs|std=|p|Wl,|Wa,|Wp,|static|s$|T)"
)
# A word of its own, or the one after it: `-I x` is read as `-Ix`, `-isystem x` as one word with a blank.
SEPARATE = {"-I", "-L", "-D", "-U", "-B"}
NAMED = {"-isystem", "-iquote", "-idirafter", "-imacros", "-include", "-specs", "-Xlinker", "-Xassembler"}
FOLDER = re.compile(r"-(?:[ILB]|i(?:system|quote|dirafter) |Wl,-rpath(?:-link)?,)(?P<path>/[^,:]*)")
SYSTEM = ("/usr/include", "/usr/lib")
FLAG_SETS = ("common", "profile", "lto", "link")
FACT = "foreign_flags"


@dataclass(frozen=True)
class ForeignFlags:
    """Flags that no recipe gave, in all compiles of a language and in all links."""

    compiles: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The flags of compiles, then those that only links have, as words of a command line; empty without any."""
        return " ".join(dict.fromkeys([*self.compiles, *self.links]))

    def facts(self) -> dict[str, list[str]]:
        """Return the flags as a build's facts record them."""
        return {key: list(flags) for key, flags in asdict(self).items()}


def foreign_flags(facts: Mapping[str, Any], calls: Iterable[CompilerCall]) -> ForeignFlags:
    """Return the foreign flags of a build by its facts (recipe, flags, configure command) and its compiler's calls."""
    words: dict[tuple[str, bool], list[set[str]]] = {}
    for call in calls:
        if "-c" in call.arguments or call.links:
            words.setdefault((call.arguments[0], call.links), []).append({*_words(call.arguments[1:])})
    given, family = {*_given(facts)}, families.of(facts["family"])

    def foreign(links: bool) -> tuple[str, ...]:
        shared = [set.intersection(*each) for (_, linking), each in words.items() if linking == links]
        return tuple(sorted(word for word in set().union(*shared) - given if _is_foreign(word, family, facts)))

    return ForeignFlags(foreign(links=False), foreign(links=True))


def _is_foreign(word: str, family: families.Family, facts: Mapping[str, Any]) -> bool:
    if folder := FOLDER.match(word):
        values = [argument.partition("=")[2] for argument in facts.get("configure_command") or []]
        ours = [*SYSTEM, str(cache_path()), *(value for value in values if value.startswith("/"))]
        return not folder["path"].startswith(tuple(ours))
    # The published recipe's flags about its profile are those of MySQL's own CMake files.
    of_profile = StageKind(facts["stage"]).is_published and word.startswith("-fprofile")
    return not of_profile and family.is_foreign(word)


def of_build(folder: Path, facts: Mapping[str, Any]) -> ForeignFlags | None:
    """Return the foreign flags of the build in a folder: as recorded, else by its calls; None if it was not compiled.

    Raises ValueError or OSError when its calls cannot be read.
    """
    if recorded := facts.get(FACT):
        return ForeignFlags(**{key: tuple(flags) for key, flags in recorded.items()})
    if not facts.get("configure_command"):
        return None
    return foreign_flags(facts, read_kept_calls(folder / "calls.json.gz"))


def _given(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that the recipe gave: the wrapper's, and those in the arguments of configure."""
    for key in FLAG_SETS:
        yield from (facts.get("flags") or {}).get(key, [])
    for argument in facts.get("configure_command") or []:
        yield argument
        yield from _words(shlex.split(argument.partition("=")[2])) if "=" in argument else ()
    if "--enable-debug" in (facts.get("configure_command") or []):
        yield "-g"


def _words(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the judged flags of a command line."""
    arguments = iter(arguments)
    for argument in arguments:
        if argument in SEPARATE:
            argument += next(arguments, "")
        elif argument in NAMED:
            argument += f" {next(arguments, '')}"
        elif argument == "-o":
            next(arguments, None)
            continue
        if JUDGED.match(argument):
            yield argument
