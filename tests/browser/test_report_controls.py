"""What a reader does with a report in Chromium: sort, filter, unfold and copy; and what is left without scripts."""

import math
import re

import pytest

from tests.browser.chromium import Tab, opened

pytestmark = pytest.mark.slow

ROWS = "[...document.querySelectorAll('details.run')]"
SHOWN = f"{ROWS}.filter(row => row.checkVisibility())"
FIELDS = "row => [...row.querySelector('summary').children].map(field => field.textContent.trim())"
UNFOLD = "document.querySelectorAll('.folded > details, #where > details').forEach(each => { each.open = true; })"
FILTER = "document.querySelector('#runs input[type=search]')"
WHERE_FILTER = "document.querySelector('#where input[type=search]')"
WHERE_ROWS = "[...document.querySelectorAll('#where tbody tr')].filter(row => row.checkVisibility())"
STATE = "new Promise(done => setTimeout(done, 250)).then(() => location.hash)"

# headings of the table by workload that a click sorts by, behind workload, clients and variant
SORTABLE = """[...document.querySelector('#where table').tHead.querySelectorAll('th')].slice(3)
  .filter(head => getComputedStyle(head.querySelector('button') || head).cursor === 'pointer')"""
# the first column behind these
COLUMN = (
    "[...document.querySelectorAll('#where table')[0].tBodies[0].rows].map(row => row.cells[3].firstChild.textContent)"
)


def number(text: str) -> float:
    """Return the number a field shows, of `934 → 947` the second, minus infinity for none."""
    found = re.sub(r"[\u202f\u00a0 ,]", "", text.rpartition("→")[2])
    return float(found) if re.fullmatch(r"-?[0-9.]+", found) else -math.inf


def when(condition: str) -> str:
    """Return the JavaScript that waits until a condition holds."""
    return f"new Promise(done => {{ const look = () => ({condition}) ? done() : setTimeout(look, 20); look(); }})"


