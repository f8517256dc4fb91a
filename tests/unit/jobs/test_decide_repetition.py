"""The seconds that count against `at_most` are those of the blocks' own records."""

import json

import pytest

from scripts.jobs.decide_repetition import seconds_of


def kept(folder, spans, wall_s=None):
    folder.mkdir(parents=True)
    paths = []
    for name, (begin_s, end_s) in spans.items():
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps({"times": {"started_at": begin_s, "ended_at": end_s}}))
    if wall_s is not None:
        (folder / "block.json").write_text(json.dumps({"wall_s": wall_s}))
    return paths


def test_blocks_that_share_the_starts_of_their_servers_count_their_share(tmp_path):
    turns = {"baseline": 0.0, "aa": 100.0, "pgo": 200.0}
    levels = [
        kept(tmp_path / str(level), {arm: (s + level * 10, s + level * 10 + 10) for arm, s in turns.items()}, 30.0)
        for level in range(10)
    ]
    assert seconds_of([path for level in levels for path in level]) == 300


def test_what_a_block_spent_before_its_servers_took_turns_counts(tmp_path):
    assert seconds_of(kept(tmp_path / "a", {"baseline": (50.0, 80.0), "aa": (80.0, 110.0)}, 110.0)) == 110


def test_seconds_of_a_block_without_its_record_are_not_zero(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"block\.json"):
        seconds_of(kept(tmp_path / "a", {"1": (0.0, 30.0), "2": (40.0, 60.0)}))
