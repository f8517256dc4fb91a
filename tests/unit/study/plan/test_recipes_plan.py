"""What is declared decides a digest, nothing else does; the order of runs depends on the seed and the block alone."""

import shutil
from dataclasses import replace

import pytest
import yaml

from scripts.measure.engine import rounds
from scripts.study.config.declared_loads import DatasetDeclaration
from scripts.study.plan.order import BlockKey, keys_in_order, turns
from tests.made.studies import CHECKOUT, SMALL, plan

SERVER = "postgresql-15"
VARIANTS = SMALL["variants"]
CATALOG_SERVER = yaml.safe_load((CHECKOUT / "catalog" / "servers.yaml").read_text())["servers"][SERVER]

CATALOG_GCC = yaml.safe_load((CHECKOUT / "catalog" / "builds.yaml").read_text())["toolchains"]["gcc-12"]


def digests(root=CHECKOUT, **changes):
    """Return every digest of the small study by kind."""
    made = plan(root, **changes)
    loads = {f"load {name} {work}": made.load(name, work) for name in made.study.arms for work in ("oltp",)}
    recipes = {
        "baseline": made.build(SERVER, "baseline"),
        "pgo": made.build(SERVER, "pgo"),
        "instrumented": made.build(SERVER, made.stages.profile("pgo").stage),
        "profile": made.profile(SERVER, "mixed", made.stages.profile("pgo").stage),
        "dataset": made.dataset(SERVER, "sbtest", made.options("pgo")),
        **{f"variant {name}": made.variant(name) for name in made.study.arms},
        **loads,
    }
    return {name: recipe.digest for name, recipe in recipes.items()}


def changed(root=CHECKOUT, **changes):
    before, after = digests(), digests(root, **changes)
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    ("changes", "libraries"),
    [
        ({}, ()),
        ({"options": {"shared_preload_libraries": "", "jit": False}}, ()),
        ({"options": {"shared_preload_libraries": "plpgsql"}}, ()),
        (
            {"options": {"shared_preload_libraries": "pg_stat_statements, auto_explain"}},
            ("auto_explain", "pg_stat_statements"),
        ),
        (
            {"variants": {**VARIANTS, "pgo": {**VARIANTS["pgo"], "options": {"archive_library": "basic_archive"}}}},
            ("basic_archive",),
        ),
        ({"trainings": {"mixed": {"options": {"local_preload_libraries": "$libdir/pg_prewarm"}}}}, ("pg_prewarm",)),
    ],
)
def test_builds_have_the_libraries_that_options_name(changes, libraries):
    made = plan(**changes)
    for build in ("baseline", "pgo", made.stages.profile("pgo").stage):
        assert made.build(SERVER, build).libraries == libraries
    assert made.build("mariadb-10.11", "baseline").libraries == ()


LOADS = {"load baseline oltp", "load pgo oltp", "load aa oltp"}
PLAIN = {"baseline", "variant baseline", "variant aa"}
TRAINED = {"profile", "pgo", "variant pgo"}
EVERYTHING = {*LOADS, *PLAIN, *TRAINED, "instrumented", "dataset"}


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Another", "question": "Why?", "study": "other"},
        {"seed": 7, "repetitions": 9, "clients": [1, 64]},
        {"servers": {SERVER: {**CATALOG_SERVER, "compile_cpu_minutes": 99}}},
        {"servers": {SERVER: {**CATALOG_SERVER, "sources": [{"debian": "postgresql-15"}, {"file": "/srv/pg.tar"}]}}},
        {"builds": {"baseline": {"flags": [], "debug_information": False}, "pgo": {"flags": ""}}},
        {"options": {}, "datasets": {"other": {"tables": 1, "rows": 1}}},
        {"storage": {"disk": "/srv"}},
        {"partial": True},
        {"rest_s": 0, "series": False, "slice_s": "automatic", "datasets": {"sbtest": {"fresh": False, "options": {}}}},
        {"builds": {"pgo": {"profile": "mixed", "may_fail": True}}},
        {"servers": {SERVER: {**CATALOG_SERVER, "archive_mib": 99, "packages": {"apt": ["libnuma1"]}}}},
        {"toolchains": {"gcc-12": {**CATALOG_GCC, "packages": {"apt": ["gcc-12"]}}}},
    ],
    ids=[
        *("words", "order", "estimate", "places", "neutral", "unused", "storage", "partial", "unsaid", "may_fail"),
        *("server's size and packages", "toolchain's packages"),
    ],
)
def test_what_says_nothing_about_the_bytes_changes_no_digest(changes):
    assert changed(**changes) == set()


