"""Functions of a program by its symbol table: their sizes and addresses, and what two programs have in common."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.lib.host.process import output_of

TABLE = "Symbol table '.symtab'"
FUNCTION = re.compile(r"^ *\d+: ([0-9a-f]+) +(\d+|0x[0-9a-f]+) I?FUNC +\w+ +\w+ +(?:\[[^\]]*\] +)?\d+ (\S+)", re.M)
NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
SHOWN = 3


@dataclass(frozen=True)
class Function:
    """A function: its symbol, its size in bytes, its address."""

    symbol: str
    size: int
    address: int


def functions_of(program: Path) -> list[Function]:
    """Return the functions that a program defines. Raises ValueError when its symbols were stripped."""
    table = output_of(["readelf", "--symbols", "--wide", program]).partition(TABLE)[2]
    functions = [
        Function(match[3], int(match[2], 0), int(match[1], 16))
        for match in FUNCTION.finditer(table.partition("\nSymbol table ")[0])
    ]
    if not functions:
        raise ValueError(f"{program}: `readelf --symbols` shows no functions, expected a program with its symbols")
    return functions


def difference(expected: Sequence[Function], relinked: Sequence[Function]) -> str | None:
    """Return how the functions of two programs differ in symbol or size, None when they do not."""
    counts = [Counter((function.symbol, function.size) for function in functions) for functions in (expected, relinked)]
    missing, added = counts[0] - counts[1], counts[1] - counts[0]
    if not missing and not added:
        return None
    shown = [f"{sign}{symbol} ({size} bytes)" for sign, some in (("-", missing), ("+", added)) for symbol, size in
             sorted(some)[:SHOWN]]  # fmt: skip
    return f"{missing.total()} functions of {len(expected)} are missing and {added.total()} are new: {', '.join(shown)}"


def moved_share(expected: Sequence[Function], relinked: Sequence[Function]) -> float:
    """Return the share of functions at another address, of those whose symbol is unique in both programs."""
    places, others = _places(expected), _places(relinked)
    common = places.keys() & others.keys()
    return sum(places[symbol] != others[symbol] for symbol in common) / len(common) if common else 0.0


def _places(functions: Sequence[Function]) -> dict[str, int]:
    counts = Counter(function.symbol for function in functions)
    return {function.symbol: function.address for function in functions if counts[function.symbol] == 1}


def needed_names(program: Path) -> list[str]:
    """Return the names of the shared libraries that a program asks for, sorted."""
    return sorted(NEEDED.findall(output_of(["readelf", "--dynamic", "--wide", program])))
