"""A recipe says no neutral value, so a new field moves no digest; a job reads what its rule wrote, and nothing else."""

import pytest

from scripts.lib import json_record
from scripts.lib.recipe_models import CompileRecipe, DatasetRecipe, LoadRecipe, StageKind, VariantRecipe
from tests.made.studies import plan

SERVER = "postgresql-15"
VARIANT = {"server": SERVER, "family": "postgresql", "build": "pgo", "build_digest": "0" * 12}


def test_neutral_values_are_not_said():
    options = {"a": None, "b": False, "c": 0.5}
    made = VariantRecipe(**VARIANT, options=options, environment={}, storage="", relinked=False)
    assert made.dump() == {**VARIANT, "options": options}
    assert made.digest == json_record.digest({**VARIANT, "options": options})


def test_recipes_are_read_as_they_were_written():
    made, stage = plan(), plan().stages.profile("pgo").stage
    recipes = [made.build(SERVER, "pgo"), made.build(SERVER, stage), made.profile(SERVER, "mixed", stage)]
    recipes += [made.dataset(SERVER, "sbtest", {}), made.run("pgo", "oltp"), made.check(SERVER, "pgo")]
    for recipe in recipes:
        assert type(recipe).parse(json_record.canonical(recipe.dump())) == recipe
    assert CompileRecipe.parse(json_record.canonical(recipes[1].dump())).stage is StageKind.INSTRUMENTED


def test_key_without_a_field_and_missing_value_are_named_with_their_place():
    dataset = plan().dataset(SERVER, "sbtest", {}).dump()
    with pytest.raises(ValueError, match=r"recipe\.tables: unknown keys raws, expected some of tables, rows"):
        DatasetRecipe.of({**dataset, "tables": {"raws": 1}})
    with pytest.raises(ValueError, match=r"recipe\.source: no product among the keys server, version"):
        DatasetRecipe.of({**dataset, "source": {"server": SERVER, "version": "15"}})
    with pytest.raises(ValueError, match="recipe: unknown keys build"):
        LoadRecipe.of(VARIANT)
