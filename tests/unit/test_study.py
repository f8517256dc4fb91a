"""A study is checked as a whole before anything runs, and every mistake is told in words the user wrote."""

import shutil

import pytest
import yaml

from scripts.study import ConfigError, load
from tests.unit.studies import CHECKOUT, SMALL, config

VARIANTS = SMALL["variants"]
POINT = {"script": "oltp_point_select", "dataset": "sbtest"}


def refusal(root=CHECKOUT, **changes):
    with pytest.raises(ConfigError) as caught:
        load(config(**changes), root, "small.yaml")
    return str(caught.value)


def one_more(**variant):
    return {**VARIANTS, "more": {"server": "postgresql-15", "build": "pgo", **variant}}


def test_small_study_is_accepted():
    study = load(config(), CHECKOUT, "small.yaml")
    assert (study.name, study.workloads) == ("small", ["simple_select", "oltp"])


def test_reference_is_added_a_second_time_as_aa_and_comes_last():
    variants = load(config(reference="pgo"), CHECKOUT, "small.yaml").variants
    assert list(variants) == ["baseline", "pgo", "aa"]
    assert variants["aa"] == VARIANTS["pgo"]


def test_checked_study_does_not_change_with_the_config_it_came_from():
    given = config()
    study = load(given, CHECKOUT, "small.yaml")
    given["variants"]["pgo"]["build"] = "other"
    assert study.variants["pgo"]["build"] == "pgo"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"repetitons": 3}, "(top level): unknown key 'repetitons', did you mean 'repetitions'?"),
        ({"variants": one_more(biuld="pgo")}, "variants.more: unknown key 'biuld', did you mean 'build'?"),
        ({"repetitions": "five"}, "repetitions: 'five' is not of type 'integer' (Blocks of every cell.)"),
        ({"repetitions": True}, "repetitions: True is not of type 'integer'"),
        ({"clients": 8}, "clients: 8 is not of type 'array' (Concurrent connections; each number is measured.)"),
        ({"clients": [0]}, "clients.0: 0 is less than the minimum of 1"),
        ({"clients": [8, 8]}, "clients: [8, 8] has non-unique elements"),
        ({"measure_s": 2}, "measure_s: 2 is less than the minimum of 3"),
        ({"datasets": None}, "datasets: None is not of type 'object' (Tables loaded once, by name.)"),
        ({"placement": {"server": "0"}}, "placement: 'client' is a required property"),
    ],
)
def test_mistake_in_the_form_names_key_value_and_what_was_expected(changes, told):
    assert told in refusal(**changes)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"reference": "basline"}, "reference: 'basline' is unknown, did you mean 'baseline'?"),
        (
            {"variants": one_more(server="postgresql-51")},
            "variants.more.server: 'postgresql-51' is unknown, did you mean 'postgresql-15'?",
        ),
        ({"variants": one_more(build="pog")}, "variants.more.build: 'pog' is unknown, did you mean 'pgo'?"),
        ({"variants": one_more(build="x")}, "variants.more.build: 'x' is unknown, expected one of as_published, "),
        (
            {"variants": one_more(storage="disc"), "storage": {"disk": "/srv"}},
            "variants.more.storage: 'disc' is unknown, did you mean 'disk'?",
        ),
        (
            {"workloads": {"point": {**POINT, "dataset": "sbtset"}}},
            "workloads.point.dataset: 'sbtset' is unknown, did you mean 'sbtest'?",
        ),
        ({"builds": {"pgo": {"profile": "mxied"}}}, "builds.pgo.profile: 'mxied' is unknown, did you mean 'mixed'?"),
        ({"builds": {"o3": {"toolchain": "gcc-21"}}}, "builds.o3.toolchain: 'gcc-21' is unknown, did you mean"),
        (
            {"trainings": {"mixed": {"workloads": ["oltpp"], "clients": 4, "seconds": 20}}},
            "trainings.mixed.workloads: 'oltpp' is unknown, did you mean 'oltp'?",
        ),
    ],
)
def test_name_that_leads_nowhere_is_told_with_the_nearest_known_one(changes, told):
    assert told in refusal(**changes)


def test_name_of_the_reference_measured_again_is_refused_for_variants():
    text = refusal(variants={**VARIANTS, "aa": VARIANTS["pgo"]})
    assert "variants.aa: the name is the workflow's own, for the reference a second time; choose another" in text


