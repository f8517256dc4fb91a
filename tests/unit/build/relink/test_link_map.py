"""Which objects have to stay ahead of others by the map of GNU ld 2.40, and the orders drawn among those that do."""

from collections import Counter
from itertools import pairwise, permutations

import pytest

from scripts.build.relink.link_map import copy_pairs, is_gnu_map, shuffled, with_constructors

MAP = """Archive member included to satisfy reference by file (symbol)

libx.a(b.o)                   a.o (b)

Discarded input sections

 .group         0x0000000000000000        0xc libx.a(b.o)
 .text._Z5mixedIlET_S0_
                0x0000000000000000       0x52 libx.a(b.o)
 .text._Z5mixedIlET_S0_
                0x0000000000000000       0x40 c.o
 .text.unlikely._Z4sameiE
                0x0000000000000000        0x9 c.o
 .text._Z4sameiE
                0x0000000000000000       0x10 c.o
 .text._Z5equalv
                0x0000000000000000       0x20 c.o
 .text.gone     0x0000000000000000       0x20 d.o
 .rodata._ZTS1A
                0x0000000000000000        0x3 c.o

Memory Configuration

Name             Origin             Length             Attributes
*default*        0x0000000000000000 0xffffffffffffffff

Linker script and memory map

LOAD a.o
LOAD libx.a
                0x0000000000000000                PROVIDE (__executable_start = SEGMENT_START ("text-segment", 0x0))

.text           0x0000000000001060      0x6f1
 *(.text.unlikely .text.*_unlikely .text.unlikely.*)
 .text          0x0000000000001060       0x26 a.o
 .text._Z5mixedIlET_S0_
                0x0000000000001090       0x40 a.o
 .text._Z4sameiE
                0x00000000000010d0       0x10 a.o
 .text._Z5equalv
                0x00000000000010e0       0x20 libx.a(b.o)

.init_array     0x0000000000003d98       0x18
 *(.init_array EXCLUDE_FILE(*crtend?.o *crtend.o *crtbegin?.o *crtbegin.o) .ctors)
 .init_array    0x0000000000003d98        0x8 /usr/lib/crtbeginS.o
 .init_array    0x0000000000003da0        0x8 c.o
 .init_array.00101
                0x0000000000003da8        0x8 libx.a(b.o)
 .ctors         0x0000000000003db0        0x0 d.o
"""


def test_owner_of_the_kept_copy_stays_ahead_of_objects_with_another_one():
    # mixed: 0x40 and 0x52 bytes; same: only the copy of c.o has a cold part; equal: equal copies.
    assert copy_pairs(MAP) == [("a.o", "libx.a(b.o)"), ("a.o", "c.o")]


def test_objects_with_constructors_of_static_variables_are_known():
    assert with_constructors(MAP) == {"/usr/lib/crtbeginS.o", "c.o", "libx.a(b.o)"}


def test_map_of_another_linker_is_told_apart():
    assert is_gnu_map(MAP)
    assert not is_gnu_map("             VMA              LMA     Size Align Out     In      Symbol\n")


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
