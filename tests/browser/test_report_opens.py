"""Reports as they come out: in Chromium, wide and narrow, light and dark, and on paper."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from scripts.lib.visible import visible
from tests.browser.chromium import opened
from tests.made import spoilt

pytestmark = pytest.mark.slow

PAGES = ("small_page", "large_page", "imported_page", "odd_page")
LOOKS = [(width, dark) for width in (1280, 400) for dark in (False, True)]
A4_POINTS = (594.96, 841.92)
FAINT, WIDE = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("faint.js", "wide.js"))
IDS = "[...document.querySelectorAll('[id]')].map(one => one.id)"


@pytest.fixture
def page(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("page", PAGES, indirect=True)
@pytest.mark.parametrize(("width", "dark"), [LOOKS[0], LOOKS[-1]])
def test_page_opens_without_complaint_request_or_overflow(browser, page, width, dark):
    with opened(browser, page, width, dark) as tab:
        assert tab.complaints() == []
        assert tab.requests() == []
        assert tab.value(WIDE) == []
        assert tab.value("document.documentElement.scrollWidth") <= width


FIGURE = (
    "[...document.querySelectorAll('.answer-figure svg')].find(one => one.checkVisibility()).getBoundingClientRect()"
)
WORDS = "document.body.innerText.split(/\\s+/).length"
# the sample, four workloads and six arms, is to be read in six screens
SAMPLE = Path(__file__).parents[2] / "docs" / "sample-report.html"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_figure_of_the_answer_stands_whole_on_the_first_screen_and_begins_on_a_phones(browser, dark):
    with opened(browser, SAMPLE, dark=dark) as tab:
        assert 0 < tab.value(f"{FIGURE}.top") < tab.value(f"{FIGURE}.bottom") <= 800
    with opened(browser, SAMPLE, width=390, dark=dark) as tab:
        assert tab.value(f"{FIGURE}.top") < 700
        assert tab.value(f"{FIGURE}.right") <= 390


def test_sample_is_read_in_six_screens_and_1500_words_and_printed_on_eight_pages(browser, pictures):
    assert SAMPLE.stat().st_size < 1_000_000
    with opened(browser, SAMPLE) as tab:
        assert tab.value("document.documentElement.scrollHeight") <= 6 * 800
        assert tab.value(WORDS) <= 1500
    with opened(browser, SAMPLE, width=688, media="print") as tab:
        tab.pdf(file := pictures / "sample.pdf")
    assert len(pages(file)) <= 8


def test_report_of_500_runs_is_smaller_than_5_mb(large_page):
    assert large_page.stat().st_size < 5e6


def test_complaints_and_requests_would_be_heard(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://127.0.0.1:9/x.png"><script>console.error("woe"); throw Error("oh")</script>')
    with opened(browser, bad) as tab:
        complaints = tab.complaints()
        assert any("woe" in text for text in complaints)
        assert any("Error: oh" in text for text in complaints)
        assert tab.requests() == ["http://127.0.0.1:9/x.png"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_stands_out_from_its_background(browser, small_page, dark):
    with opened(browser, small_page, dark=dark) as tab:
        tab.value("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        assert tab.value(FAINT) == []


def test_markup_from_outside_makes_no_element_and_runs_nothing(browser, odd_page):
    with opened(browser, odd_page) as tab:
        assert tab.value("document.querySelectorAll('img, iframe, object, embed, form, #odd').length") == 0
        assert tab.value("document.scripts.length") == 1
        attributes = "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames())"
        assert tab.value(f"{attributes}.filter(name => name.startsWith('on'))") == []
        assert tab.value(f"document.title.endsWith({json.dumps(visible(spoilt.MARK))})")
        assert not [event for event in browser.heard(tab.session) if event["method"] == "Page.javascriptDialogOpening"]


def test_ids_are_unique_and_every_link_within_the_page_leads_somewhere(browser, small_page):
    with opened(browser, small_page) as tab:
        assert tab.value(f"(ids => ids.filter((id, place) => ids.indexOf(id) < place))({IDS})") == []
        links = "[...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.getAttribute('href').slice(1))"
        assert len(tab.value(links)) > 5
        assert tab.value(f"{links}.filter(id => !document.getElementById(decodeURIComponent(id)))") == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_picture_of_the_page_is_not_blank(browser, small_page, pictures, width, dark):
    file = pictures / f"report-{width}-{'dark' if dark else 'light'}.png"
    with opened(browser, small_page, width, dark) as tab:
        tab.screenshot(file)
    told = imread(file)[:, :, :3]
    assert told.shape[1] == width
    assert told.shape[0] > 2000
    assert (np.median(told) < 0.3) == dark
    for part in np.array_split(told, 8):
        assert 0.005 < np.mean(np.abs(part - np.median(part, axis=(0, 1))).max(axis=2) > 0.2) < 0.6


@pytest.mark.parametrize(("page", "most"), [("small_page", 60), ("large_page", 150)], indirect=["page"])
def test_page_is_printed_on_a4_without_controls_or_loss_at_the_right(browser, page, most, pictures):
    file = pictures / f"{page.parent.name}.pdf"
    with opened(browser, page, width=688, media="print") as tab:
        controls = "[...document.querySelectorAll('button, input')].filter(one => one.checkVisibility())"
        assert tab.value(f"{controls}.length") == 0
        assert tab.value(WIDE) == []
        tab.pdf(file)
    assert 2 < len(pages(file)) <= most
    assert all(size == pytest.approx(A4_POINTS, abs=1.5) for size in pages(file))


def pages(file: Path) -> list[tuple[float, ...]]:
    """Return width and height of every page of a PDF, in points."""
    objects = re.findall(rb"<<(?:(?!endobj).)*?/Type /Page\b(?:(?!endobj).)*", file.read_bytes(), re.DOTALL)
    return [tuple(map(float, re.search(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", each).groups())) for each in objects]
