"""A study is its config file laid over the catalog; what a bad one is told is in test_bad_config.py."""

import json
import resource

import pytest

from scripts.study.config.declared_loads import DatasetDeclaration
from scripts.study.config.loading import load, read
from scripts.study.config.yaml_lines import ConfigError
from tests.made.studies import CHECKOUT, SMALL, config

VARIANTS = SMALL["variants"]
STUDIES = [CHECKOUT / "config.yaml", *sorted((CHECKOUT / "studies").glob("*.yaml"))]
CPU_LIMIT_S = 0.3


def test_small_study_is_accepted():
    study = load(config(), CHECKOUT, "small.yaml")
    assert (study.name, study.workloads) == ("small", ["simple_select", "oltp"])


def test_reference_is_added_a_second_time_as_aa_and_comes_last():
    variants = load(config(reference="pgo"), CHECKOUT, "small.yaml").arms
    assert list(variants) == ["baseline", "pgo", "aa"]
    assert variants["aa"].written() == VARIANTS["pgo"]


def test_study_that_compares_builds_has_its_reference_relinked_as_the_last_variant():
    variants = load(config(relinked=True), CHECKOUT, "small.yaml").arms
    assert list(variants) == ["baseline", "pgo", "aa", "relinked"]
    assert variants["relinked"].written() == VARIANTS["baseline"]


def test_checked_study_does_not_change_with_the_config_it_came_from():
    given = config()
    study = load(given, CHECKOUT, "small.yaml")
    given["variants"]["pgo"]["build"] = "other"
    assert study.arms["pgo"].build == "pgo"


def test_own_entry_is_laid_over_the_catalogs_key_by_key():
    study = load(config(builds={"pgo": {"flags": "-O3"}}), CHECKOUT, "small.yaml")
    assert study.declared.builds["pgo"].written() == {"profile": "mixed", "flags": "-O3"}


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
    assert study.declared.workloads["oltp"].script == "oltp_read_write"
    assert study.declared.datasets["sbtest"].written() == {"tables": 4, "rows": 10}
    assert study.declared.trainings["mixed"].clients == 4


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_study_of_the_checkout_is_sound(file):
    study = read(file, CHECKOUT)
    assert study.name == ("default" if file.stem == "config" else file.stem)


def test_config_file_is_read_and_its_lines_are_told(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text((CHECKOUT / "studies" / "quick.yaml").read_text().replace("reference: baseline", "reference: x"))
    with pytest.raises(ConfigError, match=r"mine.yaml:\d+: reference: 'x' is unknown"):
        read(file, CHECKOUT)


def test_reading_a_study_takes_little_cpu_time():
    """The best of three: what else the machine does counts in none of them, but caches do in the first."""
    assert min(cpu_s(lambda: read(STUDIES[0], CHECKOUT)) for _ in range(3)) < CPU_LIMIT_S


def cpu_s(action):
    before = resource.getrusage(resource.RUSAGE_SELF)
    action()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_keys_are_given_as_they_are_written_in_their_order_without_defaults():
    written = {"rows": 10, "options": {"b": True, "a": 1}, "tables": 4}
    study = load(config(datasets={"own": written}), CHECKOUT, "small.yaml")
    assert json.dumps(study.declared.datasets["own"].written()) == json.dumps(written)
    laid = study.declared.datasets["own"].laid_under(DatasetDeclaration(rows=20, options={"a": 2}))
    assert (laid.tables, laid.rows, laid.options) == (4, 20, {"b": True, "a": 2})
