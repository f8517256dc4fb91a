"""Which flags a build or stage is compiled with: each factor by itself."""

from pathlib import Path

import pytest

from scripts.build.compilation.flags import LINK, build_flags
from scripts.build.compilation.toolchain import Toolchain
from scripts.lib.json_record import write
from tests.made.declared import compiled

BUILD, SOURCE = Path("/b"), Path("/s")


@pytest.fixture
def profile(compiler, tmp_path):
    write(tmp_path / "profile.json", {"compiler": f"{compiler.name} {compiler.version}", "source_path": str(SOURCE)})
    return tmp_path / "profile.json"


def flags(compiler, stage, profile=None, **declared):
    recipe = compiled(stage=stage, family="postgresql", **declared)
    return build_flags(recipe, compiler, BUILD, profile, SOURCE, 4)


def test_plain_build_has_its_own_flags_alone(compiler):
    made = flags(compiler, "plain", flags=["-O3"])
    assert (made.common, made.profile, made.lto, made.link) == (("-O3",), (), (), LINK)


def test_lto_is_a_flag_apart_with_as_many_jobs_as_cores(compiler, profile):
    assert flags(compiler, "plain", lto=True).lto == ("-flto=4",)
    assert flags(compiler, "optimised", profile, lto=True).profile == flags(compiler, "optimised", profile).profile


CLANG = Toolchain("clang-16", "clang", "16.0.6", {"cc": "clang-16"})


@pytest.mark.parametrize("stage", ["plain", "relocatable"])
def test_lto_of_clang_is_thin_and_linked_by_lld_with_as_many_jobs_as_cores(stage):
    without, made = (flags(CLANG, stage, lto=lto) for lto in (False, True))
    assert (without.lto, made.lto) == ((), ("-flto=thin",))
    assert set(made.link) - set(without.link) == {"-fuse-ld=lld", "-Wl,--thinlto-jobs=4"}


def test_clang_keeps_functions_in_one_piece_by_itself_and_only_its_link_is_made_for_bolt():
    plain, relocatable = (flags(CLANG, stage, flags=["-O3"], lto=True) for stage in ("plain", "relocatable"))
    assert relocatable.common == plain.common == ("-O3",)
    assert set(relocatable.link) - set(plain.link) == {"-Wl,--emit-relocs"}


def test_instrumented_stage_counts_and_uses_no_profile(compiler):
    made = flags(compiler, "instrumented").profile
    assert any(flag.startswith("-fprofile-generate=") for flag in made)
    assert not any(flag.startswith("-fprofile-use") for flag in made)


def test_input_of_bolt_is_the_same_build_but_for_what_bolt_needs(compiler, profile):
    plain, relocatable = (flags(compiler, stage, profile, lto=True) for stage in ("optimised", "relocatable"))
    assert (relocatable.profile, relocatable.lto) == (plain.profile, plain.lto)
    assert set(relocatable.common) - set(plain.common) == {"-fno-reorder-blocks-and-partition"}
    assert set(relocatable.link) - set(plain.link) == {"-Wl,--emit-relocs"}


def test_published_recipe_is_silent_about_a_lost_profile(compiler, profile):
    made = flags(compiler, "published", profile, published=True).profile
    assert "-Wno-missing-profile" in made
    assert not any(flag.startswith("-fprofile-prefix-path") for flag in made)


@pytest.mark.parametrize("key", ["compiler", "source_path"])
def test_profile_of_something_else_is_refused_by_name(compiler, profile, tmp_path, key):
    known = {"compiler": f"{compiler.name} {compiler.version}", "source_path": str(SOURCE)}
    write(tmp_path / "profile.json", {**known, key: "gcc-99 99.1"})
    with pytest.raises(ValueError, match=rf"profile\.json: {key} is 'gcc-99 99\.1', this build has .*does not fit"):
        flags(compiler, "optimised", tmp_path / "profile.json")
