"""The workflow's own logic, end to end, on a copy of the checkout whose costly steps are stubs.

Small scripts (tests/workflow/stubs) replace the costly steps, and the steps that read outputs only real ones have. They
write plausible records, so these tests prove nothing about a compiler, a server or sysbench. They prove which jobs run,
in which order, and that the runs' figures reach the report unchanged. What an edit makes stale: test_what_reruns.py.
"""

import json
import re
import shutil

import pandas as pd
import pytest

from tests.workflow import stubbed
from tests.workflow.running import COSTLY
from tests.workflow.stubbed import STUDY

VARIANTS = STUDY["variants"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The study of stubs, brought to its report on two cores."""
    return stubbed.finished(tmp_path_factory, "stub-study")


@pytest.fixture
def study(finished):
    """The finished study, to be edited: its config is put back afterwards."""
    yield finished
    finished.configure()


def table(made, name):
    return pd.read_csv(made.root / "results" / "studies" / "default" / "tables" / f"{name}.csv")


def described(made):
    return json.loads((made.root / "results" / "studies" / "default" / "study.json").read_text())


def planned_blocks(made):
    return [(workload, clients, repetition) for workload, clients, repetition, _ in described(made)["order"]]


def place_of(event):
    found = re.search(r"/blocks/([^/]+)/(\d+)/(\d+)/\w{12}/block\.json", event.words)
    return found[1], int(found[2]), int(found[3])


def test_speedup_of_the_stubs_reaches_the_table(finished):
    # A/A, half of the denominator, has a noise of a tenth of a per cent.
    overall = table(finished, "overall").set_index(["variant", "metric"])
    assert overall.loc[("pgo", "tps"), "ratio"] == pytest.approx(1.25, rel=1e-3)
    assert overall.loc[("other", "tps"), "ratio"] == pytest.approx(0.8, rel=1e-3)
    assert overall.loc[("pgo", "tps"), ["ratio_low", "ratio_high"]].tolist() == pytest.approx([1.25, 1.25], rel=3e-3)
    assert overall.loc[("pgo", "tps"), ["n_cells", "n_repetitions", "verdict"]].tolist() == [2, 5, "far_above"]
    assert overall.loc[("other", "tps"), "verdict"] == "far_below"


def test_speedup_of_the_stubs_stands_in_the_page(finished):
    page = re.sub(r"[\u00a0\u202f]", " ", (finished.root / "results" / "report.html").read_text())
    over = r"the transactions per second of baseline, geometric mean over 2 workloads, 5 repetitions\."
    for name, word, digits in (("pgo", "faster", r"1\.2[45]\d*"), ("other", "slower", r"0\.(?:80|79)\d*")):
        ratio = rf"{digits} × \(95 % interval {digits}–{digits}\)"
        assert re.search(rf"{name} is more than 2 % {word} than baseline: {ratio} {over}", page)


def test_terminal_ends_with_the_answer(finished):
    answer = finished.run("--cores", "1", "--forcerun", "render_report", "--", "results/report.html")
    said = re.sub(r"[\u00a0\u202f]", " ", answer.text)
    assert answer.status == 0, answer.text
    assert re.search(r"\nFaster: pgo 1\.2[45]\d* × the transactions per second \(.*Slower: other ", said)
    assert re.search(r"\npgo +1\.2[45]\d*\* \(", said)
    assert said.count("Report: results/studies/default/report.html") == 1


def test_published_report_is_the_studys_own(finished):
    results = finished.root / "results"
    assert (results / "report.html").read_bytes() == (results / "studies" / "default" / "report.html").read_bytes()


def test_blocks_begin_in_the_planned_order_repetition_outermost(finished):
    begun = [place_of(event) for event in finished.events() if event.module == "measure_block"]
    assert begun == planned_blocks(finished)
    assert [repetition for *_, repetition in begun] == sorted(repetition for *_, repetition in begun)
    assert len(begun) == 10


def test_no_block_and_no_training_overlaps_any_other_job(finished):
    events = finished.events()
    alone = [event for event in events if event.module in ("measure_block", "train_server")]
    overlaps = [
        (one.words, other.words)
        for one in alone
        for other in events
        if one is not other and one.begin_s < other.end_s and other.begin_s < one.end_s
    ]
    assert len(alone) == 10 + 2
    assert overlaps == []


def test_no_block_begins_before_everything_is_built_and_loaded(finished):
    events = finished.events()
    first = min(event.begin_s for event in events if event.module == "measure_block")
    prepared = [event for event in events if event.module in COSTLY - {"measure_block"}]
    assert len(prepared) == 2 + 6 + 2 + 2 + 3  # sources, builds, profiles, datasets, checks
    assert max(event.end_s for event in prepared) < first


def test_each_run_was_told_its_number_in_the_order(finished):
    runs = table(finished, "runs").sort_values("started_at")
    assert runs["run_number"].tolist() == list(range(1, 51))


@pytest.mark.parametrize("rule", ["collect_runs", "compare_variants", "export_tables", "render_report"])
def test_a_job_reads_no_result_that_its_rule_does_not_declare(rule, finished):
    declared, read = finished.declared()[rule], finished.read()[rule]
    blocks = {path.rpartition("/")[0] for path in declared if path.endswith("/block.json")}
    folders = {path for path in declared if (finished.root / path).is_dir()}
    undeclared = {path for path in read - declared if path.rpartition("/")[0] not in blocks | folders}
    assert undeclared == set()
    assert len(read) >= 2


def test_description_keeps_the_order_of_the_config(finished):
    assert list(described(finished)["variants"]) == [*VARIANTS, "aa", "relinked"]
    assert list(described(finished)["workloads"]) == list(STUDY["workloads"])


def test_reference_alone_is_relinked_and_each_repetition_measures_another_relink(finished):
    (found,) = (finished.root / "results").glob("builds/*/*/relinked.json")
    assert re.fullmatch(r"baseline-[0-9a-f]{12}", found.parent.name)
    runs = table(finished, "runs").groupby("variant")["server_sha256"]
    assert runs.nunique().to_dict() == {"aa": 1, "baseline": 1, "other": 1, "pgo": 1, "relinked": 5}
    assert table(finished, "relinked")["n_relinks"].tolist() == [5] * len(table(finished, "relinked"))
    assert not set(runs.unique()["relinked"]) & set(runs.unique()["baseline"])


def test_another_reference_does_not_compile_a_finished_build_again(study):
    study.configure(reference="pgo")
    assert set(study.plan().costly) == {"measure_block"}


@pytest.mark.skipif(not shutil.which("llvm-bolt-16"), reason="bolt-16 is not installed")
def test_variant_with_bolt_brings_its_stages_along_and_ends_in_the_report(study):
    variants = {"baseline": VARIANTS["baseline"], "bolt": {"server": "postgresql-15", "build": "pgo_lto_bolt"}}
    study.configure(study="bolted", variants=variants, repetitions=1)
    answer = study.run("--cores", "2", "results/studies/bolted/report.html")
    assert answer.status == 0, answer.text
    costly = {"build_server": 1, "bolt_server": 2, "train_server": 1, "answer_statements": 1, "measure_block": 2}
    assert answer.costly == costly
    assert "relocatable_gcc-12" in (study.root / "results" / "studies" / "bolted" / "report.html").read_text()


def test_ready_made_server_is_installed_and_not_compiled(study):
    study.configure(variants={**VARIANTS, "ready": {"server": "postgresql-installed", "build": "prebuilt"}})
    answer = study.plan()
    costly = {"fetch_source": 1, "install_prebuilt": 1, "load_dataset": 1, "answer_statements": 1, "measure_block": 10}
    assert answer.costly == costly
    assert answer.made("load_dataset")[0].startswith("results/datasets/postgresql-installed/")


def test_check_reference_is_the_baseline_or_the_first_build_of_the_same_server(finished):
    checks = [json.loads(file.read_text()) for file in finished.root.glob("results/checks/*/*/check.json")]
    references = {(check["server"], check["build"]): check["reference_build"] for check in checks}
    expected = {
        ("postgresql-15", "baseline"): "baseline",
        ("postgresql-15", "pgo"): "baseline",
        ("mariadb-10.11", "pgo"): "pgo",
    }
    assert expected.items() <= references.items()
