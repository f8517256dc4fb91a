"""Nothing from outside becomes an element, an attribute or an expression: in the page, its figures, the summary."""

import shlex

import pytest

from scripts.lib.visible import ODD, visible
from tests.made import spoilt
from tests.made.rendering import Elements
from tests.made.spoilt import MARK, NAME_MARK

# where a text comes from: what stands before the markup
TEXTS = {
    "title": "MariaDB 10.11, plain and profile-guided",
    "question": "under the four published loads?",
    "config text": "clients: [1, 8]\n",
    "script of a workload": "oltp_read_only",
    "option of a workload": "range_selects",
    "reason of a failed run": "server died with signal 11 during warm-up",
    "option file": "skip-networking\n",
    "name of a server variable": "innodb_buffer_pool_size",
    "value of a server variable": "1073741824",
    "machine": "AMD EPYC 7B13",
    "kernel": "6.1.0-40-amd64",
    "function of the audit": "row<1>",
    "unit of the audit": "sql/x.cc",
    "reason of the audit": "no counters file found",
    "name of a counters file": "#build2#sql#x.cc.gcda",
    "compiler": "gcc 12.2.0",
    "origin of a source": "source package mariadb 1:10.11.18-0+deb12u1",
    "file of a source": "mariadb_10.11.18.orig.tar.gz",
    "checksum of a source": "d1" * 32,
}
# shown as a shell would take them
ARGUMENTS = {
    "command line": "--defaults-file=my.cnf",
    "compile argument": "-fPIC",
    "configure command": "-DWITH_SSL=system",
}
NAMES = ("baseline", "pgo_lto", "simple_select", "sbtest", "mixed")


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    return spoilt.report(tmp_path_factory.mktemp("odd"))


@pytest.fixture(scope="module")
def elements(odd):
    return Elements(odd[1])


def test_no_element_or_attribute_comes_of_a_text(elements):
    assert not elements.names() & {"img", "iframe", "object", "embed", "form"}
    attributes = [(tag, name) for tag, found in elements.found for name in found]
    assert not [each for each in attributes if each[1].startswith("on")]
    assert "odd" not in [found.get("id") for _, found in elements.found]
    assert [tag for tag, _ in elements.found].count("script") == 1


def test_page_summary_and_figures_hold_nothing_that_a_terminal_obeys(odd):
    tree, page, summary = odd
    figures = [path.read_text(encoding="utf-8") for path in tree.figures.glob("*.svg")]
    assert len(figures) > 5
    for text in (page, summary, *figures):
        assert not ODD.search(text)
    assert r"\x1b[2J\x9bm\x07\x00\u202e" in page
    assert r"\x1b\[2J\x9bm\x07\x00\u202e" in summary


def test_no_link_leads_out_of_the_folder(elements):
    links = [found["href"] for tag, found in elements.found if tag == "a"]
    assert links
    assert not [link for link in links if ":" in link or link.startswith("//")]


@pytest.mark.parametrize("place", TEXTS)
def test_text_from_outside_is_shown_letter_by_letter(elements, place):
    assert " ".join(visible(TEXTS[place] + MARK).split()) in elements.said()


@pytest.mark.parametrize("place", ARGUMENTS)
def test_argument_from_outside_is_shown_as_a_shell_takes_it(elements, place):
    assert visible(shlex.quote(ARGUMENTS[place] + MARK)) in elements.said()


@pytest.mark.parametrize("name", NAMES)
def test_name_is_shown_letter_by_letter_in_page_and_figures(elements, name):
    assert name + NAME_MARK in elements.said()


def test_figures_show_names_letter_by_letter(odd):
    tree, _, _ = odd
    figures = {path.name: path.read_text(encoding="utf-8") for path in tree.figures.glob("*.svg")}
    assert any("oltp" + NAME_MARK in Elements(text).said() for text in figures.values())
    for name, text in figures.items():
        assert not Elements(text).names() & {"img", "b", "script"}, name


def test_no_expression_is_evaluated(odd):
    assert "{{7*7}}" in odd[1]
    assert "{{7\\*7}}" in odd[2]


def test_summary_shows_markup_as_text(odd):
    assert "&lt;img src=x onerror=alert(1)&gt;" in odd[2]
    assert "<img" not in odd[2]
    assert "</script>" not in odd[2]
