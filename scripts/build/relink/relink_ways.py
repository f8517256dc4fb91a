"""The two ways to relink a build: the recorded link with its objects in another order, and BOLT on such relinks.

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

BOLT puts functions with a profile into an order of its own, whatever their order in its input, and keeps the order of
the others. What is left of the luck of layout is smaller, and that is what its relinks show: some function has to have
moved, not most of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.relink import kept_relinks
from scripts.build.relink.kept_relinks import Relink, RelinkRecord
from scripts.build.relink.link_command import (
    Link,
    Piece,
    mapped_piece,
    server_link,
    take_apart,
    traced_pieces,
    with_output,
)
from scripts.build.relink.link_map import copy_pairs, is_gnu_map, shuffled, with_constructors
from scripts.build.relink.relinking import Original, RelinkWay
from scripts.lib import json_record
from scripts.lib.build_records import BoltFacts
from scripts.lib.host.process import run

LEAST_MOVED = 0.5
LTO = ("-flto", "-fno-lto")
# The profile names local functions by their file and by a number that follows the order of objects: some get lost.
LEAST_PROFILED = 0.95
# Lays out the first program as the second; returns BOLT's figures about the profile.
LayOut = Callable[[Path, Path], BoltFacts]


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


@dataclass(frozen=True)
class ByLinker(RelinkWay):
    """Link the objects of a compiled server in other orders, drawn by a seed; `ahead` are pairs that keep theirs."""

    seed: str
    tree: BuildTree
    objects: Link
    ahead: set[tuple[int, int]]

    def steps(self, number: int, program: Path) -> Iterator[Relink]:
        seed = f"{self.seed}/{number}"
        order = shuffled(len(self.objects.pieces), self.ahead, seed)
        yield Relink(number, seed, json_record.sha256(order))
        self.tree.link(self.objects.command(order, program), self.objects.folder)


def by_linker(seed: str, calls: Iterable[CompilerCall], tree: BuildTree, original: Original, count: int) -> ByLinker:
    """Return the way to relink a compiled and installed server. Raises ValueError or CommandFailed if there is none."""
    call = server_link(calls, tree.build, original.program)
    lto = uses_lto(call.arguments)
    tree.scratch.mkdir()
    recorded = [mapped_piece(name, tree.build) for name in call.linked]
    pieces, map_text = (recorded, "") if lto else repeat_link(call, original, tree)
    link = take_apart(call, pieces, tree.build, tree.chosen.ar, tree.scratch / "members")
    ahead = pairs_to_keep(link, map_text)
    shared = RelinkRecord(
        lto=lto,
        repeated=not lto,
        objects=len(link.pieces),
        from_archives=sum(bool(piece.member) for piece in link.pieces),
        archives_whole=list(link.intact),
        pairs_kept=len(ahead),
    )
    numbers, least_moved = range(1, count + 1), 0.0 if lto else LEAST_MOVED
    return ByLinker(numbers, tree.scratch, shared, not lto, least_moved, seed, tree, link, ahead)


def uses_lto(arguments: Sequence[str]) -> bool:
    """Return whether a link optimises over its objects: the last argument about it asks for LTO."""
    return next((word for word in reversed(arguments) if word.startswith(LTO)), "-fno-lto").startswith("-flto")


def repeat_link(call: CompilerCall, original: Original, tree: BuildTree) -> tuple[list[Piece], str]:
    """Repeat the recorded link; return the objects it took in, and its map.

    Raises ValueError when it made another program than the installed one, or not by GNU ld.
    """
    again, map_file = tree.scratch / "again", tree.scratch / "map"
    trace = tree.link([*with_output(call.arguments, again), f"-Wl,-Map={map_file}"], Path(call.folder))
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
        (earlier, later)
        for first, second in copy_pairs(map_text)
        for earlier in numbers_of(first)
        for later in numbers_of(second)
        if earlier < later
    }
    return pairs | set(pairwise(constructing))


@dataclass(frozen=True)
class ByBolt(RelinkWay):
    """Lay out each relink of BOLT's input with the profile of the build; `about` are BOLT's figures on the build."""

    base: Path
    server: Path
    inputs: dict[int, Relink]
    about: BoltFacts
    lay_out: LayOut

    def steps(self, number: int, program: Path) -> Iterator[Relink]:
        relinked = self.inputs[number]
        if relinked.refused:
            raise ValueError(f"{self.base}: {relinked.refused}")
        relink = Relink(number, relinked.seed, relinked.order_sha256)
        yield relink
        install = kept_relinks.identity_of(self.base, number).parent / "install"
        profiled = self.lay_out(install / self.server, program).functions_profiled or 0
        usual = self.about.functions_profiled or 0
        if profiled < LEAST_PROFILED * usual:
            raise ValueError(f"BOLT found a profile for {profiled} of its functions, for {usual} of the build")
        yield replace(relink, functions_profiled=profiled)


def by_bolt(base: Path, about: BoltFacts, lay_out: LayOut, original: Original, _count: int) -> ByBolt:
    """Return the way to relink a server that BOLT laid out as often as its input, the build in the folder `base`.

    Raises ValueError if that one was not relinked.
    """
    record = kept_relinks.read_relinks(base)
    if record.refused:
        raise ValueError(f"{base}: {record.refused}")
    inputs = {relink.number: relink for relink in record.relinks}
    shared = replace(record, relinks=[])
    install = original.program.parents[1]
    server = original.program.relative_to(install)
    return ByBolt([*inputs], install.parent, shared, False, 0.0, base, server, inputs, about, lay_out)
