"""Which blocks are measured: only what no block on disk holds, always beside the reference and A/A."""

import json
import re
import shutil
from pathlib import Path

import pytest

from scripts.lib import json_record
from scripts.study.plan import block_layout, decisions
from scripts.study.plan.block_layout import groups
from scripts.study.plan.order import BlockKey
from scripts.study.plan.study_description import describe
from tests.made import laid_out
from tests.made.studies import SMALL, paths

VARIANTS = SMALL["variants"]
O3 = {"server": "postgresql-15", "build": "o3"}
MORE = {"variants": {**VARIANTS, "o3": O3}}
REFERENCES = ("baseline", "aa")


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)


def finish(made):
    """Make all runs of a plan and the records of their blocks."""
    for path in made.runs:
        if not Path(path).exists():
            laid_out.measure(made, path)
    for block in made.to_measure.values():
        laid_out.keep(made, block)


def arms_to_measure(**edit):
    """Return how many blocks are to be measured, by their arms."""
    found = [block.arms for block in paths(**edit).to_measure.values()]
    return {arms: found.count(arms) for arms in found}


def test_first_plan_measures_every_arm_in_one_block_per_repetition_and_workload():
    assert arms_to_measure() == {(*REFERENCES, "pgo"): 3 * 2}


def test_finished_study_measures_nothing_whatever_its_title():
    finish(paths())
    assert arms_to_measure() == arms_to_measure(title="another") == arms_to_measure(seed=5) == {}


def test_variant_that_is_added_is_measured_beside_the_reference_and_the_others_are_kept():
    finish(paths())
    assert arms_to_measure(**MORE) == {(*REFERENCES, "o3"): 6}
    finish(paths(**MORE))
    made = paths(**MORE)
    assert made.to_measure == {}
    assert sorted({block.arms for block in made.blocks}) == [(*REFERENCES, "o3"), (*REFERENCES, "pgo")]
    assert len({block.folder for block in made.blocks}) == 12


def test_variant_that_is_removed_and_comes_back_measures_nothing():
    finish(paths(**MORE))
    assert arms_to_measure() == {}
    assert {block.arms for block in paths().blocks} == {(*REFERENCES, "pgo")}
    assert arms_to_measure(**MORE) == {}


def test_edited_variant_is_measured_again_and_going_back_finds_the_old_block():
    finish(before := paths())
    edit = {"variants": {**VARIANTS, "pgo": {**VARIANTS["pgo"], "options": {"jit": True}}}}
    finish(paths(**edit))
    assert arms_to_measure() == arms_to_measure(**edit) == {}
    assert [block.folder for block in paths().blocks] == [block.folder for block in before.blocks]


def test_another_reference_is_another_comparison():
    finish(paths())
    assert arms_to_measure(reference="pgo") == {("pgo", "aa", "baseline"): 6}


def test_more_repetitions_measure_the_new_ones_alone():
    finish(paths())
    assert {block.key.repetition for block in paths(repetitions=4).to_measure.values()} == {4}


def test_block_without_its_record_is_measured_whole():
    finish(paths())
    Path(paths().blocks[0].record).unlink()
    assert arms_to_measure() == {(*REFERENCES, "pgo"): 1}


def test_study_of_the_reference_alone_is_measured_against_itself():
    alone = {"variants": {"baseline": VARIANTS["baseline"]}}
    assert arms_to_measure(**alone) == {REFERENCES: 6}
    finish(paths(**alone))
    assert arms_to_measure(**alone) == {}


def test_variants_beyond_those_that_fit_together_have_blocks_of_their_own():
    arms = {**VARIANTS, **{f"v{number}": O3 for number in range(4)}}
    found = arms_to_measure(variants=arms, together=4)
    assert {len(arms) for arms in found} == {3, 4}
    assert all(arms[:2] == REFERENCES for arms in found)
    assert sorted({name for arms in found for name in arms[2:]}) == ["pgo", "v0", "v1", "v2", "v3"]
    assert set(arms_to_measure(variants=arms, together=1)) == {(*REFERENCES, "pgo", "v0", "v1", "v2", "v3")}


