"""The jobs and the plan that `snakemake -n` prints, from a directory that is not the checkout."""

import os
import re
import shutil

import pytest
import yaml

from scripts.study.config.loading import load
from scripts.study.plan.methods import has_running_server
from scripts.study.plan.preview import plan_text
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from scripts.study.plan.study_description import describe
from tests.workflow.running import CHECKOUT, REPORTING, snakemake

REPORTS = dict.fromkeys(REPORTING, 1)
POSTGRESQL = {"server": "postgresql-15"}
PREPARED = {
    "fetch_source": 1,
    "build_server": 3,
    "train_server": 1,
    "choose_loader": 1,
    "load_dataset": 1,
    "audit_build": 1,
    "answer_statements": 2,
    "compare_answers": 2,
    "prove_builds": 1,
    "finish_preparations": 1,
}
STUDIES = sorted((CHECKOUT / "studies").glob("*.yaml"))
# Study -> rules that the studies planned elsewhere in this module do without.
PLANNED_BY_SNAKEMAKE = {
    "builds-postgresql": {"bolt_server"},
    "storage": {"diagnose_run"},
    "server-versions": {"install_prebuilt"},
}


@pytest.fixture
def checkout_copy(tmp_path):
    """A copy of what a dry run reads, to be edited."""
    for name in ("rules", "catalog", "scripts", "studies", "profiles", "envs", "workloads"):
        shutil.copytree(CHECKOUT / name, tmp_path / "copy" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "config.yaml"):
        shutil.copy2(CHECKOUT / name, tmp_path / "copy" / name)
    return tmp_path / "copy"


def quick(**changes):
    return {**yaml.safe_load((CHECKOUT / "studies" / "quick.yaml").read_text()), **changes}


def written(path, config):
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


def planned(directory, *arguments, **more):
    answer = snakemake(directory, "--dry-run", *arguments, **more)
    assert answer.status == 0, answer.text
    return answer


def test_default_study_plans_its_eighty_runs_after_three_compiles(tmp_path):
    answer = planned(tmp_path)
    assert answer.jobs == {**PREPARED, **REPORTS, "measure_block": 20, "publish_report": 1}
    assert "plan of study default" in answer.text
    assert re.search(r"^  measure +80 of 80 +about", answer.text, re.M)
    assert re.search(r"^  time +compiling about .*, measuring about .*, the rest about", answer.text, re.M)
    assert re.search(rf"^  machine +{len(os.sched_getaffinity(0))} cores? to compile", answer.text, re.M)
    assert re.search(r"^  bytes +.* to copy .*; about .* to keep", answer.text, re.M)


def test_quick_study_plans_exactly_its_own_variants_and_workloads(tmp_path):
    answer = planned(tmp_path, "--configfile", CHECKOUT / "studies" / "quick.yaml")
    assert answer.jobs == {**PREPARED, **REPORTS, "measure_block": 10}
    blocks = [path.split("/") for path in answer.made("measure_block")]
    assert {parts[4] for parts in blocks} == {"simple_select", "oltp"}
    assert len(blocks) == 10
    assert "mariadb-10.11" not in answer.text


def test_study_of_its_own_variant_names_gets_none_of_the_default_ones(tmp_path):
    arms = {"plain": {**POSTGRESQL, "build": "baseline"}, "trained": {**POSTGRESQL, "build": "pgo"}}
    config = written(tmp_path / "own.yaml", quick(study="own", variants=arms, reference="plain"))
    answer = planned(tmp_path, "--configfile", config)
    assert "10 blocks, all servers up, side by side in slices" in answer.text
    made = Schedule(Plan(load(yaml.safe_load(config.read_text()), CHECKOUT, config.name, [config]), CHECKOUT))
    assert {run.variant for run in made.runs.values()} == {"plain", "trained", "aa", "relinked"}


