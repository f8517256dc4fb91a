"""What a config with timed SQL must say and need not, and which edits make a new run of it."""

import pytest

from scripts.study.config.loading import load
from scripts.study.config.yaml_lines import ConfigError
from tests.made.studies import CHECKOUT, config, plan

QUERIES = {"sql": "mediawiki.sql", "dataset": "sbtest"}
TIMED = {"workloads": {"queries": QUERIES}, "clients": [1]}


def without_window(**changes):
    return {key: value for key, value in config(**changes).items() if key not in ("warmup_s", "measure_s")}


def mistakes(changed, root=CHECKOUT):
    with pytest.raises(ConfigError) as caught:
        load(changed, root, "small.yaml")
    return str(caught.value)


def test_timed_sql_alone_has_no_window_and_any_load_of_sysbench_has_the_default_one():
    windows = {"alone": TIMED, "beside": {"workloads": {"queries": QUERIES, "oltp": None}, "clients": [1]}}
    read = {name: load(without_window(**changes), CHECKOUT, "small.yaml").declared for name, changes in windows.items()}
    assert {name: (declared.warmup_s, declared.measure_s) for name, declared in read.items()} == {
        "alone": (0, 0),
        "beside": (1, 3),
    }


def test_a_training_cannot_be_timed_sql():
    training = {"t": {"workloads": ["oltp", "queries"], "clients": 1, "seconds": 1}}
    told = mistakes(config(**TIMED, trainings=training))
    assert "trainings.t.workloads.1: 'queries' is timed SQL, expected a load of sysbench's" in told


def test_tables_loaded_before_every_run_are_refused_for_their_first_pass_would_not_be_cold():
    told = mistakes(config(**TIMED, datasets={"sbtest": {"fresh": True}}))
    assert "workloads.queries.dataset: 'sbtest' is loaded anew before every run" in told


def test_a_file_that_cannot_be_read_is_a_mistake_of_the_config(tmp_path):
    file = tmp_path / "own.sql"
    file.write_text("SELECT 1;")
    told = mistakes(config(workloads={"queries": {"sql": str(file), "dataset": "sbtest"}}, clients=[1]))
    assert f"{file}:1: the statement has nothing before it" in told


def recipe(root=CHECKOUT, **changes):
    return plan(root, **{**TIMED, **changes}).load("baseline", "queries")


def test_run_follows_file_and_passes_but_no_window():
    beside = plan(**{**TIMED, "workloads": {**TIMED["workloads"], "oltp": None}, "client_environment": {"A": "b"}})
    assert beside.load("baseline", "queries") == recipe()
    assert {"sql", "passes", "content"} <= recipe().dump().keys()
    assert not {"script", "warmup_s", "measure_s"} & recipe().dump().keys()
    assert recipe() == recipe(measure_s=60, warmup_s=20)
    assert recipe() != recipe(workloads={"queries": {**QUERIES, "passes": 3}})


def test_a_statement_changed_in_the_users_own_file_makes_another_run(tmp_path):
    file = tmp_path / "own.sql"
    made = []
    for text in ("SELECT 1", "SELECT 2"):
        file.write_text(f"-- name: one\n{text};\n")
        made.append(recipe(workloads={"queries": {"sql": str(file), "dataset": "sbtest"}}))
    assert made[0].content != made[1].content
