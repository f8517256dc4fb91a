"""Diagnoses are extra runs beside a study: planned when asked for, and nothing of the study changes with them."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.commands import retry
from scripts.commands.prune import unused_results
from scripts.lib import json_record
from scripts.lib.host import outcome
from scripts.study.config.declared_loads import WorkloadDeclaration
from scripts.study.config.loading import load
from scripts.study.plan.diagnosis_plan import TOOLS, Diagnoses, settings
from tests.made.studies import CHECKOUT, config, paths

RAW = {"sql": "queries.sql", "dataset": "sbtest"}


def planned(**changes):
    return [
        (each.variant, each.workload, each.clients, each.tool) for each in Diagnoses(paths(**changes)).of_paths.values()
    ]


def test_study_without_the_key_has_none():
    assert planned() == []


def test_all_is_looked_into_at_the_largest_client_count_unless_said():
    expected = [
        (variant, workload, 16, tool)
        for workload in ("simple_select", "oltp")
        for variant in ("baseline", "pgo")
        for tool in TOOLS
    ]
    assert planned(diagnose={}, clients=[16, 8]) == expected


def test_only_what_is_named_is_looked_into():
    asked = {"tools": ["waits", "perf"], "variants": ["pgo"], "workloads": ["oltp"], "clients": [2, 4]}
    expected = [("pgo", "oltp", clients, tool) for clients in (2, 4) for tool in ("perf", "waits")]
    assert planned(diagnose=asked) == expected


def test_the_key_leaves_runs_and_what_they_stand_on_as_they_are():
    plain, asked = paths(), paths(diagnose={})
    assert asked.runs == plain.runs
    assert (asked.datasets, asked.builds) == (plain.datasets, plain.builds)


@pytest.mark.parametrize("change", [{"diagnose": {"seconds": 20}}, {"campaign": 2}, {"warmup_s": 9}])
def test_another_way_of_looking_makes_new_diagnoses(change):
    before = Diagnoses(paths(diagnose={})).of_paths
    after = Diagnoses(paths(**{"diagnose": {}, **change})).of_paths
    assert len(before) == len(after) == 16
    assert not before.keys() & after.keys()


def test_another_window_of_the_study_leaves_diagnoses_as_they_are():
    before, after = (Diagnoses(paths(diagnose={}, measure_s=seconds)).of_paths for seconds in (5, 50))
    assert list(before) == list(after)


def test_recipe_is_that_of_a_run_with_its_own_window_and_the_tool():
    made = paths(diagnose={"seconds": 30, "tools": ["waits"]})
    diagnoses = Diagnoses(made)
    path, one = next(iter(diagnoses.of_paths.items()))
    recipe = diagnoses.recipe(one)
    run = made.plan.load(one.variant, one.workload)
    assert recipe.load == replace(run, measure_s=30)
    assert recipe.variant == made.plan.variant(one.variant)
    assert path.startswith("results/studies/small/diagnoses/baseline-")
    assert path.endswith("/8/waits.json")


def test_diagnosis_is_told_its_number_and_what_it_must_not_stand_on():
    made = Diagnoses(paths(diagnose={"clients": [3]}))
    last = made.context(list(made.of_paths)[-1])
    assert (last.clients, last.run_number, last.runs_total) == (3, 16, 16)
    assert any(path.endswith("check.json") for path in last.judged)


def test_timed_sql_is_left_out():
    study = load(config(diagnose={}), CHECKOUT, "small.yaml")
    study.declared.workloads["oltp"] = WorkloadDeclaration(**RAW)
    assert settings(study).workloads == ["simple_select"]


def test_tool_that_could_not_be_used_is_tried_again_when_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = paths(diagnose={"tools": ["perf"], "workloads": ["oltp"]})
    lost, found = map(Path, Diagnoses(made).of_paths)
    json_record.write(lost, outcome.failure_facts("perf is not installed here"))
    json_record.write(found, {"outcome": "ok"})
    (failure,) = retry.failed(made)
    assert failure.reason == "perf is not installed here"
    assert failure.removed == (lost, lost.with_suffix(".txt"))


def test_diagnoses_of_an_earlier_config_are_left_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    now, then = (paths(diagnose={"seconds": seconds}) for seconds in (5, 6))
    for path in [*Diagnoses(now).of_paths, *Diagnoses(then).of_paths]:
        json_record.write(Path(path), {"outcome": "ok"})
    named = unused_results.Named()
    unused_results.name_planned(named, now)
    left = [str(leftover.path) for leftover in unused_results.unnamed(named)]
    assert sorted(left) == sorted({str(Path(path).parents[1]) for path in Diagnoses(then).of_paths})
