"""Relink a build: the same objects in other orders, so that a study can show what the luck of code layout does.

`relink_ways` has the two ways: the recorded link with its objects in another order, and BOLT on the relinks of its
input. A relink is refused, with its reason in the record, when its functions differ in symbol or size, when it needs
other libraries, or when too few functions have another address. A build never fails for its relinks.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.build.compilation import binary
from scripts.build.compilation.functions import Function, difference, functions_of, moved_share, needed_names
from scripts.build.relink import kept_relinks
from scripts.build.relink.kept_relinks import Relink, RelinkRecord, refusal
from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity
from scripts.lib.host.entry import say
from scripts.lib.recipe_models import BuildRecipe


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

    def compared(self, relink: Relink, program: Path, *, same_functions: bool, least_moved: float) -> Relink:
        """Return a relink with facts about its program. Raises ValueError with what refuses it."""
        functions = functions_of(program)
        if same_functions and (differs := difference(self.functions, functions)):
            raise ValueError(f"its functions are not those of the build: {differs}")
        if (needed := needed_names(program)) != self.needed:
            raise ValueError(f"it needs the libraries {needed}, the build {self.needed}")
        if (moved := moved_share(self.functions, functions)) <= least_moved:
            raise ValueError(f"{moved:.0%} of its functions have another address, expected more than {least_moved:.0%}")
        return replace(relink, functions=len(functions), moved_share=moved)


@dataclass(frozen=True)
class RelinkWay(ABC):
    """How a build is relinked: the numbers of its relinks, where they are made, and what is demanded of each.

    `shared` is the part of the record that all of them have in common; more than `least_moved` of the functions, a
    share, have to have another address.
    """

    numbers: Sequence[int]
    scratch: Path
    shared: RelinkRecord
    same_functions: bool
    least_moved: float

    @abstractmethod
    def steps(self, number: int, program: Path) -> Iterator[Relink]:
        """Make the program of a relink, and yield what is known of it after each step.

        Raises ValueError or CommandFailed with what refuses it.
        """


def relink_build(
    folder: Path,
    count: int,
    recipe: BuildRecipe,
    identity: BuildIdentity,
    prepare: Callable[[Original, int], RelinkWay],
) -> None:
    """Relink the installed server of a build `count` times, which is not at all unless it is a study's reference.

    `prepare` returns the way, of a program that is relinked so often, or raises ValueError or CommandFailed with the
    reason why there is none.
    """
    kept_relinks.clear(folder)
    if not count:
        return
    begin_s, record, relinks = time.monotonic(), RelinkRecord(), list[Relink]()
    program = folder / "install" / identity.server_file
    with refusal() as why:
        original = Original.of(program)
        way = prepare(original, count)
        record = way.shared
        relinks += [_relinked(folder, identity, way, original, number) for number in way.numbers]
    record = replace(
        record,
        server=recipe.server,
        build=recipe.build,
        stage=recipe.stage,
        sha256=json_record.file_sha256(program),
        refused=why.reason,
        relinks=relinks,
        wall_s=time.monotonic() - begin_s,
    )
    json_record.write_signed(folder / kept_relinks.RECORD, record.to_json())
    _say(record, count)


def _relinked(folder: Path, identity: BuildIdentity, way: RelinkWay, original: Original, number: int) -> Relink:
    """Make a relink and keep it, or the reason why not."""
    begin_s, relink, program = time.monotonic(), Relink(number), way.scratch / f"program{number}"
    try:
        with refusal() as why:
            for step in way.steps(number, program):
                relink = step
            relink = original.compared(relink, program, same_functions=way.same_functions, least_moved=way.least_moved)
            sha256, build_id = binary.identify(program)
            relink = replace(relink, sha256=sha256, build_id=build_id)
            kept_relinks.keep(folder, program, replace(identity, sha256=sha256, build_id=build_id, relink=number))
    finally:
        program.unlink(missing_ok=True)
    return replace(relink, refused=why.reason, wall_s=time.monotonic() - begin_s)


def _say(record: RelinkRecord, count: int) -> None:
    usable = sum(not relink.refused for relink in record.relinks)
    why = f": {record.refused}" if record.refused else ""
    say(f"[relink {record.server} {record.build}] {usable} of {count} in {record.wall_s:.0f} s{why}")
