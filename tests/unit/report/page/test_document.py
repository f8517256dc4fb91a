"""A table is one thing in HTML, Markdown and on a terminal; the navigation of a page is its list of sections."""

import re

from scripts.report.page.document import (
    Cell,
    Fold,
    Head,
    Heading,
    Page,
    PageBlock,
    Prose,
    Section,
    Table,
    grid,
    table_row,
    variant_cell,
    word_heads,
)
from scripts.report.page.render import TEMPLATES, markdown, render_page

TABLE = Table(
    (*word_heads("variant"), Head("TPS")),
    (table_row(variant_cell("pgo"), Cell("1.30", ("1.2–1.4", "n 5"), "good", "p 0.01")), table_row("a_b", "<1>")),
)


def html(*blocks, sections=()):
    return render_page(Page("A page", blocks, sections, {"pgo": "#123456"}))


def test_table_in_html_has_heads_states_hints_notes_and_the_colours_of_variants():
    page = " ".join(html(TABLE).split())
    assert '<th scope="col" class="text">variant</th><th scope="col">TPS</th>' in page
    assert '<th scope="row"><span class="swatch" style="background:#123456"></span>pgo</th>' in page
    assert '<td class="good" title="p 0.01">1.30<small>1.2–1.4</small><small>n 5</small></td>' in page
    assert '<td class="">&lt;1&gt;</td>' in page


def test_table_in_markdown_has_notes_in_its_fields_and_is_escaped():
    assert TABLE.markdown(markdown).splitlines() == [
        "| variant | TPS |",
        "|---|---|",
        "| pgo | 1.30 (1.2–1.4, n 5) |",
        "| a\\_b | &lt;1&gt; |",
    ]


def test_table_on_a_terminal_has_columns():
    assert list(TABLE.lines()) == ["variant  TPS", "pgo      1.30 (1.2–1.4, n 5)", "a_b      <1>"]


def test_navigation_is_the_list_of_sections_that_have_a_name_in_it():
    sections = [Section("one", "First", [], "1st"), Section("two", "Second", []), Section("three", "Third", [], "3rd")]
    page = html(sections=sections)
    assert re.findall(r'<a href="#(.*?)">(.*?)</a>', page.split("</nav>")[0]) == [("one", "1st"), ("three", "3rd")]
    assert re.findall(r'<section id="(.*?)"', page) == ["one", "two", "three"]


def test_blocks_inside_a_fold_are_drawn_in_order_and_what_follows_it_too():
    inner = Fold("inside", [grid(("a",), [["1"]])], is_open=True)
    page = html(Fold("outside", [Prose("before"), inner, Prose("after", "quiet")]), Heading("next", id="x"))
    page = page.partition("<body>")[2]
    order = ["outside", "before", "<details open><summary>inside", "<td", "after", '<h3 id="x">next']
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert page.count("</details>") == 2


def test_every_kind_of_block_has_a_partial():
    kinds = {kind.__name__.lower() for kind in PageBlock.__subclasses__()}
    assert len(kinds) > 10
    assert not [kind for kind in kinds if not (TEMPLATES / "blocks" / f"{kind}.html.j2").is_file()]


def test_text_of_a_block_is_escaped_wherever_it_stands():
    odd = "<script>alert(1)</script>"
    page = html(Prose(odd), Heading(odd), Fold(odd, [grid((odd,), [[odd]])]), sections=[Section("x", odd, [], odd)])
    assert odd not in page
    assert page.count("&lt;script&gt;alert(1)") == 7