@pytest.mark.parametrize("count", range(8))
@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_groups_hold_each_name_once_and_differ_by_one_at_most(count, most):
    names = [f"v{number}" for number in range(count)]
    found = groups(names, most)
    assert [name for group in found for name in group] == names
    assert len(found) == max(-(-count // most), 1)
    assert max(map(len, found)) - min(map(len, found)) <= 1


def test_job_reads_the_decision_of_the_main_process_and_sees_no_block_that_is_finished_meanwhile():
    made = paths()
    decisions.write(made)
    decided = decisions.read(made.plan)
    assert decided == made.blocks
    finish(made)
    assert paths().to_measure == {}
    assert decisions.read(made.plan) == decided


def test_job_finds_its_block_in_the_plan():
    made = paths()
    decisions.write(made)
    (first, *_) = made.to_measure.values()
    written = json.loads(Path(made.study, "plan.json").read_text())["blocks"][0]
    assert (written["folder"], [arm["name"] for arm in written["arms"]]) == (first.folder, list(first.arms))
    assert written["method"] == "slices"
    assert sorted(written["turns"]) == sorted(first.arms)


def test_study_describes_the_order_by_turns_in_which_its_blocks_are_measured():
    made = paths(**MORE)
    decisions.write(made)
    drawn = [each["turns"] for each in json.loads(Path(made.study, "plan.json").read_text())["blocks"]]
    assert [order for *_, order in describe(made, [], made.blocks).order] == drawn
    assert len({tuple(order) for order in drawn}) > 1
    finish(made)
    for block, order in zip(made.blocks, drawn, strict=True):
        facts = json_record.read(Path(block.record))
        json_record.write(Path(block.record), {**facts, "turns": order[::-1]})
    less = paths()
    kept = [[name for name in order[::-1] if name != "o3"] for order in drawn]
    assert [order for *_, order in describe(less, [], less.blocks).order] == kept


def test_pattern_names_the_blocks_to_measure_and_no_other():
    made = paths()
    finish(made)
    shutil.rmtree(lost := made.blocks[2].folder)
    pattern = re.compile(block_layout.pattern(paths().to_measure))
    names = [block.folder.partition("/blocks/")[2] for block in made.blocks]
    assert [name for name in names if pattern.fullmatch(name)] == [lost.partition("/blocks/")[2]]
    assert not re.compile(block_layout.pattern([])).fullmatch("")


def test_key_says_where_its_blocks_lie():
    assert BlockKey(3, "oltp", 8).path == "oltp/8/3"


def test_relinks_of_the_reference_join_the_blocks_of_a_study_that_compares_builds():
    assert arms_to_measure(relinked=True) == {(*REFERENCES, "pgo", "relinked"): 6}
    finish(paths(relinked=True))
    assert arms_to_measure(relinked=True) == arms_to_measure() == {}


def test_relinks_alone_measure_nothing_and_are_measured_once_a_repetition():
    finish(paths())
    assert arms_to_measure(relinked=True) == {}
    finish(paths(relinked=True, repetitions=4))
    assert arms_to_measure(relinked=True, repetitions=4, **MORE) == {
        (*REFERENCES, "o3", "relinked"): 6,
        (*REFERENCES, "o3"): 2,
    }


def test_build_without_relinks_is_measured_without_them():
    folder = Path(paths().build("postgresql-15", "baseline"))
    json_record.write(folder / "identity.json", {"sha256": "a"})
    assert arms_to_measure(relinked=True) == {(*REFERENCES, "pgo"): 6}


def test_description_has_the_arm_of_the_relinks_only_where_it_is_measured():
    finish(paths())
    before = paths(relinked=True)
    assert list(describe(before, [], before.blocks).variants) == ["baseline", "pgo", "aa"]
    after = paths(relinked=True, repetitions=4)
    assert list(describe(after, [], after.blocks).variants) == ["baseline", "pgo", "aa", "relinked"]
