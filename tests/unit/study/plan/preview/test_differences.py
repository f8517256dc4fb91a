"""The generic difference of two recipes, and of the recipes behind their digests."""

from scripts.study.plan.preview.differences import RecipeDifference, differences, short_value

OLD = {"server": "s", "build": "b", "toolchain": {"name": "gcc-12", "version": "12.2.0"}, "recipe": 1}
NEW = {"server": "s", "build": "b", "toolchain": {"name": "gcc-12", "version": "12.9.0"}, "recipe": 2, "lto": True}


def compared(old, new, earlier=(), planned=()):
    return differences(old, new, dict(earlier).get, dict(planned).get)


def test_path_old_and_new_value_are_listed_and_recipe_numbers_stand_last():
    assert compared(OLD, NEW) == (
        RecipeDifference("toolchain.version", "12.2.0", "12.9.0"),
        RecipeDifference("lto", "nothing", "true"),
        RecipeDifference("recipe", "1", "2"),
    )


def test_equal_recipes_have_no_differences():
    assert compared(OLD, dict(OLD)) == ()


def test_digest_is_followed_and_one_edit_is_listed_once():
    profile = {"server": "s", "training": "t", "seconds": 20, "instrumented": {"name": "i", "digest": "old"}}
    trained = {**profile, "seconds": 30, "instrumented": {"name": "i", "digest": "new"}}
    found = compared(
        {**OLD, "profile": {"training": "t", "digest": "1"}},
        {**OLD, "profile": {"training": "t", "digest": "2"}, "toolchain": NEW["toolchain"]},
        {"1": profile, "old": OLD},
        {"2": trained, "new": NEW},
    )
    assert [each.path for each in found] == [
        "toolchain.version",
        "profile.seconds",
        "profile.instrumented.lto",
        "profile.instrumented.recipe",
    ]


def test_another_thing_behind_a_digest_is_not_compared():
    assert compared({"build": "b", "build_digest": "1"}, {"build": "c", "build_digest": "2"}, {"1": OLD},
                    {"2": {**NEW, "build": "c"}}) == (RecipeDifference("build", "b", "c"),)  # fmt: skip


def test_digest_without_a_recorded_recipe_is_listed_only_where_nothing_else_differs():
    assert compared({"build_digest": "1"}, {"build_digest": "2"}, {}, {"2": NEW}) == (RecipeDifference("build"),)
    found = compared({"build_digest": "1", "storage": "disk"}, {"build_digest": "2"}, {}, {"2": NEW})
    assert found == (RecipeDifference("storage", "disk", "nothing"),)


def test_named_mappings_in_a_list_are_compared_by_name():
    old = {"workloads": [{"name": "a", "options": {"x": 0}}, {"name": "b"}]}
    new = {"workloads": [{"name": "a"}]}
    assert compared(old, new) == (
        RecipeDifference("workloads", "a b", "a"),
        RecipeDifference("workloads.a.options.x", "0", "nothing"),
    )


def test_values_are_short():
    assert short_value("5" * 64) == "5" * 12
    assert short_value(["-O2", "-g"]) == "-O2 -g"
    assert len(short_value("x" * 100)) == 41
    assert short_value(0) == "0"
