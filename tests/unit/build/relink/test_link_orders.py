"""Seeded orders: permutations that keep the pairs they have to, all of them equally likely."""

from collections import Counter
from itertools import pairwise, permutations

import pytest

from scripts.build.relink.link_orders import shuffled


def test_order_is_a_permutation_that_its_seed_alone_decides():
    order = shuffled(200, [], "x/1")
    assert sorted(order) == list(range(200)) != order
    assert order == shuffled(200, [], "x/1") != shuffled(200, [], "x/2")


def test_pairs_keep_their_order():
    ahead = [(0, 7), (0, 9), (3, 4), (4, 9), *pairwise(range(20, 60, 3))]
    for seed in range(20):
        place = {number: at for at, number in enumerate(shuffled(60, ahead, str(seed)))}
        assert all(place[first] < place[second] for first, second in ahead)


@pytest.mark.parametrize("ahead", [[], [(0, 1)], [(0, 1), (1, 3)], [(0, 2), (1, 2)]])
def test_every_allowed_order_of_four_is_as_likely_as_the_others(ahead):
    allowed = [order for order in permutations(range(4)) if all(order.index(a) < order.index(b) for a, b in ahead)]
    found = Counter(tuple(shuffled(4, ahead, str(seed))) for seed in range(200 * len(allowed)))
    assert set(found) == set(allowed)
    assert all(130 < count < 280 for count in found.values())


def test_one_object_has_one_order():
    assert shuffled(1, [], "x") == [0]