def test_mirrors_change_no_digest_but_the_checksum_does():
    def entry(mirror, checksum):
        source = {"url": [mirror], "sha256": checksum * 64}
        return {"servers": {SERVER: {**CATALOG_SERVER, "sources": [source]}}}

    assert digests(**entry("https://a.example/x", "a")) == digests(**entry("https://b.example/x", "a"))
    assert digests(**entry("https://a.example/x", "a")) != digests(**entry("https://a.example/x", "b"))


def test_flag_changes_its_build_and_what_stands_on_it():
    assert changed(builds={"baseline": {"flags": "-O3"}}) == PLAIN
    assert changed(builds={"pgo": {"profile": "mixed", "flags": "-O3"}}) == {*TRAINED, "instrumented"}


def test_flags_as_text_and_as_list_are_the_same():
    assert digests(builds={"pgo": {"flags": "-O3 -g0"}}) == digests(builds={"pgo": {"flags": ["-O3", "-g0"]}})


def test_seconds_of_training_change_the_profile_and_what_uses_it():
    training = {"workloads": ["simple_select", "index_update", "oltp"], "clients": 4, "seconds": 5}
    assert changed(trainings={"mixed": training}) == TRAINED


@pytest.mark.parametrize("where", ["datasets", "workloads"])
def test_filling_the_pool_is_a_part_of_the_load_and_of_no_dataset(where):
    name = {"datasets": "sbtest", "workloads": "oltp"}[where]
    for value in (True, False):
        assert changed(**{where: {name: {"fill": value}}}) == LOADS


def test_rows_that_a_load_asks_for_are_a_part_of_it_and_of_no_dataset():
    assert changed(workloads={"oltp": {"rows": 1000}}) == LOADS | TRAINED
    assert plan().load("baseline", "oltp").rows is None


def test_workload_decides_on_the_pool_before_its_dataset():
    made = plan(datasets={"sbtest": {"fill": True}}, workloads={"oltp": {"fill": False}})
    assert made.load("baseline", "oltp").fill == "never"
    assert made.dataset(SERVER, "sbtest", {}).tables == plan().dataset(SERVER, "sbtest", {}).tables
    assert plan().load("baseline", "oltp").fill is None


def test_training_takes_the_options_of_the_study_unless_it_has_its_own():
    declared = {"workloads": ["simple_select", "index_update", "oltp"], "clients": 4, "seconds": 20}
    alone = {"options": {"work_mem": "8MB"}, "trainings": {"mixed": {**declared, "options": {}}}}
    assert not changed(**alone) & {"profile", "pgo"}
    assert changed(trainings={"mixed": {**declared, "options": {"work_mem": "8MB"}}}) == TRAINED


def test_training_that_loads_runs_on_an_empty_snapshot_of_its_own():
    declared = {"workloads": ["oltp"], "clients": 4, "seconds": 20, "load": True}
    made = plan(trainings={"mixed": declared}, options={"data_checksums": False})
    profile = made.profile(SERVER, "mixed", made.stages.profile("pgo").stage)
    parts = made.training_data(SERVER, "mixed", "sbtest")
    assert parts == (SERVER, "sbtest", {"data_checksums": False}, DatasetDeclaration(fresh=True))
    assert profile.workloads[0].tables.fresh
    assert profile.workloads[0].dataset_digest == made.dataset(*parts).digest
    assert made.dataset(*parts).digest != made.dataset(SERVER, "sbtest", {"data_checksums": False}).digest


def test_rows_change_dataset_loads_and_the_training_on_them():
    assert changed(datasets={"sbtest": {"tables": 4, "rows": 7}}) == {*TRAINED, *LOADS, "dataset"}


@pytest.mark.parametrize(
    "said", [{"fresh": True}, {"script": "oltp_write_only"}, {"options": {"secondary": True}}], ids=str
)
def test_way_of_loading_changes_the_dataset_and_what_stands_on_it(said):
    assert changed(datasets={"sbtest": said}) == {*TRAINED, *LOADS, "dataset"}


