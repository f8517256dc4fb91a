"""Flags of recorded command lines that neither the recipe nor the server's own build system gave.

`CFLAGS` of a shell is in every compile of a language, `LDFLAGS` in every link. So a flag is judged that all of them
have: it is foreign if it is of a kind that the server's build system never gives to all, see `Family.FOREIGN_FLAGS`.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.build.compilation.compiler_calls import CompilerCall, read_kept_calls
from scripts.lib.build_records import BuildFacts, ForeignFlags
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


def foreign_flags(facts: BuildFacts, calls: Iterable[CompilerCall]) -> ForeignFlags:
    """Return the foreign flags of a build by its facts (stage, flags, configure command) and its compiler's calls."""
    words: dict[tuple[str, bool], list[set[str]]] = {}
    for call in calls:
        if "-c" in call.arguments or call.links:
            words.setdefault((call.arguments[0], call.links), []).append({*_words(call.arguments[1:])})
    of_recipe, family = {*_of_recipe(facts)}, families.of(facts.family)

    def foreign(links: bool) -> list[str]:
        shared = [set.intersection(*of_calls) for (_, linking), of_calls in words.items() if linking == links]
        return sorted(word for word in set().union(*shared) - of_recipe if _is_foreign(word, family, facts))

    return ForeignFlags(foreign(links=False), foreign(links=True))


def _is_foreign(word: str, family: families.Family, facts: BuildFacts) -> bool:
    if folder := FOLDER.match(word):
        values = [argument.partition("=")[2] for argument in facts.configure_command or []]
        usual = [*SYSTEM, str(cache_path()), *(value for value in values if value.startswith("/"))]
        return not folder["path"].startswith(tuple(usual))
    # The published recipe's flags about its profile are those of MySQL's own CMake files.
    of_profile = StageKind(facts.stage or "").is_published and word.startswith("-fprofile")
    return not of_profile and family.is_foreign(word)


def of_build(folder: Path, facts: BuildFacts) -> ForeignFlags | None:
    """Return the foreign flags of the build in a folder: as recorded, else by its calls; None if it was not compiled.

    Raises ValueError or OSError when its calls cannot be read.
    """
    if facts.foreign_flags:
        return facts.foreign_flags
    return foreign_flags(facts, read_kept_calls(folder / "calls.json.gz")) if facts.configure_command else None


def _of_recipe(facts: BuildFacts) -> Iterator[str]:
    """Yield the words that the recipe gave: the wrapper's, and those in the arguments of configure."""
    for flags in facts.flags.values().values():
        yield from flags or ()
    for argument in facts.configure_command or []:
        yield argument
        yield from _words(shlex.split(argument.partition("=")[2])) if "=" in argument else ()
        if argument == "--enable-debug":
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
