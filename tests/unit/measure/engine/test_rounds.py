"""Orders of arms in rounds are balanced for places and predecessors, and follow the seed."""

import pytest

from scripts.measure.engine.rounds import orders, places, predecessors, williams_square


@pytest.mark.parametrize("size", range(2, 9))
def test_square_has_each_arm_in_each_place_and_behind_each_other_equally_often(size):
    square = williams_square(size)
    assert len(square) == (size if size % 2 == 0 else 2 * size)
    assert {tuple(sorted(row)) for row in square} == {tuple(range(size))}
    drawn = [[str(number) for number in row] for row in square]
    assert set(places(drawn).values()) == {len(square) // size}
    assert len(predecessors(drawn)) == size * (size - 1)
    assert len(set(predecessors(drawn).values())) == 1


@pytest.mark.parametrize("rounds", [1, 7, 48, 50])
def test_drawn_orders_are_as_many_as_asked_and_nearly_balanced(rounds):
    arms = ["baseline", "aa", "pgo", "lto"]
    drawn = list(orders(arms, rounds, seed=3))
    assert len(drawn) == rounds
    assert all(sorted(order) == sorted(arms) for order in drawn)
    counts = [places(drawn)[arm, place] for arm in arms for place in range(4)]
    # A square that is cut off misses an arm in a place at most once.
    assert max(counts) - min(counts) <= 1


def test_seed_alone_decides_the_order():
    arms = ["a", "b", "c"]
    assert list(orders(arms, 20, seed=1)) == list(orders(arms, 20, seed=1))
    assert list(orders(arms, 20, seed=1)) != list(orders(arms, 20, seed=2))
    assert list(orders(["a"], 2, seed=1)) == [["a"], ["a"]]
