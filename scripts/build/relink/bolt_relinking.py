"""Relinks of a server that BOLT laid out: the relinks of BOLT's input, each laid out with the same profile.

BOLT puts functions with a profile into an order of its own, whatever their order in its input, and keeps the order of
the others. What is left of the luck of layout is smaller, and that is what these relinks show: some function has to
have moved, not most of them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.build.relink import kept_relinks
from scripts.build.relink.relink_server import Original, Relinks
from scripts.lib.host.process import Usage

# The profile names local functions by their file and by a number that follows the order of objects: some get lost.
LEAST_PROFILED = 0.95
FROM_INPUT = ("lto", "repeated", "objects", "from_archives", "archives_whole", "pairs_kept")
# Lays out the first program as the second; returns what it took, and BOLT's figures about the profile.
LayOut = Callable[[Path, Path], tuple[Usage, dict[str, Any]]]


def bolt_relinks(relinks: Relinks, base: Path, about: dict[str, Any], lay_out: LayOut) -> None:
    """Lay out the relinks of `base`, the folder of BOLT's input, and write `relinked.json`.

    `about` are BOLT's figures about the profile of the build itself.
    """
    with relinks.recorded():
        known, original = kept_relinks.read_relinks(base), Original.of(relinks.original)
        if known["refused"]:
            raise ValueError(f"{base}: {known['refused']}")
        relinks.facts |= {key: known[key] for key in FROM_INPUT}
        for one in known["relinks"]:
            relinks.add(one["number"], _maker(one, base, about, original, lay_out))


def _maker(
    one: dict[str, Any], base: Path, about: dict[str, Any], original: Original, lay_out: LayOut
) -> Callable[[dict[str, Any]], Path]:
    def make(facts: dict[str, Any]) -> Path:
        if one["refused"]:
            raise ValueError(f"{base}: {one['refused']}")
        server = original.program.relative_to(original.program.parents[1])
        made = original.program.parents[2] / f"relink{one['number']}"
        facts |= {key: one[key] for key in ("seed", "order_sha256")}
        try:
            _, profiled = lay_out(kept_relinks.identity_of(base, one["number"]).parent / "install" / server, made)
            demand_profiled(profiled, about)
            facts |= {"functions_profiled": profiled["functions_profiled"]}
            facts |= original.compare(made, same_functions=False, least_moved=0)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
        return made

    return make


def demand_profiled(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise ValueError when BOLT had a profile for clearly fewer functions than in the build itself."""
    functions, usual = found["functions_profiled"], expected["functions_profiled"]
    if functions < LEAST_PROFILED * usual:
        raise ValueError(f"BOLT found a profile for {functions} of its functions, for {usual} of the build")