def copied_as(tab: Tab, form: str) -> str:
    """Press a table's button and return what the clipboard then holds. Raises ValueError when nothing was copied."""
    tab.browser.ask("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    tab.click(f"[...document.querySelectorAll('#where button')].find(one => /{form}/.test(one.textContent))")
    answered = "[...document.querySelectorAll('#where button')].find(one => /^(Copied|Refused)/.test(one.textContent))"
    tab.value(when(answered))
    said = tab.value(f"({answered}).textContent")
    if said != "Copied":
        raise ValueError(f"{form}: {said}")
    return tab.value("navigator.clipboard.readText()")


def test_runs_are_sorted_by_a_click_on_a_heading_and_the_other_way_by_a_second(browser, large_page):
    with opened(browser, large_page) as tab:
        tab.value(UNFOLD)
        heads = tab.value("[...document.querySelectorAll('.run.head > *')].map(head => head.textContent.trim())")
        column = next(place for place, head in enumerate(heads) if head.startswith("TPS"))
        for order in (1, -1):
            tab.click(f"document.querySelectorAll('.run.head > *')[{column}]")
            values = [number(fields[column]) for fields in tab.value(f"{ROWS}.map({FIELDS})")]
            measured = [value for value in values if value > -math.inf]
            assert len(values) == 500
            assert 400 < len(measured) < 500
            assert [order * value for value in measured] == sorted(order * value for value in measured)
        assert tab.complaints() == []


def test_runs_are_filtered_by_words_and_come_back(browser, large_page):
    with opened(browser, large_page) as tab:
        tab.value(UNFOLD)
        tab.write(FILTER, "pgo_lto oltp 8")
        left = tab.value(f"{SHOWN}.map({FIELDS})")
        assert 0 < len(left) < 30
        assert all({"pgo_lto", "oltp", "8"} <= set(fields) for fields in left)
        tab.write(FILTER, "no such run")
        assert tab.value(f"{SHOWN}.length") == 0
        tab.write(FILTER, "")
        assert tab.value(f"{SHOWN}.length") == 500


def test_run_unfolds_by_mouse_and_by_keyboard_to_its_seconds_and_commands(browser, small_page):
    with opened(browser, small_page) as tab:
        tab.value(UNFOLD)
        inside = f"{ROWS}[0].querySelector('pre').checkVisibility()"
        assert not tab.value(inside)
        tab.click(f"{ROWS}[0].querySelector('summary')")
        assert tab.value(inside)
        assert tab.value(f"{ROWS}[0].querySelector('svg').getBoundingClientRect().width") > 100
        tab.value(f"{ROWS}[0].querySelector('summary').focus()")
        tab.key("Enter")
        assert not tab.value(inside)


def test_all_runs_unfold_and_fold_at_once(browser, large_page):
    button = "[...document.querySelectorAll('button')].find(one => /fold all/i.test(one.textContent))"
    with opened(browser, large_page) as tab:
        tab.value(UNFOLD)
        for wanted in (500, 0):
            tab.click(button)
            assert tab.value(f"{ROWS}.filter(row => row.open).length") == wanted
        assert tab.complaints() == []


def test_without_scripts_everything_is_there_and_no_control_that_would_do_nothing(browser, small_page):
    with opened(browser, small_page, scripts=False) as tab:
        tab.value(UNFOLD)
        assert tab.value("document.querySelectorAll('button, input, select').length") == 0
        assert tab.value(f"{SHOWN}.length") == 6 * 2 * 3 * 5
        assert tab.value("document.querySelectorAll('[hidden]').length") == 0
        tab.click(f"{ROWS}[0].querySelector('summary')")
        assert tab.value(f"{ROWS}[0].querySelector('pre').checkVisibility()")


def test_table_is_sorted_by_a_click_on_a_heading_and_the_other_way_by_a_second(browser, small_page):
    with opened(browser, small_page) as tab:
        tab.value(UNFOLD)
        for order in (1, -1):
            tab.click(f"{SORTABLE}[0]")
            found = [number(text) for text in tab.value(COLUMN)]
            assert len(found) > 3
            assert [order * value for value in found] == sorted(order * value for value in found)
        assert tab.complaints() == []


def test_third_click_on_a_heading_brings_back_the_order_of_the_page(browser, small_page):
    with opened(browser, small_page) as tab:
        tab.value(UNFOLD)
        before = tab.value(COLUMN)
        for _ in range(3):
            tab.click(f"{SORTABLE}[0]")
        assert tab.value(COLUMN) == before
        assert tab.value("document.querySelectorAll('[aria-sort]').length") == 0


def test_tables_are_sorted_by_quantities_with_units(browser, small_page):
    with opened(browser, small_page) as tab:
        tab.value(UNFOLD)
        fill = """(texts => [...document.querySelector('#where table').tBodies[0].rows].forEach(
          (row, place) => { row.cells[3].firstChild.textContent = texts[place] ?? '–'; }))"""
        mixed = ["2 h 3 min", "59 s", "1.5 ms", "1 min 2 s", "10 µs", "2 h 10 min"]
        tab.value(f"{fill}({mixed!r})")
        tab.click(f"{SORTABLE}[0]")
        assert tab.value(COLUMN)[:6] == ["10 µs", "1.5 ms", "59 s", "1 min 2 s", "2 h 3 min", "2 h 10 min"]


def test_rows_of_a_table_are_filtered_by_words_and_only_these_are_copied(browser, small_page):
    with opened(browser, small_page) as tab:
        tab.value(UNFOLD)
        every = tab.value(f"{WHERE_ROWS}.length")
        tab.write(WHERE_FILTER, "pgo oltp")
        fields = "row => [...row.cells].slice(0, 3).map(cell => cell.textContent.trim())"
        assert tab.value(f"{WHERE_ROWS}.map({fields})") == [["oltp", clients, "pgo"] for clients in ("1", "8", "64")]
        assert tab.value("document.querySelector('#where output').textContent") == f"3 of {every} rows"
        copied = copied_as(tab, "TSV")
        assert len(copied.rstrip("\n").split("\n")) == 4
        tab.write(WHERE_FILTER, "")
        assert tab.value(f"{WHERE_ROWS}.length") == every
        assert tab.complaints() == []


def test_filter_stands_at_every_table_of_six_rows_and_headings_sort_all_but_builds(browser, small_page):
    with opened(browser, small_page) as tab:
        tables = "[...document.querySelectorAll('.scroll > table')]"
        long = f"{tables}.filter(table => table.tBodies[0].rows.length >= 6)"
        filtered = "table.parentElement.previousElementSibling?.matches('output')"
        assert tab.value(f"{long}.length") > 3
        assert tab.value(f"{long}.filter(table => !({filtered})).length") == 0
        unsorted = f"{long}.filter(table => !table.querySelector('thead th[tabindex]')).map(table => table.className)"
        assert set(tab.value(unsorted)) <= {"sided builds"}


def test_hash_keeps_sort_filter_and_folds_for_the_next_reader(browser, small_page):
    with opened(browser, small_page) as tab:
        assert tab.value(STATE) == ""
        tab.value("document.querySelector('#where > details').open = true")
        tab.value("document.querySelector('#runs > details').open = true")
        for _ in range(2):
            tab.click(f"{SORTABLE}[0]")
        tab.write(WHERE_FILTER, "pgo")
        tab.write(FILTER, "pgo_lto oltp 8")
        tab.click(f"{SHOWN}[2].querySelector('summary')")
        rows, runs = tab.value(f"{WHERE_ROWS}.map(row => row.textContent)"), tab.value(f"{SHOWN}.map({FIELDS})")
        state = tab.value(STATE)
        assert state.startswith("#?")
        assert {"sort.where.1=-4", "filter.where.1=pgo", "filter.runs=pgo_lto+oltp+8"} < set(state[2:].split("&"))
    with opened(browser, small_page, hash=state) as tab:
        assert tab.value(f"{WHERE_ROWS}.map(row => row.textContent)") == rows
        assert tab.value(f"{SHOWN}.map({FIELDS})") == runs
        assert tab.value(f"{SHOWN}.map(row => row.open)").count(True) == 1
        assert tab.value(f"{WHERE_FILTER}.value") == "pgo"
        assert tab.value(STATE) == state
        tab.click("document.querySelector('nav a[href=\"#method\"]')")
        assert tab.value(STATE) == f"#method{state[1:]}"
        assert tab.value("document.querySelector('#method pre').checkVisibility()")
        tab.value("history.back()")
        assert tab.value(STATE) == state
        assert tab.complaints() == []


def test_hash_of_another_page_or_by_hand_does_no_harm(browser, small_page):
    with opened(
        browser, small_page, hash="#nothing?sort.where.1=99&sort.gone.1=2&fold.runs=a-b,7000&filter.x=y&%"
    ) as tab:
        assert tab.value(f"{ROWS}.filter(row => row.open).length") == 0
        assert tab.value("document.querySelectorAll('[aria-sort]').length") == 0
        assert tab.complaints() == []


def test_table_is_copied_as_tab_separated_text_with_plain_numbers(browser, small_page):
    with opened(browser, small_page) as tab:
        tab.value(UNFOLD)
        copied = copied_as(tab, "TSV")
        rows = [line.split("\t") for line in copied.rstrip("\n").split("\n")]
        table = "document.querySelector('#where table')"
        assert len(rows) == tab.value(f"{table}.rows.length")
        assert len({len(row) for row in rows}) == 1
        heads = tab.value(f"[...{table}.rows[0].cells].map(cell => cell.textContent.trim())")
        assert [head for head in rows[0] if not head.endswith(", reference")] == heads
        assert rows[0][3:6] == ["TPS, reference", "TPS", "/ baseline"]
        assert rows[1][2] != "baseline"
        assert all(number(field) > 0 and field.isascii() for field in rows[1][3:])
        reference, value, ratio = map(float, rows[1][3:6])
        assert abs(value / reference - ratio) < 0.01
        assert tab.complaints() == []


def test_no_copied_field_is_a_formula_or_markup(browser, small_page):
    written = ["=1+1", "-x", "+cmd|' /C calc'!A0", "@SUM(1)", "'=1", "-5", "+1.5", "\u22125 %", "a=b", "![x](//y)"]
    with opened(browser, small_page) as tab:
        tab.value(UNFOLD)
        cells = "[...document.querySelectorAll('#where tbody tr')].map(row => row.cells[2])"
        tab.value(f"{written!r}.forEach((text, place) => {{ {cells}[place].textContent = text; }})")
        lines = copied_as(tab, "TSV").split("\n")[1:11]
        assert [line.split("\t")[2] for line in lines] == [
            *("'=1+1", "'-x", "'+cmd|' /C calc'!A0", "'@SUM(1)", "''=1", "-5", "+1.5", "-5 %", "a=b", "![x](//y)")
        ]
        assert r"| !\[x\](//y) |" in copied_as(tab, "Markdown")
        assert tab.complaints() == []


def test_table_is_copied_as_markdown_with_its_intervals(browser, small_page):
    with opened(browser, small_page) as tab:
        tab.value(UNFOLD)
        copied = copied_as(tab, "Markdown")
        lines = copied.rstrip("\n").split("\n")
        assert lines[0].startswith("| workload | clients | variant | TPS | / baseline |")
        assert lines[1] == "|" + "---|" * (lines[0].count("|") - 1)
        assert re.search(r"\| pgo \| [\d.]+ → [\d.]+ \| [\d.]+ \([\d.]+–[\d.]+\) \|", copied)
        assert "simple\\_select" in copied
        assert tab.complaints() == []


def test_link_to_a_folded_section_unfolds_it(browser, small_page):
    with opened(browser, small_page) as tab:
        inside = "document.querySelector('#method pre').checkVisibility()"
        assert not tab.value(inside)
        tab.click("document.querySelector('nav a[href=\"#method\"]')")
        assert tab.value(f"{when(inside)}.then(() => {inside})")
        assert tab.complaints() == []


def test_every_figure_has_a_link_that_leads_to_it(browser, small_page):
    with opened(browser, small_page) as tab:
        assert tab.value("document.querySelectorAll('figure:has(svg [id]):not([id])').length") == 0
        assert tab.value("document.querySelector('#figure-answer a').getAttribute('href')") == "#figure-answer"
        tab.click("document.querySelector('#figure-machine a')")
        assert tab.value("location.hash") == "#figure-machine"
        assert tab.complaints() == []
