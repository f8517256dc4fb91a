"""Seeded orders of the objects of a link, among those that leave the program's functions as they are."""

import random
from collections.abc import Iterable

# Each object is moved so often on average; after some 8 moves each, nothing is left of the order at the start.
MOVES_EACH = 12


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
    order, place = list(range(count)), list(range(count))
    for _ in range(MOVES_EACH * count):
        number = generator.randrange(count)
        least = max((place[other] + 1 for other in smaller[number]), default=0)
        most = min((place[other] - 1 for other in larger[number]), default=count - 1)
        begin, end = place[number], generator.randint(least, most)
        order.insert(end, order.pop(begin))
        for moved in range(min(begin, end), max(begin, end) + 1):
            place[order[moved]] = moved
    return order
