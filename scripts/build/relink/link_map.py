"""The map of a link (GNU ld's -Map): which objects have to stay ahead of which others when their order changes.

Two things depend on the order of objects beside addresses. Of a function that several objects hold (inline, of a
template), the linker keeps the first copy; copies can differ, as each unit inlines what it sees fit. And constructors
of static variables run in the order of the objects.
"""

import re
from collections import defaultdict

DISCARDED, KEPT = "\nDiscarded input sections\n", "\nLinker script and memory map\n"
# The section, its size, its object; a long name stands on a line of its own.
SECTION = re.compile(r"^ (\.\S+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S.*)$", re.M)
FUNCTION = re.compile(r"\.text(\.unlikely|\.hot|\.startup|\.exit)?\.(\S+)$")
CONSTRUCTORS = re.compile(r"\.(init_array|fini_array|ctors|dtors)\b")
# Symbol -> object -> part of the function -> bytes
Copies = dict[str, dict[str, dict[str, int]]]


def is_gnu_map(text: str) -> bool:
    """Return whether a map is GNU ld's: in that of another linker neither copies nor constructors are found."""
    return KEPT in text


def copy_pairs(text: str) -> list[tuple[str, str]]:
    """Return pairs of objects, named as in the map, of which the first has to stay ahead of the second.

    The linker kept the copy of some function in the first; that in the second has another size.
    """
    kept, dropped = _copies(text.partition(KEPT)[2]), _copies(text.partition(DISCARDED)[2].partition(KEPT)[0])
    found = []
    for symbol, others in dropped.items():
        if len(kept.get(symbol, {})) == 1:
            ((owner, parts),) = kept[symbol].items()
            found += [(owner, other) for other, own in others.items() if own != parts and other != owner]
    return found


def with_constructors(text: str) -> set[str]:
    """Return the objects, named as in the map, with constructors or destructors of static variables."""
    sections = SECTION.findall(text.partition(KEPT)[2])
    return {name for section, size, name in sections if CONSTRUCTORS.match(section) and int(size, 16)}


def _copies(text: str) -> Copies:
    found: Copies = defaultdict(lambda: defaultdict(dict))
    for section, size, name in SECTION.findall(text):
        if (part := FUNCTION.match(section)) and int(size, 16):
            found[part[2]][name][part[1] or ""] = int(size, 16)
    return found