@pytest.mark.parametrize("name", ["instrumented", "instrumented_o3"])
def test_build_name_that_reads_like_an_instrumented_stage_is_refused(name):
    told = "names that begin with 'instrumented' are the workflow's own; choose another"
    assert f"builds.{name}: {told}" in refusal(builds={name: {"flags": "-O3"}})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"variants": one_more(server="mariadb-installed", build="pgo")},
            "variants.more.build: 'pgo' of 'mariadb-installed', expected 'prebuilt'",
        ),
        (
            {"variants": one_more(build="prebuilt")},
            "variants.more.build: 'prebuilt' of 'postgresql-15', expected a way of compiling it",
        ),
        ({"builds": {"o3": {"toolchain": "bolt-16"}}}, "builds.o3.toolchain: 'bolt-16' is no compiler"),
        (
            {"builds": {"x": {"bolt": "mixed", "bolt_toolchain": "gcc-12"}}},
            "builds.x.bolt_toolchain: 'gcc-12' is of kind gcc or clang, expected bolt",
        ),
        ({"builds": {"x": {"published": True}}}, "builds.x.published: the published recipe is a profile of gcc's"),
        (
            {"builds": {"x": {"published": True, "profile": "mixed", "toolchain": "clang-16"}}},
            "builds.x.published: the published recipe is a profile of gcc's",
        ),
        ({"builds": {"prebuilt": {"flags": "-O3"}}}, "builds.prebuilt: names that begin with 'prebuilt' are"),
        ({"builds": {"x": {"bolt": "mxied"}}}, "builds.x.bolt: 'mxied' is unknown, did you mean 'mixed'?"),
        (
            {"toolchains": {"mine": {"kind": "clang", "cc": "clang", "cxx": "c", "ar": "a", "ranlib": "r", "nm": "n"}}},
            "toolchains.mine: 'profdata' is a required property",
        ),
        ({"toolchains": {"mine": {"kind": "bolt", "bolt": "b"}}}, "toolchains.mine: 'merge_fdata' is a required"),
    ],
)
def test_what_does_not_go_together_is_told(changes, told):
    assert told in refusal(**changes)


@pytest.mark.parametrize("name", ["My Variant", "1st", "Pgo", "a/b", "-x", "x" * 61])
def test_name_that_makes_no_good_path_is_refused(name):
    text = refusal(variants={**VARIANTS, name: VARIANTS["pgo"]})
    assert f"variants: name {name!r} cannot be used; names match ^[a-z][a-z0-9_.-]*$" in text


def test_study_name_that_makes_no_good_path_is_refused():
    assert "study: 'My Study' does not match" in refusal(study="My Study")


def test_all_mistakes_of_form_are_told_at_once():
    text = refusal(repetitons=3, clients=8, variants=one_more(biuld="pgo"))
    assert text.startswith("small.yaml: 3 mistake(s)")
    assert all(word in text for word in ("repetitons", "clients: 8", "biuld"))


def test_all_names_that_lead_nowhere_are_told_at_once():
    text = refusal(reference="basline", variants=one_more(server="x", build="y"))
    assert text.startswith("small.yaml: 3 mistake(s)")


def test_missing_key_is_named():
    given = config()
    del given["seed"]
    with pytest.raises(ConfigError, match="'seed' is a required property"):
        load(given, CHECKOUT, "small.yaml")


def test_mistake_in_the_catalog_is_found_like_one_in_the_config(tmp_path):
    for folder in ("catalog", "rules"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    servers = tmp_path / "catalog" / "servers.yaml"
    content = yaml.safe_load(servers.read_text())
    content["servers"]["postgresql-15"]["famliy"] = "postgresql"
    servers.write_text(yaml.safe_dump(content))
    assert "servers.postgresql-15: unknown key 'famliy', did you mean 'family'?" in refusal(root=tmp_path)


def test_own_entry_is_laid_over_the_catalogs_key_by_key():
    study = load(config(builds={"pgo": {"flags": "-O3"}}), CHECKOUT, "small.yaml")
    assert study.entries["builds"]["pgo"] == {"profile": "mixed", "flags": "-O3"}


def test_unknown_workload_is_told_with_the_nearest_known_one():
    text = refusal(workloads={"simple_selekt": None})
    assert "workloads: 'simple_selekt' is unknown, did you mean 'simple_select'?" in text


@pytest.mark.parametrize(("key", "meant"), [("optoins", "options"), ("datset", "dataset")])
def test_unknown_key_of_a_workload_is_told_with_the_nearest_known_one(key, meant):
    text = refusal(workloads={"point": {"script": "oltp_point_select", key: "sbtest"}})
    assert f"workloads.point: unknown key {key!r}, did you mean {meant!r}?" in text


def test_unknown_placement_is_told_with_what_can_be_had():
    text = refusal(placement="sharde")
    assert "placement: 'sharde'" in text
    assert "automatic, or {server: 0-5, client: 6-7}" in text


def test_single_keys_of_workload_dataset_and_training_can_be_overridden():
    study = load(
        config(
            workloads={"oltp": {"options": {"range_size": 20}}},
            datasets={"sbtest": {"rows": 10}},
            trainings={"mixed": {"seconds": 4}},
        ),
        CHECKOUT,
        "small.yaml",
    )
    assert study.entries["workloads"]["oltp"]["script"] == "oltp_read_write"
    assert study.entries["datasets"]["sbtest"] == {"tables": 4, "rows": 10}
    assert study.entries["trainings"]["mixed"]["clients"] == 4


def test_mistakes_of_form_and_of_names_are_told_together():
    text = refusal(repetitons=3, reference="basline")
    assert "repetitons" in text
    assert "basline" in text


def test_source_without_its_checksum_is_told_what_is_missing():
    own = {
        "family": "postgresql",
        "product": "PostgreSQL",
        "version": "16",
        "sources": [{"url": "https://a.example/x"}],
    }
    assert "'sha256' is a required property" in refusal(servers={"postgresql-16": own})


def test_version_that_yaml_read_as_a_number_is_refused():
    own = {"family": "postgresql", "product": "PostgreSQL", "version": 16, "sources": [{"debian": "postgresql-16"}]}
    assert "servers.postgresql-16.version: 16 is not of type 'string'" in refusal(servers={"postgresql-16": own})