def refused_without_its_compiler(said):
    if missing := re.search(r"toolchains\..* found neither on PATH.*", said):
        pytest.skip(missing[0])


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.stem)
def test_every_study_of_the_checkout_can_be_planned(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = yaml.safe_load(study.read_text())
    assert config["study"] == study.stem
    for size in [{}, {"scale": "small"}] if "small" in config else [{}]:
        plan = Plan(load({**config, **size}, CHECKOUT, study.name, [study]), CHECKOUT)
        try:
            paths = Schedule(plan)
            said = plan_text.plan_text(paths, 2)
        except ValueError as error:
            refused_without_its_compiler(str(error))
            raise
        assert said.startswith(f"plan of study {plan.study.name}\n")
        assert f"  measure {len(paths.runs):>6} of {len(paths.runs)} " in said
        assert describe(paths, [study], paths.blocks).study == plan.study.name
        # A server that already runs cannot be asked to answer on an empty data directory.
        assert bool(paths.checks) != has_running_server(plan)
        assert paths.datasets


@pytest.mark.parametrize("name", PLANNED_BY_SNAKEMAKE)
def test_studies_with_rules_of_their_own_are_planned_by_snakemake(name, tmp_path):
    """These need BOLT, diagnoses and ready-made servers; the other tests of this module plan what is compiled."""
    study = CHECKOUT / "studies" / f"{name}.yaml"
    answer = snakemake(tmp_path, "--dry-run", f"results/studies/{name}/report.html", "--configfile", study)
    refused_without_its_compiler(answer.text)
    assert answer.status == 0, answer.text
    assert answer.jobs["render_report"] == 1
    assert answer.jobs.keys() >= PLANNED_BY_SNAKEMAKE[name]


def test_small_scale_is_one_word_on_the_command_line_and_has_a_report_of_its_own(tmp_path):
    study = CHECKOUT / "studies" / "ahi-doublewrite.yaml"
    answer = planned(tmp_path, "--configfile", study, "--config", "scale=small", "measure_s=4")
    blocks = [path.split("/") for path in answer.made("measure_block")]
    assert {parts[2] for parts in blocks} == {"ahi-doublewrite-small"}
    assert {parts[5] for parts in blocks} == {"8"}
    assert re.search(r"^  measure +60 of 60 ", answer.text, re.M)


def test_new_workload_adds_its_runs_and_nothing_else(tmp_path):
    workloads = {**quick()["workloads"], "point_select": {"script": "oltp_point_select", "dataset": "sbtest"}}
    answer = planned(tmp_path, "--configfile", written(tmp_path / "more.yaml", quick(workloads=workloads)))
    assert answer.jobs == {**PREPARED, **REPORTS, "measure_block": 15}


def test_new_release_is_one_entry_in_the_catalog(checkout_copy, tmp_path):
    catalog = checkout_copy / "catalog" / "servers.yaml"
    entry = "  postgresql-16:\n    family: postgresql\n    product: PostgreSQL\n    version: '16'\n    sources:\n"
    catalog.write_text(catalog.read_text() + entry + "      - debian: postgresql-16\n")
    arms = {"new": {"server": "postgresql-16", "build": "baseline"}}
    config = written(tmp_path / "new.yaml", quick(variants=arms, reference="new"))
    answer = planned(tmp_path, "--configfile", config, root=checkout_copy)
    (made,) = answer.made("fetch_source")
    assert re.fullmatch("results/sources/postgresql-16-[0-9a-f]{12}/tree", made)


def test_dry_run_leaves_nothing_but_snakemakes_own_folder(tmp_path):
    planned(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".snakemake"]


def test_report_of_the_default_study_is_refused_with_another_config(tmp_path):
    answer = snakemake(
        tmp_path, "--dry-run", "results/report.html", "--configfile", CHECKOUT / "studies" / "quick.yaml"
    )
    assert answer.status != 0
    assert "this config file's is `quick`: ask for results/studies/quick/report.html" in answer.text


def test_digest_of_another_config_is_refused_as_a_target(tmp_path):
    target = "results/builds/postgresql-15/baseline-000000000000/identity.json"
    answer = snakemake(tmp_path, "--dry-run", target, "--configfile", CHECKOUT / "studies" / "quick.yaml")
    assert answer.status != 0
    assert "not 000000000000" in answer.text


def test_mistakes_in_the_config_are_told_under_dry_run_without_a_traceback(tmp_path):
    arms = {**quick()["variants"], "more": {"server": "postgresql-51", "build": "pog"}}
    config = written(tmp_path / "wrong.yaml", quick(variants=arms, reference="basline"))
    answer = snakemake(tmp_path, "--dry-run", "--configfile", config)
    assert answer.status != 0
    assert "wrong.yaml: 3 mistake(s)" in answer.text
    assert "'postgresql-51' is unknown, did you mean 'postgresql-15'?" in answer.text
    assert "Traceback (most recent call last)" not in answer.text


def test_missing_compiler_is_told_under_dry_run(tmp_path):
    tools = dict.fromkeys(("cc", "cxx", "ar", "ranlib", "nm", "gcov_dump"), "gcc-99")
    config = written(tmp_path / "gcc.yaml", quick(toolchains={"gcc-12": tools}))
    answer = snakemake(tmp_path, "--dry-run", "--configfile", config)
    assert answer.status != 0
    assert "toolchains.gcc-12.cc: command 'gcc-99' found neither on PATH" in answer.text


def test_config_that_is_a_template_runs_no_code(checkout_copy, tmp_path):
    config = checkout_copy / "config.yaml"
    code = f"__use_yte__: true\n__definitions__:\n- import os\n- os.mkdir({str(tmp_path / 'ran')!r})\n"
    config.write_text(code + config.read_text())
    answer = snakemake(tmp_path, "--dry-run", root=checkout_copy)
    assert answer.status != 0
    assert "copy/config.yaml:1: __use_yte__: this key makes a config file a template" in answer.text
    assert not (tmp_path / "ran").exists()
    # Snakemake renders this one itself before it reads the Snakefile; the study is refused all the same.
    answer = snakemake(tmp_path, "--dry-run", "--configfile", config, root=checkout_copy)
    assert answer.status != 0
    assert "copy/config.yaml:1: __use_yte__: this key makes a config file a template" in answer.text
