"""Servers that go through all client counts in one start, on a study of stubs: its jobs, its page, and a lost level."""

import re
from pathlib import Path

import pytest

from tests.workflow.stubbed import copied

pytestmark = pytest.mark.slow

REPORT = "results/report.html"
VARIANTS = {name: {"server": "postgresql-15", "build": name} for name in ("baseline", "pgo")}
LADDER = {"restart": "never", "clients": [8, 16, 32], "variants": VARIANTS, "workloads": {"oltp": None}}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The study, brought to its report on two cores."""
    made = copied(tmp_path_factory.mktemp("ladder-study"))
    made.configure(**LADDER)
    answer = made.run("--cores", "2", REPORT)
    assert answer.status == 0, answer.text
    return made


def test_each_repetition_is_one_job_and_nothing_is_left_to_do(finished):
    assert sum(event.module == "measure_block" for event in finished.events()) == 5
    assert len(list(finished.root.glob("results/studies/default/blocks/*/*/*/*/block.json"))) == 15
    assert "Nothing to be done" in finished.plan().text


def test_page_says_that_client_counts_share_a_start(finished):
    page = re.sub(r"[\u00a0\u202f]", " ", (finished.root / REPORT).read_text())
    assert "Each repetition is one start of each server, which goes through 8, 16 and 32 clients" in page
    assert "neighbouring client counts of one start (lag 1)" in page
    assert "3 client counts" in page


def test_lost_level_measures_its_whole_start_again(finished):
    (lost,) = finished.root.glob("results/studies/default/blocks/oltp/16/3/*/block.json")
    text = lost.read_text()
    lost.unlink()
    answer = finished.plan()
    assert answer.costly == {"measure_block": 1}
    assert [Path(path).parts[-4:-2] for path in answer.made("measure_block")] == [("32", "3")]
    lost.write_text(text)
    assert "Nothing to be done" in finished.plan().text
