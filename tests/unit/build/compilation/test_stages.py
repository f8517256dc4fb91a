"""Which stages stand behind a build, and which builds share them."""

import pytest

from scripts.build.compilation.stages import COMPILED, BuildKeys, Profiled, Stages, instrumented
from scripts.study.config.declared_builds import BuildDeclaration

BUILDS = {
    "baseline": {},
    "lto": {"lto": True},
    "pgo": {"profile": "mixed"},
    "pgo_lto": {"profile": "mixed", "lto": True},
    "pgo_read": {"profile": "read"},
    "pgo_o3": {"profile": "mixed", "flags": "-O3"},
    "clang": {"profile": "mixed", "toolchain": "clang-16"},
    "lto_bolt": {"lto": True, "bolt": "mixed"},
    "pgo_lto_bolt": {"profile": "mixed", "lto": True, "bolt": "read"},
    "as_published": {"profile": "mixed", "published": True},
}


def stages_of(builds):
    return Stages({name: BuildDeclaration(**declared).compiled for name, declared in builds.items()})


STAGES = stages_of(BUILDS)


def test_plain_builds_need_no_stage():
    assert [STAGES.behind(name) for name in ("baseline", "lto", "prebuilt")] == [[], [], []]


def test_lto_bolt_and_the_training_leave_the_instrumented_stage_as_it_is():
    names = {STAGES.profile(name).stage for name in ("pgo", "pgo_lto", "pgo_read")}
    assert names == {"instrumented_gcc-12"}
    assert STAGES.profile("pgo_read") == Profiled("read", "instrumented_gcc-12")


def test_flags_compiler_and_recipe_have_instrumented_stages_of_their_own():
    names = {STAGES.profile(name).stage for name in ("pgo", "pgo_o3", "clang", "as_published")}
    assert len(names) == 4
    assert {"instrumented_clang-16", "published_instrumented_gcc-12"} < names


def test_flags_as_text_and_as_list_have_the_same_stage():
    assert instrumented(BuildDeclaration(flags="-O3 -g").compiled) == instrumented(BuildKeys(flags=("-O3", "-g")))


def test_bolt_takes_a_relocatable_stage_and_trains_one_it_instrumented():
    first, *rest = STAGES.behind("pgo_lto_bolt")
    assert first == STAGES.input("pgo_lto_bolt")
    assert STAGES.of(first).kind == "relocatable"
    declared = STAGES.of(first).declared
    assert (declared.profile, declared.lto, declared.bolt) == ("mixed", True, None)
    assert [STAGES.of(name).kind for name in rest] == ["instrumented", "bolt_instrumented"]
    assert STAGES.profile("pgo_lto_bolt") == Profiled("read", rest[1])
    assert STAGES.input(rest[1]) == first


def test_being_allowed_to_fail_makes_no_other_stage():
    allowed = stages_of({name: {**declared, "may_fail": True} for name, declared in BUILDS.items()})
    assert {name: allowed.behind(name) for name in BUILDS} == {name: STAGES.behind(name) for name in BUILDS}
    assert {name: allowed.of(name).kind for name in BUILDS} == {name: STAGES.of(name).kind for name in BUILDS}


def test_bolt_on_a_build_without_a_profile_needs_no_compilers_training():
    kinds = [STAGES.of(name).kind for name in STAGES.behind("lto_bolt")]
    assert kinds == ["relocatable", "bolt_instrumented"]
    assert STAGES.profile(STAGES.input("lto_bolt")) is None


def test_two_bolt_trainings_share_what_they_train():
    both = stages_of({"a": {"lto": True, "bolt": "mixed"}, "b": {"lto": True, "bolt": "read"}})
    assert both.behind("a") == both.behind("b")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("baseline", "plain"), ("pgo", "optimised"), ("as_published", "published"), ("pgo_lto_bolt", "bolted")],
)
def test_kind_follows_from_what_is_declared(name, kind):
    assert STAGES.of(name).kind == kind


def test_names_of_compiled_builds_hold_their_stages_and_none_of_bolts():
    names = STAGES.names(COMPILED)
    assert {"baseline", "pgo", "instrumented_gcc-12", STAGES.input("pgo_lto_bolt")} <= set(names)
    assert not {"pgo_lto_bolt", "lto_bolt"} & set(names)
