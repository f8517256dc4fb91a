"""The order of arms in the rounds of a block: every arm has each place, and follows each other one, equally often."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise


def williams_square(size: int) -> list[list[int]]:
    """Return rows of a Latin square balanced for first-order carry-over: one for an even size, two for an odd one.

    Each number stands in each place once per square, and directly behind each other number equally often over all
    rows. E. J. Williams, Australian Journal of Scientific Research A 2 (1949), 149-168.
    """
    first = [(position // 2 + 1) if position % 2 else (-(position // 2)) % size for position in range(size)]
    rows = [[(number + shift) % size for number in first] for shift in range(size)]
    return rows if size % 2 == 0 else rows + [row[::-1] for row in rows]


def orders(arms: Sequence[str], rounds: int, seed: int | str) -> Iterator[list[str]]:
    """Yield the order of arms in each round: Williams squares, whose rows and arms the seed permutes anew each time."""
    draw, remaining = random.Random(seed), rounds
    while remaining > 0:
        names, rows = list(arms), williams_square(len(arms))
        draw.shuffle(names)
        draw.shuffle(rows)
        for row in rows[:remaining]:
            yield [names[number] for number in row]
        remaining -= len(rows)


def places(drawn: Sequence[Sequence[str]]) -> Counter[tuple[str, int]]:
    """Count how often each arm had each place, from 0."""
    return Counter((arm, number) for order in drawn for number, arm in enumerate(order))


def predecessors(drawn: Sequence[Sequence[str]]) -> Counter[tuple[str, str]]:
    """Count how often each arm directly followed another within a round, as (before, arm)."""
    return Counter(pair for order in drawn for pair in pairwise(order))
