"""The study's options as each server has them, for the page: what is renamed, what a release lacks."""

from typing import Any

from scripts import families
from scripts.run_details import first_ok
from scripts.tables import fact
from scripts.value_tables import Cell
from scripts.wording import NOTHING

LOOSE = "loose_"  # before the name of an option that a server of the MySQL family need not have


def rows(study: dict[str, Any], records: list[tuple[str, dict]]) -> list[tuple[str, tuple[Cell, ...]]]:
    """Return the options that not every variant has by the name they are written with: a field a variant."""
    runs = {name: first_ok(records, variant=name) for name in study["variants"]}
    given = {name: variant.get("options") or {} for name, variant in study["variants"].items()}
    names = dict.fromkeys(name for options in given.values() for name in options)
    found = [(name, tuple(_field(name, given[arm], runs[arm]) for arm in study["variants"])) for name in names]
    return [(name.removeprefix(LOOSE), cells) for name, cells in found if any(cell.notes for cell in cells)]


def _field(name: str, options: dict[str, Any], run: dict[str, Any] | None) -> Cell:
    """Return what a variant's server has of an option; only what is not as written has a note."""
    family, release = (fact(run or {}, f"server.{key}") for key in ("family", "release"))
    if name not in options or family not in families.MODULES or release is None:
        return Cell(NOTHING)
    variables, plain = run.get("variables") or {}, name.removeprefix(LOOSE)
    module = families.of(family)
    own = module.options_named({name: options[name]}, release).keys() - module.options_named({}, release).keys()
    known = {each.removeprefix(LOOSE) for each in own}
    if not known & variables.keys() and plain in variables:
        known = {plain}  # an option whose variable has kept its older name
    if not known or (LOOSE in name and not known & variables.keys()):
        return Cell(NOTHING, ("not in this release",), "hole")
    values = [str(variables.get(each, options[name])) for each in sorted(known)]
    return Cell(", ".join(values), () if plain in known else (f"as {', '.join(sorted(known))}",))
