"""Orders of the objects of a link: which have to stay ahead of which others by its map (GNU ld's -Map), and the draw.

Two things depend on the order of objects beside addresses. Of a function that several objects hold (inline, of a
template), the linker keeps the first copy; copies can differ, as each unit inlines what it sees fit. And constructors
of static variables run in the order of the objects.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable

DISCARDED, KEPT = "\nDiscarded input sections\n", "\nLinker script and memory map\n"
# The section, its size, its object; a long name stands on a line of its own.
SECTION = re.compile(r"^ (\.\S+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S.*)$", re.M)
FUNCTION = re.compile(r"\.text(\.unlikely|\.hot|\.startup|\.exit)?\.(\S+)$")
CONSTRUCTORS = re.compile(r"\.(init_array|fini_array|ctors|dtors)\b")
# Each object is moved so often on average; after some 8 moves each, nothing is left of the order at the start.
MOVES_EACH = 12
# Symbol -> object -> part of the function -> bytes
Copies = dict[str, dict[str, dict[str, int]]]


def is_gnu_map(text: str) -> bool:
    """Return whether a map is GNU ld's: in that of another linker neither copies nor constructors are found."""
    return KEPT in text


def copy_pairs(text: str) -> list[tuple[str, str]]:
    """Return pairs of objects, named as in the map, of which the first has to stay ahead of the second.

    The linker kept the copy of some function in the first; that in the second has another size.
    """
    chosen, dropped = _copies(text.partition(KEPT)[2]), _copies(text.partition(DISCARDED)[2].partition(KEPT)[0])
    pairs = []
    for symbol, others in dropped.items():
        if len(chosen.get(symbol, {})) == 1:
            ((owner, parts),) = chosen[symbol].items()
            pairs += [(owner, other) for other, copied in others.items() if copied != parts and other != owner]
    return pairs


def with_constructors(text: str) -> set[str]:
    """Return the objects, named as in the map, with constructors or destructors of static variables."""
    sections = SECTION.findall(text.partition(KEPT)[2])
    return {name for section, size, name in sections if CONSTRUCTORS.match(section) and int(size, 16)}


def _copies(text: str) -> Copies:
    copies: Copies = defaultdict(lambda: defaultdict(dict))
    for section, size, name in SECTION.findall(text):
        if (part := FUNCTION.match(section)) and int(size, 16):
            copies[part[2]][name][part[1] or ""] = int(size, 16)
    return copies


def shuffled(count: int, ahead: Iterable[tuple[int, int]], seed: str) -> list[int]:
    """Return the numbers below `count` in an order drawn by `seed`, in which each pair of `ahead` keeps its order.

    `ahead` holds pairs (smaller, larger). One number after the other is put at a random place between those that it
    has to follow and those that it has to precede: every allowed order can come out, and all are equally likely in the
    limit (the walk is symmetric). A sort by random keys would put numbers with many pairs at the ends instead.
    """
    generator = random.Random(seed)
    smaller: list[list[int]] = [[] for _ in range(count)]
    larger: list[list[int]] = [[] for _ in range(count)]
    for first, second in set(ahead):
        smaller[second].append(first)
        larger[first].append(second)
    order, rank = list(range(count)), list(range(count))
    for _ in range(MOVES_EACH * count):
        number = generator.randrange(count)
        least = max((rank[other] + 1 for other in smaller[number]), default=0)
        most = min((rank[other] - 1 for other in larger[number]), default=count - 1)
        begin, end = rank[number], generator.randint(least, most)
        order.insert(end, order.pop(begin))
        for moved in range(min(begin, end), max(begin, end) + 1):
            rank[order[moved]] = moved
    return order
