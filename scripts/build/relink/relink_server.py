"""Relink a server: the same objects in other orders, so that a study can show what the luck of code layout does.

The link is known from the compiler wrapper, through which each family's build goes, whatever its build tool: it
records working directory and command line of each link, and has the linker name each object that it takes in, members
of archives too. So nothing here knows CMake, ninja or make, no build tool has to be talked into linking once more, and
the recorded command can be proven right: run again, it has to make the same bytes.

Archives of the build tree are replaced by the members that the link used, so that the program has the same objects
whatever their order; crt files, libraries and archives of the system keep their place. An object whose copy of a
function the linker kept stays ahead of objects with other copies of it, and constructors of static variables keep their
order, see `link_map`; between these, orders are random. With LTO, objects are put in another order before LTO, which
may then optimise otherwise and orders functions itself: the recorded link, which takes minutes, is not repeated, no
order is kept, and functions are not compared.

A relink is refused, with its reason in the record, when its functions differ in symbol or size (not with LTO), when it
needs other libraries, or when most functions (with LTO, all) have their old address. A build never fails for its
relinks.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from scripts.build.compilation import binary
from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.compilation.functions import Function, difference, functions_of, moved_share, needed_names
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.relink import kept_relinks
from scripts.build.relink.link_command import (
    Link,
    Piece,
    mapped_piece,
    recorded_pieces,
    server_link,
    take_apart,
    traced_pieces,
    with_output,
)
from scripts.build.relink.link_map import copy_pairs, is_gnu_map, with_constructors
from scripts.build.relink.link_orders import shuffled
from scripts.lib import json_record
from scripts.lib.host.causes import of_host
from scripts.lib.host.entry import say
from scripts.lib.host.process import CommandFailed, run
from scripts.lib.recipe_models import BuildRecipe

LEAST_MOVED = 0.5
LTO = ("-flto", "-fno-lto")


@dataclass(frozen=True)
class Original:
    """A linked server: its program in the install tree, its functions, the libraries it needs."""

    program: Path
    functions: Sequence[Function]
    needed: Sequence[str]

    @classmethod
    def of(cls, program: Path) -> "Original":
        """Read a program."""
        return cls(program, functions_of(program), needed_names(program))

    def compare(self, program: Path, *, same_functions: bool, least_moved: float) -> dict[str, Any]:
        """Return facts about a relink. Raises ValueError with what refuses it."""
        functions = functions_of(program)
        if same_functions and (differs := difference(self.functions, functions)):
            raise ValueError(f"its functions are not those of the build: {differs}")
        if (needed := needed_names(program)) != self.needed:
            raise ValueError(f"it needs the libraries {needed}, the build {self.needed}")
        if (moved := moved_share(self.functions, functions)) <= least_moved:
            raise ValueError(f"{moved:.0%} of its functions have another address, expected more than {least_moved:.0%}")
        return {"functions": len(functions), "moved_share": moved}


@dataclass
class Relinks:
    """The relinks of one build, as they are made: `facts` and `made` go into its record."""

    build: Path
    recipe: BuildRecipe
    count: int
    identity: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)
    made: list[dict[str, Any]] = field(default_factory=list)

    @property
    def original(self) -> Path:
        """The program in the build's install tree."""
        return self.build / "install" / self.identity["server_file"]

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Run the body, which makes the relinks, and write their record; a failure of the body is a refusal."""
        begin_s, refusal = time.monotonic(), dict[str, Any]()
        with refusal_in(refusal):
            yield
        known = {"sha256": json_record.file_sha256(self.original), **refusal, **self.facts}
        took_s = time.monotonic() - begin_s
        names = {"server": self.recipe.server, "build": self.recipe.build, "stage": self.recipe.stage}
        json_record.write_signed(
            self.build / kept_relinks.RECORD, {**names, **known, "relinks": self.made, "wall_s": took_s}
        )
        kept = kept_relinks.made_numbers({"relinks": self.made})
        why = f": {refusal['refused']}" if refusal["refused"] else ""
        say(f"[relink {names['server']} {names['build']}] {len(kept)} of {self.count} in {took_s:.0f} s{why}")

    def add(self, number: int, make: Callable[[dict[str, Any]], Path]) -> None:
        """Make a relink and keep it, or the reason why not; `make` returns the program and adds to the facts."""
        begin_s, facts, refusal = time.monotonic(), {"number": number}, dict[str, Any]()
        with refusal_in(refusal):
            program = make(facts)
            facts |= binary.identify(program)
            kept_relinks.keep(self.build, number, program, {**self.identity, **binary.identify(program)})
        self.made.append({**facts, **refusal, "wall_s": time.monotonic() - begin_s})


@contextmanager
def refusal_in(facts: dict[str, Any], *kinds: type[Exception]) -> Iterator[None]:
    """Set `refused` in `facts`: the reason when the body raises CommandFailed, ValueError or one of `kinds`, else None.

    Failures of the host propagate.
    """
    refusals: tuple[type[Exception], ...] = (CommandFailed, ValueError, *kinds)
    facts["refused"] = None
    try:
        yield
    except refusals as failure:
        if of_host(failure):
            raise
        facts["refused"] = str(failure)


@dataclass(frozen=True)
class BuildTree:
    """Where a server was built: its build tree, and the compiler."""

    build: Path
    chosen: Toolchain

    @property
    def scratch(self) -> Path:
        """The folder for what relinking leaves, which is removed with the build tree."""
        return self.build.parent / "relinks"

    def link(self, command: list[str], folder: Path) -> str:
        """Run a link and return what the linker traced."""
        environment = {"PATH": self.chosen.search_path(), "CCACHE_DISABLE": "1"}
        return run(command, cwd=folder, environment=environment).output


def relink_server(relinks: Relinks, calls: Iterable[CompilerCall], place: BuildTree) -> None:
    """Relink a compiled and installed server, and write `relinked.json`."""
    with relinks.recorded():
        call, original = server_link(calls, place.build, relinks.original), Original.of(relinks.original)
        lto = uses_lto(call.arguments)
        place.scratch.mkdir()
        taken, map_text = (recorded_pieces(call, place.build), "") if lto else repeat_link(call, original, place)
        link = take_apart(call, taken, place.build, place.chosen.ar, place.scratch / "members")
        ahead = pairs_to_keep(link, map_text)
        relinks.facts |= {
            "lto": lto,
            "repeated": not lto,
            "objects": len(link.pieces),
            "from_archives": sum(bool(piece.member) for piece in link.pieces),
            "archives_whole": list(link.whole),
            "pairs_kept": len(ahead),
        }
        for number in range(1, relinks.count + 1):
            relinks.add(number, _maker(link, ahead, original, place, f"{relinks.recipe.digest}/{number}", lto))


def _maker(
    link: Link, ahead: set[tuple[int, int]], original: Original, place: BuildTree, seed: str, lto: bool
) -> Callable[[dict[str, Any]], Path]:
    def make(facts: dict[str, Any]) -> Path:
        order = shuffled(len(link.pieces), ahead, seed)
        facts |= {"seed": seed, "order_sha256": json_record.sha256(order)}
        program = place.scratch / f"program{facts['number']}"
        place.link(link.command(order, program), link.folder)
        facts |= original.compare(program, same_functions=not lto, least_moved=0 if lto else LEAST_MOVED)
        return program

    return make


def uses_lto(arguments: Sequence[str]) -> bool:
    """Return whether a link optimises over its objects: the last argument about it asks for LTO."""
    return next((one for one in reversed(arguments) if one.startswith(LTO)), "-fno-lto").startswith("-flto")


def repeat_link(call: CompilerCall, original: Original, place: BuildTree) -> tuple[list[Piece], str]:
    """Repeat the recorded link; return the objects it took in, and its map.

    Raises ValueError when it made another program than the installed one, or not by GNU ld.
    """
    again, map_file = place.scratch / "again", place.scratch / "map"
    trace = place.link([*with_output(call.arguments, again), f"-Wl,-Map={map_file}"], Path(call.folder))
    if json_record.file_sha256(again) != json_record.file_sha256(original.program):
        raise ValueError(f"{call.unit}: the recorded link, when repeated, makes another program")
    again.unlink()
    map_text = map_file.read_text(encoding="utf-8", errors="surrogateescape")
    if not is_gnu_map(map_text):
        raise ValueError(f"{call.unit}: another linker than GNU ld made it, whose map does not name constructors")
    return traced_pieces(trace, Path(call.folder)), map_text


def pairs_to_keep(link: Link, map_text: str) -> set[tuple[int, int]]:
    """Return pairs of numbers of a link's pieces, of which the first has to stay ahead of the second.

    Members of one name are taken for each other, as a map does not tell them apart.
    """
    numbers: dict[Piece, list[int]] = {}
    for number, piece in enumerate(link.pieces):
        numbers.setdefault(piece, []).append(number)

    def numbers_of(name: str) -> list[int]:
        return numbers.get(mapped_piece(name, link.folder), [])

    constructing = sorted(number for name in with_constructors(map_text) for number in numbers_of(name))
    pairs = {
        (one, other)
        for first, second in copy_pairs(map_text)
        for one in numbers_of(first)
        for other in numbers_of(second)
        if one < other
    }
    return pairs | set(pairwise(constructing))
