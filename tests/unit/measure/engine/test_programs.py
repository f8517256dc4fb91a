"""Which program an arm measures: that of its build, and for the arm of the relinks another one in each repetition."""

import pytest

from scripts.lib import json_record
from scripts.measure.engine.planned import PlannedArm, PlannedBlock
from scripts.measure.engine.programs import with_programs


@pytest.fixture
def arms(tmp_path):
    """The reference and its relinks, of a build that is not relinked yet."""
    identity = tmp_path / "build" / "identity.json"
    json_record.write(identity, {"sha256": "a"})
    build = {"digest": "d", "recipe": None, "context": None, "identity": str(identity), "dataset": "dataset.json"}
    relinked = PlannedArm(name="relinked", answers=str(tmp_path / "checks"), **build)
    return [PlannedArm(name="baseline", **build), relinked]


def block(repetition, arms):
    about = {"folder": "f", "workload": "oltp", "clients": 8, "repetition": repetition, "seed": "1"}
    return PlannedBlock(**about, method="slices", arms=arms)


def test_each_repetition_measures_another_relink_and_the_reference_its_build(tmp_path, arms):
    relinks = [{"number": number, "refused": None} for number in (1, 2)]
    json_record.write(tmp_path / "build" / "relinked.json", {"sha256": "a", "refused": None, "relinks": relinks})
    json_record.write(tmp_path / "checks" / "relinked.json", {"sha256": "a", "relinks": relinks})
    for repetition, number in ((1, "1"), (2, "2"), (3, "1")):
        reference, relinked = with_programs(block(repetition, arms)).arms
        assert reference == arms[0]
        assert relinked.identity == str(tmp_path / "build" / "relinked" / number / "identity.json")
        assert relinked.refused is None


def test_arm_without_a_relink_is_refused_with_the_reason(arms):
    reference, relinked = with_programs(block(1, arms)).arms
    assert reference.refused is None
    assert relinked.refused.endswith("build was made without relinks")
    assert relinked.identity == arms[1].identity