def test_content_of_our_script_is_the_datasets(tmp_path):
    for folder in ("catalog", "rules", "studies", "workloads"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    script, declared = tmp_path / "workloads" / "mine.lua", {"sbtest": {"script": "mine.lua"}}
    script.write_text("-- one")
    before = digests(tmp_path, datasets=declared)
    script.write_text("-- another")
    after = digests(tmp_path, datasets=declared)
    assert {name for name in before if before[name] != after[name]} == {*TRAINED, *LOADS, "dataset"}


def test_version_changes_everything():
    assert changed(servers={SERVER: {**CATALOG_SERVER, "version": "15.1"}}) == EVERYTHING


@pytest.mark.parametrize("key", ["warmup_s", "measure_s", "campaign", "rest_s"])
def test_way_of_measuring_changes_the_loads_alone(key):
    assert changed(**{key: 9}) == LOADS


@pytest.mark.parametrize(
    "own",
    [{"rounds": 50}, {"slice_s": 0.2}, {"series": True}, {"client": {"ssh": "loadgen"}}],
    ids=["rounds", "slices", "counters", "client host"],
)
def test_rounds_slices_sampled_counters_and_a_client_host_change_the_loads_alone(own):
    assert changed(**own) == LOADS


def test_option_of_one_variant_changes_that_variant_alone():
    variants = {**VARIANTS, "pgo": {**VARIANTS["pgo"], "options": {"work_mem": "8MB"}}}
    assert changed(variants=variants) == {"variant pgo"}


def test_option_of_the_study_changes_all_variants_and_the_training_and_no_dataset():
    assert changed(options={"work_mem": "8MB"}) == {*TRAINED, "variant baseline", "variant aa"}


def test_option_that_shapes_a_data_directory_changes_the_dataset():
    assert changed(options={"data_checksums": True}) >= {"dataset", *LOADS}


def test_options_of_the_workload_change_its_load():
    oltp = {"script": "oltp_read_write", "dataset": "sbtest", "options": {"range_size": 11}}
    assert changed(workloads={"simple_select": None, "oltp": oltp}) >= LOADS


def test_content_of_our_lua_script_is_part_of_the_load(tmp_path):
    for folder in ("catalog", "rules", "workloads"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    script = tmp_path / "workloads" / "ours.lua"
    workloads = {"ours": {"script": "ours.lua", "dataset": "sbtest"}}
    seen = []
    for text in ("return 1", "return 2", "return 1"):
        script.write_text(text)
        seen.append(plan(tmp_path, workloads=workloads).load("pgo", "ours").digest)
    assert seen[2] == seen[0]
    assert seen[1] != seen[0]


def test_reference_measured_again_has_the_recipe_of_the_reference():
    made = plan()
    assert made.variant("aa") == made.variant("baseline")


def test_repetition_is_the_outermost_loop_then_the_workload():
    keys = keys_in_order(plan(clients=[8, 64]).study)
    wanted = [(n, work, clients) for n in (1, 2, 3) for work in ("simple_select", "oltp") for clients in (8, 64)]
    assert [(key.repetition, key.workload, key.clients) for key in keys] == wanted


def test_turns_depend_on_seed_workload_and_clients_only_and_give_each_arm_each_place():
    arms, keys = ["baseline", "aa", "pgo"], [BlockKey(number, "oltp", 8) for number in range(1, 7)]
    small, large = plan().study, plan(repetitions=50, clients=[64, 8], study="other", campaign=3).study
    orders = [turns(small, key, arms) for key in keys]
    assert orders == [turns(large, key, arms) for key in keys]
    assert set(rounds.places(orders).values()) == {2}
    assert orders != [turns(plan(seed=2).study, key, arms) for key in keys]


def test_new_build_with_the_same_flags_changes_no_other_build():
    assert changed(builds={"a_pgo": {"profile": "mixed"}}) == set()


def test_environment_of_sysbench_makes_runs_anew_and_nothing_else():
    small, other = plan(), plan(client_environment={"MALLOC_ARENA_MAX": "2"})
    assert other.load("pgo", "oltp") == replace(small.load("pgo", "oltp"), client_environment={"MALLOC_ARENA_MAX": "2"})
    assert changed(client_environment={"MALLOC_ARENA_MAX": "2"}) == LOADS


def test_environment_of_a_variant_or_its_build_makes_runs_anew_and_no_build():
    given = {"MALLOC_CONF": "narenas:1"}
    arms = {**VARIANTS, "pgo": {**VARIANTS["pgo"], "environment": given}}
    assert changed(variants=arms) == {"variant pgo"}
    assert changed(builds={"pgo": {"environment": given}}) == {"variant pgo"}
    both = plan(variants=arms, builds={"pgo": {"environment": {"MALLOC_CONF": "x", "OTHER": "y"}}})
    assert both.environment("pgo") == {**given, "OTHER": "y"}
    assert both.environment("baseline") == {}
