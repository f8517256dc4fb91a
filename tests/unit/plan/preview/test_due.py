"""Blocks that measuring would split: who was measured when, and since which boot."""

import time
from pathlib import Path

import pytest

from scripts.plan.preview import due as preview_due
from scripts.plan.preview import text as preview_text
from scripts.plan.preview.due import Due, Listing
from tests.made import results as made_results
from tests.made.studies import SMALL, paths

VARIANTS = SMALL["variants"]
MORE = {"variants": {**VARIANTS, "o3": {"server": "postgresql-15", "build": "o3"}}}
NOW_S = 1_800_000_000.0
LONG_AGO_S = 5000


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)


def split(edit, preparing_s=0.0, run_s=10.0, boot_id=made_results.BOOT):
    due = Due(paths(**edit), Listing())
    return preview_due.find_split(due, preparing_s, run_s, now_s=NOW_S, boot_id=boot_id)


@pytest.mark.parametrize(
    ("edit", "age_s", "preparing_s", "blocks"),
    [
        ({}, LONG_AGO_S, 0, 0),
        (MORE, LONG_AGO_S, 0, 6),
        (MORE, 100, 0, 0),
        # A run of 10 s in each block, 850 s from now: the last three end over 900 s after the old ones began.
        (MORE, 0.1, 850, 3),
        (MORE, 0.1, 1000, 6),
        ({"repetitions": 9}, LONG_AGO_S, 0, 0),
        ({"clients": [8, 64]}, LONG_AGO_S, 0, 0),
        ({"workloads": {**SMALL["workloads"], "index_update": None}}, LONG_AGO_S, 0, 0),
        ({"campaign": 2}, LONG_AGO_S, 0, 0),
        ({"options": {"work_mem": "8MB"}}, LONG_AGO_S, 0, 0),
        ({"variants": {**VARIANTS, "pgo": {**VARIANTS["pgo"], "options": {"jit": True}}}}, LONG_AGO_S, 0, 6),
        ({**MORE, "block_span_s": 86400}, LONG_AGO_S, 0, 0),
    ],
)
def test_block_is_split_where_new_runs_come_later_than_its_span_allows(edit, age_s, preparing_s, blocks):
    made_results.finish(paths(), age_s=age_s, now_s=NOW_S)
    assert len(split(edit, preparing_s).blocks) == blocks


def test_reboot_splits_what_time_does_not():
    made_results.finish(paths(), age_s=100, now_s=NOW_S)
    found = split(MORE, boot_id="another")
    assert (len(found.blocks), found.total, found.other_boot) == (6, 6, True)


def test_variant_that_joins_a_study_is_named_and_one_whose_runs_are_lost_is_not():
    made_results.finish(paths(), age_s=LONG_AGO_S, now_s=NOW_S)
    found = split(MORE)
    assert (found.variants, found.added) == (("o3",), ("o3",))
    *_, last = paths().runs
    Path(last).unlink()
    found = split({})
    assert (len(found.blocks), found.variants, found.added) == (1, (paths().runs[last].variant,), ())


def test_plan_tells_what_measuring_everything_anew_would_cost():
    made_results.finish(paths(), age_s=LONG_AGO_S, now_s=time.time())
    text = preview_text.plan_text(paths(**MORE), cores=1)
    assert (
        "  blocks    6 of 6 blocks would be split: runs of o3 come over 900 s after the others and are not compared "
        "with them; o3 would join a study measured before\n"
        "            `campaign: 2` measures all 24 runs anew, about 5 min\n"
    ) in text
    assert "would be split" not in preview_text.plan_text(paths(**MORE, campaign=2), cores=1)
