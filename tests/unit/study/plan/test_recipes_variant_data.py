"""A variant's `data` is laid over every dataset it meets, and over nothing else."""

import pytest

from scripts.study.config.declared_loads import DatasetDeclaration
from scripts.study.plan.schedule import Schedule
from tests.made.studies import SMALL, plan

VARIANTS, SERVER = SMALL["variants"], "postgresql-15"
TABLES = {"tables": 2, "rows": 50, "options": {"secondary": True, "create_table_options": "a"}}


def made(data, tables=TABLES):
    with_data = {**VARIANTS["pgo"], **({"data": data} if data is not None else {})}
    return plan(variants={**VARIANTS, "pgo": with_data}, datasets={"sbtest": tables})


@pytest.mark.parametrize("data", [None, {}, {"options": {}}, {"rows": 50}, {"fresh": False}])
def test_data_that_changes_nothing_changes_no_digest(data):
    known, new = made(None), made(data)
    for variant in known.study.arms:
        assert new.variant(variant) == known.variant(variant)
        assert new.load(variant, "oltp").digest == known.load(variant, "oltp").digest
    assert Schedule(new).datasets.keys() == Schedule(known).datasets.keys()


@pytest.mark.parametrize(
    ("data", "laid"),
    [
        ({"rows": 9}, {**TABLES, "rows": 9}),
        ({"tables": 1, "fresh": True}, {**TABLES, "tables": 1, "fresh": True}),
        (
            {"options": {"create_table_options": "b", "more": 1}},
            {**TABLES, "options": {"secondary": True, "create_table_options": "b", "more": 1}},
        ),
    ],
)
def test_variant_meets_datasets_with_its_data_laid_over_them(data, laid):
    known, new = made(None), made(data)
    assert new.load("pgo", "oltp").tables.dump() == laid
    dataset = new.dataset(SERVER, "sbtest", {}, DatasetDeclaration(**data))
    assert new.load("pgo", "oltp").dataset.digest == dataset.digest
    assert dataset.tables.dump() == laid
    assert new.load("baseline", "oltp") == known.load("baseline", "oltp")
    profiles = [each.profile(SERVER, "mixed", each.stages.profile("pgo").stage) for each in (new, known)]
    assert profiles[0] == profiles[1]


def test_each_data_has_a_snapshot_of_its_own_and_the_same_data_one():
    ours = Schedule(made({"rows": 9}))
    assert ours.dataset("pgo", "oltp") != ours.dataset("baseline", "oltp") == ours.dataset("aa", "oltp")
    assert [parts.data and parts.data.rows for parts in ours.datasets.values()] == [None, 9]
    for folder, parts in ours.datasets.items():
        assert folder.endswith(ours.plan.dataset(*parts).digest)
    alike = plan(variants={name: {**arm, "data": {"rows": 9}} for name, arm in VARIANTS.items()})
    assert Schedule(alike).dataset("pgo", "oltp") == Schedule(alike).dataset("baseline", "oltp")
