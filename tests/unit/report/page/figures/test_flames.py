"""Samples by function and as a flame graph: counted once for each stack, as wide as their share, nothing unescaped."""

import math
import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from scripts.measure.engine import tracer
from scripts.report.page.figures.flames import (
    GRAPH_WIDTH,
    NARROWEST,
    SampledStacks,
    Samples,
    draw_flame_graph,
    profile_difference,
    samples_of,
)
from tests.made.diagnoses import stacks

ODD = "operator<<<a&b>\"'</svg><script>"


def samples(counts, cpu_us=100.0):
    return samples_of(SampledStacks.of(tracer.stack_facts(Counter(counts), "cpu-clock")), cpu_us)


def graph(*arguments):
    return ElementTree.fromstring(draw_flame_graph(*arguments))


def boxes(svg):
    """Return title -> (left, bottom row, width, class) of every box."""
    found = {}
    for group in svg:
        rect = group.find("rect")
        place = (float(rect.get("x")), float(rect.get("y")), float(rect.get("width")), group.get("class"))
        found[group.find("title").text] = place
    return found


def of(svg, name):
    (found,) = (place for title, place in boxes(svg).items() if title.startswith(f"{name}"))
    return found


def test_own_and_whole_time_are_counted_by_function_and_module():
    one = samples(stacks(4000, 3000, 3000), cpu_us=200.0)
    assert one.total == 10_000
    assert one.own == {"parse": 4000, "memcmp": 3000, "vfs_write": 3000}
    assert one.whole["do_command"] == 10_000
    assert one.whole["row_search"] == 3000
    assert one.modules == {"mariadbd": 4000, "libc.so.6": 3000, "kernel": 3000}
    assert one.microseconds(one.own["parse"]) == pytest.approx(80.0)


def test_function_that_calls_itself_counts_once_for_each_stack():
    loop = (("thread", ""), ("walk", "m"), ("walk", "m"), ("walk", "m"))
    one = Samples(((loop, 7),), 1.0)
    assert (one.whole["walk"], one.own["walk"]) == (7, 7)


@pytest.mark.parametrize(
    "name",
    [
        "f.constprop.0",
        "f.isra.0.cold",
        "f.part.12",
        "f.lto_priv.3",
        "f [clone .constprop.0]",
        "f/1",
        "f.cold.0/2",
        "f@@GLIBC_2.34",
        "f",
    ],
)
def test_copies_that_a_compiler_makes_of_a_function_are_one_function(name):
    stack = (("thread", ""), (name, "m"))
    one = samples_of(SampledStacks(list(stack), {"0 1": 1}), 1.0)
    assert list(one.own) == ["f"]


@pytest.mark.parametrize("name", ["f.o", "ns::f", "operator/", "a.b"])
def test_names_that_only_look_like_copies_stay(name):
    assert list(samples_of(SampledStacks([("t", ""), (name, "m")], {"0 1": 1}), 1.0).own) == [name]


def test_difference_is_time_with_the_interval_of_two_counts():
    ours, theirs = samples(stacks(1000, 3000, 2000), 60.0), samples(stacks(4000, 3000, 2000), 90.0)
    found = profile_difference(ours, 1000, theirs, 4000)
    assert found.us == pytest.approx(10.0 - 40.0)
    assert found.half_us == pytest.approx(1.96 * 0.01 * math.sqrt(5000))
    assert found.shown
    assert not profile_difference(ours, 3000, theirs, 3010).shown


def test_boxes_are_as_wide_as_their_share_and_lie_on_their_callers():
    svg = graph(samples(stacks(5000, 3000, 2000)), "flames", "mariadbd")
    whole, command = of(svg, "all"), of(svg, "do_command")
    assert whole[:1] + whole[2:3] == (0, GRAPH_WIDTH)
    assert command[2] == GRAPH_WIDTH
    assert (of(svg, "parse")[2], of(svg, "row_search")[2], of(svg, "vfs_write")[2]) == (500, 300, 200)
    assert of(svg, "parse")[1] < command[1] < whole[1]
    assert [of(svg, name)[0] for name in ("log_write", "parse", "row_search")] == [0, 200, 700]


def test_boxes_are_coloured_by_whose_code_they_are():
    svg = graph(samples(stacks(5000, 3000, 2000)), "flames", "mariadbd")
    assert [of(svg, name)[3] for name in ("connection", "parse", "memcmp", "vfs_write")] == [
        "thread",
        "server",
        "library",
        "kernel",
    ]


def test_beside_a_reference_boxes_are_coloured_by_what_changed_beyond_counting():
    theirs = samples(stacks(4000, 3000, 2000), 90.0)
    svg = graph(samples(stacks(1000, 3000, 2020), 60.2), "flames", "mariadbd", theirs)
    assert of(svg, "parse")[3] == "less3"
    assert of(svg, "row_search")[3] == "same"
    title = next(title for title in boxes(svg) if title.startswith("parse"))
    assert re.search(r"; −30\.\d ± \d\.\d\d µs against the reference$", title)
    assert of(graph(theirs, "flames", "mariadbd", samples(stacks(1000, 3000, 2000), 60.0)), "parse")[3] == "more3"


def test_what_is_too_narrow_is_left_out():
    few = round(NARROWEST / GRAPH_WIDTH * 10_000) - 1
    svg = graph(samples(stacks(10_000 - few, few, 0)), "flames", "mariadbd")
    assert not [title for title in boxes(svg) if title.startswith("row_search")]


def test_names_from_outside_are_no_markup():
    svg = draw_flame_graph(samples({(("thread", ""), (ODD, ODD)): 5}), ODD, "x")
    assert ODD not in svg
    assert of(ElementTree.fromstring(svg), ODD)[2] == GRAPH_WIDTH


def test_stacks_deeper_than_pythons_are_drawn():
    deep = (("thread", ""), *((f"f{number}", "m") for number in range(3000)))
    assert len(graph(samples({deep: 1}), "flames", "m")) == 3002
