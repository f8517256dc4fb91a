"""What may fail: builds declared so, and what only they need."""

from pathlib import Path

from tests.made import studies

ARMS = {
    "baseline": {"server": "postgresql-15", "build": "baseline"},
    "pgo": {"server": "postgresql-15", "build": "pgo"},
    "weak": {"server": "postgresql-15", "build": "weak"},
}


def spared(builds, **changes):
    """Return what may fail in a study of baseline, pgo and weak: kinds of folders and names without digests."""
    found = studies.paths(builds=builds, variants=ARMS, **changes).tolerated
    parts = [Path(folder).parts for folder in found]
    return {f"{kind}/{name.rpartition('-')[0]}" for _, kind, _, name in parts}


def test_nothing_may_fail_unless_it_is_said():
    assert spared({"weak": {"flags": "-O3", "profile": "mixed"}}) == set()


def test_stage_and_profile_of_its_own_may_fail_with_a_build():
    weak = {"flags": "-O3", "profile": "mixed", "may_fail": True}
    found = spared({"weak": weak})
    assert {name for name in found if "weak" in name} == {"builds/weak", "checks/weak"}
    assert {name.split("_")[0] for name in found if "instrumented" in name} == {
        "builds/instrumented",
        "checks/instrumented",
    }
    assert "profiles/mixed" in found
    assert len(found) == 5


def test_shared_stage_and_profile_must_not_fail():
    assert spared({"weak": {"lto": True, "profile": "mixed", "may_fail": True}}) == {"builds/weak", "checks/weak"}


def test_shared_stage_with_a_training_of_its_own_spares_the_profile_alone():
    weak = {"profile": "read", "may_fail": True}
    assert spared({"weak": weak}) == {"builds/weak", "checks/weak", "profiles/read"}


def test_check_reference_is_one_that_must_not_fail_where_there_is_one():
    arms = {name: ARMS[name] for name in ("weak", "pgo")}
    weak = {"flags": "-O3", "may_fail": True}
    assert (
        studies.paths(builds={"weak": weak}, variants=arms, reference="pgo").plan.check_reference("postgresql-15")
        == "pgo"
    )
    arms = {"weak": ARMS["weak"]}
    assert (
        studies.paths(builds={"weak": weak}, variants=arms, reference="weak").plan.check_reference("postgresql-15")
        == "weak"
    )
