"""What matplotlib writes becomes smaller without a change of what is seen."""

import re

from scripts.report.page.figures.drawing import INK_COLOUR, compact

WRITTEN = f"""<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg">
 <metadata>
  <a/>
 </metadata>
 <g id="text_12">
  <text style="font: 9.5px 'DejaVu Sans', 'Verdana', sans-serif; fill: {INK_COLOUR}" x="1.23456" y="2.00000001"
   transform="rotate(-0 1 2)">0.123456  id="text_1" {INK_COLOUR}</text>
 </g>
 <g id="dots-1">
  <path id="m1" d="M 1.006 2.5
L 10 -0.123456
"/>
  <use xlink:href="#m1" style="fill: url(#h1)"/>
 </g>
</svg>"""


def test_coordinates_have_two_decimals_and_text_keeps_its_own():
    made = compact(WRITTEN, "a")
    assert 'x="1.23" y="2"' in made
    assert "L 10 -0.12" in made
    assert f'>0.123456  id="text_1" {INK_COLOUR}<' in made


def test_ids_that_nothing_refers_to_go_and_others_belong_to_the_figure():
    made = compact(WRITTEN, "a b")
    assert 'id="text_12"' not in made
    for kept in ('id="a~20b.dots-1"', 'id="a~20b.m1"', 'xlink:href="#a~20b.m1"', "url(#a~20b.h1)"):
        assert kept in made


def test_names_that_differ_in_one_sign_give_different_ids():
    made = [set(re.findall(r'id="([^"]+\.[^"]+)"', compact(WRITTEN, name))) for name in ("a.b", "a_b", "a b", "a-b")]
    assert len(set.union(*made)) == sum(map(len, made)) > 0


def test_fonts_are_the_readers_and_so_is_the_ink():
    assert 'style="font: 9.5px sans-serif; fill: currentColor"' in compact(WRITTEN, "a")
    assert "metadata" not in compact(WRITTEN, "a")
