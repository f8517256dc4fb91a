"""What toolchains cannot do stops the plan, by file, line, key and value, and is tried once for all builds."""

import pytest

from scripts.build.compilation.trials import Keys
from scripts.lib.host.process import CommandFailed
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.preview import checks, compilers
from scripts.study.plan.preview.compilers import failure_of, refused_keys
from scripts.study.plan.preview.due import Due
from tests.made.studies import paths

BUILDS = {"lto": {"lto": True}, "pgo": {"profile": "mixed"}, "pgo_lto": {"profile": "mixed", "lto": True}}


@pytest.fixture
def tried(monkeypatch):
    """What was tried, by a compiler that cannot do what the test puts into the set `lacking`."""
    lacking, asked = set(), []

    def try_keys(compiler, keys):
        asked.append(keys)
        both = "both" in lacking and keys.profile and keys.lto
        if both or any(getattr(keys, key) for key in lacking - {"both"}):
            raise CommandFailed("gcc: it\n does not work")

    def try_flags(compiler, flags):
        asked.append(flags)
        if "-fno-such" in flags:
            raise CommandFailed("gcc: unknown")

    monkeypatch.setattr(compilers, "try_keys", try_keys)
    monkeypatch.setattr(compilers, "try_flags", try_flags)
    failure_of.cache_clear()
    yield lacking, asked
    failure_of.cache_clear()


def study(monkeypatch, tmp_path, **builds):
    monkeypatch.chdir(tmp_path)
    variants = {name: {"server": "postgresql-15", "build": name} for name in ("baseline", *builds)}
    return Due(paths(builds=builds, variants=variants))


def mistakes(due):
    return {refused.mistake.path: refused.mistake.text for refused in refused_keys(due)}


def test_all_keys_of_a_compiler_are_tried_at_once(monkeypatch, tmp_path, tried):
    assert mistakes(study(monkeypatch, tmp_path, **BUILDS)) == {}
    assert tried[1] == [Keys(profile=True, lto=True)]


def test_builds_without_keys_are_not_tried(monkeypatch, tmp_path, tried):
    assert mistakes(study(monkeypatch, tmp_path)) == {}
    assert tried[1] == []


def test_key_that_fails_is_named_in_every_build_that_has_it(monkeypatch, tmp_path, tried):
    tried[0].add("lto")
    found = mistakes(study(monkeypatch, tmp_path, **BUILDS))
    assert set(found) == {("builds", "lto", "lto"), ("builds", "pgo_lto", "lto")}
    assert found["builds", "lto", "lto"].startswith("True, expected what gcc-12 (12.")
    assert found["builds", "lto", "lto"].endswith("can do: gcc: it does not work")


def test_keys_that_only_fail_together_are_named_together(monkeypatch, tmp_path, tried):
    tried[0].add("both")
    found = mistakes(study(monkeypatch, tmp_path, **BUILDS))
    assert set(found) == {("builds", "pgo_lto")}
    assert found["builds", "pgo_lto"].startswith("profile and lto together, expected")


def test_flag_that_the_compiler_does_not_know_is_named(monkeypatch, tmp_path, tried):
    found = mistakes(study(monkeypatch, tmp_path, odd={"flags": "-O3 -fno-such"}))
    assert set(found) == {("builds", "odd", "flags")}
    assert found["builds", "odd", "flags"].startswith("'-O3 -fno-such', expected what gcc-12")


def test_published_recipe_asks_for_no_profile_of_ours(monkeypatch, tmp_path, tried):
    tried[0].add("profile")
    assert mistakes(study(monkeypatch, tmp_path, as_published={"profile": "mixed", "published": True})) == {}


def test_build_that_may_fail_is_a_note_of_the_plan(monkeypatch, tmp_path, tried):
    tried[0].add("lto")
    (refused,) = refused_keys(study(monkeypatch, tmp_path, lto={"lto": True, "may_fail": True}))
    assert refused.may_fail


def test_gcc_without_the_flags_of_profiles_stops_the_plan_by_its_own_words(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    failure_of.cache_clear()
    variants = {name: {"server": "postgresql-15", "build": name} for name in ("baseline", "pgo")}
    toolchains = {"gcc-12": {"probe": ["-fno-such-flag-anywhere"]}}
    with pytest.raises(ConfigError) as caught:
        checks.demand(Due(paths(variants=variants, toolchains=toolchains)))
    assert "builds.pgo.profile: 'mixed', expected what gcc-12 (12." in str(caught.value)
    assert "does not know -fno-such-flag-anywhere" in str(caught.value)
