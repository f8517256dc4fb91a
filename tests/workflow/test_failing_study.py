"""Builds that may fail and partial reports, end to end on a copy of the checkout whose costly steps are stubs."""

import fcntl
import html
import json
import re
import shutil

import pandas as pd
import pytest

from scripts.build.compilation.stages import instrumented
from scripts.study.config.declared_builds import BuildDeclaration
from tests.workflow.running import COSTLY, REPORTING
from tests.workflow.stubbed import copied

pytestmark = pytest.mark.slow

SERVER = {"server": "postgresql-15"}
BUILDS = {
    "broken": {"flags": "-O1", "may_fail": True},
    "untrained": {"profile": "mixed", "flags": "-O3", "may_fail": True},
    "wrong": {"flags": "-Os", "may_fail": True},
}
ARMS = ("baseline", "pgo", *BUILDS)
PLANNED = {
    "variants": {name: {**SERVER, "build": name} for name in ARMS},
    "builds": BUILDS,
    "workloads": {"simple_select": None},
    "repetitions": 2,
}
STAGE = instrumented(BuildDeclaration(**BUILDS["untrained"]).compiled)
BROKEN = {"STUB_BROKEN": f"broken {STAGE}", "STUB_WRONG": "wrong"}
REPORT = "results/report.html"
PARTIAL = ("--config", "partial=true")
CHEAP = {*REPORTING, "prove_builds", "publish_report"}


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """A study of three builds that fail, each in its own way, and may; brought to its report."""
    made = copied(tmp_path_factory.mktemp("failing-study"))
    made.configure(**PLANNED)
    answer = made.run("--cores", "2", REPORT, **BROKEN)
    assert answer.status == 0, answer.text
    return made


@pytest.fixture
def study(failing):
    """The same, to be edited: its config is put back afterwards."""
    yield failing
    failing.configure(**PLANNED)


def record(made, pattern):
    (file,) = made.root.glob(f"results/{pattern}")
    return json.loads(file.read_text())


def runs_of(made, study="default"):
    found = (made.root / "results" / "studies" / study / "blocks").glob("*/*/*/*/*.json")
    return sorted(path for path in found if path.name != "block.json")


def said(made, study="default"):
    page = (made.root / "results" / "studies" / study / "report.html").read_text()
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]+>", " ", page)))


def test_builds_that_may_fail_take_only_their_own_variants_with_them(failing):
    runs = pd.read_csv(failing.root / "results" / "studies" / "default" / "tables" / "runs.csv")
    outcomes = {name: set(group) for name, group in runs.groupby("variant")["outcome"]}
    assert outcomes == {"baseline": {"ok"}, "pgo": {"ok"}, "aa": {"ok"}, **{name: {"failed"} for name in BUILDS}}
    assert len(runs) == 12
    assert runs[runs["outcome"] == "failed"]["tps"].isna().all()


@pytest.mark.parametrize(
    ("build", "file", "story"),
    [
        ("broken", "builds/postgresql-15/broken-*/identity.json", "broken.c:1: error: a stub's"),
        ("untrained", "builds/postgresql-15/untrained-*/identity.json", f"{STAGE}.c:1: error: a stub's"),
        ("wrong", "checks/postgresql-15/wrong-*/check.json", "answers 1 of 409 questions differently"),
    ],
)
def test_reason_goes_from_the_failure_into_its_runs_and_onto_the_page(failing, build, file, story):
    failure = record(failing, file)
    assert failure["outcome"] == "failed"
    assert story in failure["reason"]
    reasons = {json.loads(run.read_text())["reason"] for run in runs_of(failing) if run.stem == build}
    assert len(reasons) == 1
    assert story in next(iter(reasons))
    assert re.search(rf"Failed: (check of )?{build} of postgresql-15 .*{re.escape(story)}", said(failing))


def test_stage_that_failed_takes_its_profile_with_it(failing):
    found = [
        json.loads(file.read_text()) for file in failing.root.glob("results/profiles/postgresql-15/*/profile.json")
    ]
    failures = [profile for profile in found if profile.get("outcome") == "failed"]
    assert (len(found), len(failures)) == (2, 1)
    assert f"{STAGE}.c:1: error" in failures[0]["reason"]


def test_nothing_of_a_finished_study_with_failures_is_made_again(study):
    assert "Nothing to be done" in study.plan().text


def test_leave_to_fail_is_no_part_of_what_is_made(study):
    study.configure(**{**PLANNED, "builds": {name: {**each, "may_fail": False} for name, each in BUILDS.items()}})
    assert study.plan().costly == {}


def test_build_that_must_not_fail_stops_the_study_before_any_run(study):
    variants = {"baseline": {**SERVER, "build": "baseline"}, "strict": {**SERVER, "build": "strict"}}
    study.configure(**{**PLANNED, "study": "strict", "variants": variants, "builds": {"strict": {"flags": "-Og"}}})
    answer = study.run("--cores", "2", "results/studies/strict/report.html", STUB_BROKEN="strict")
    assert answer.status != 0
    assert "strict.c:1: error: a stub's" in answer.text
    assert not list(study.root.glob("results/builds/postgresql-15/strict-*/identity.json"))
    assert runs_of(study, "strict") == []


def test_stage_shared_with_a_build_that_must_not_fail_must_not_fail_either(study):
    firm = {"profile": "mixed", "flags": "-Ofast"}
    builds = {"weak": {**firm, "lto": True, "may_fail": True}, "firm": firm}
    arms = {name: {**SERVER, "build": name} for name in ("baseline", "weak", "firm")}
    study.configure(**{**PLANNED, "study": "shared", "variants": arms, "builds": builds})
    answer = study.run(
        "--cores",
        "2",
        "results/studies/shared/report.html",
        STUB_BROKEN=instrumented(BuildDeclaration(**firm).compiled),
    )
    assert answer.status != 0
    assert runs_of(study, "shared") == []


@pytest.fixture
def saved(study):
    """The study, whose results are put back afterwards."""
    places = [(study.root / name, study.root.parent / f"kept{name}") for name in ("results", ".snakemake")]
    for place, kept in places:
        shutil.copytree(place, kept, symlinks=True)
    yield study
    for place, kept in places:
        shutil.rmtree(place)
        kept.rename(place)


@pytest.fixture
def interrupted(saved):
    """The study as if it had been stopped after its first block, of six runs."""
    (second,) = (saved.root / "results" / "studies" / "default" / "blocks").glob("*/*/2")
    shutil.rmtree(second)
    return saved


def test_partial_report_makes_cheap_things_only_and_says_what_it_lacks(interrupted):
    results = interrupted.root / "results"
    shutil.rmtree(results / "sources")
    for file in (*results.glob("builds/*/pgo-*/audit.json"), *results.glob("checks/*/pgo-*/check.json")):
        file.unlink()
    assert interrupted.run("--dry-run", REPORT, *PARTIAL).jobs.keys() <= CHEAP
    answer = interrupted.run("--cores", "2", REPORT, *PARTIAL)
    assert answer.status == 0, answer.text
    assert "partial report of study default: 6 of 12 planned runs" in answer.text
    assert "Partial: 6 of 12 planned runs." in said(interrupted)
    assert (
        (interrupted.root / "results" / "studies" / "default" / "summary.md").read_text().startswith("**Partial: 6 of")
    )
    assert json.loads((interrupted.root / "results" / "studies" / "default" / "study.json").read_text())["partial"]
    table = pd.read_csv(interrupted.root / "results" / "studies" / "default" / "tables" / "runs.csv")
    assert (table["outcome"] == "missing").sum() == 6
    assert len(runs_of(interrupted)) == 6


def test_study_goes_on_after_a_partial_report_as_if_there_had_been_none(interrupted):
    assert interrupted.run("--cores", "2", REPORT, *PARTIAL).status == 0
    plan = interrupted.plan()
    assert plan.costly == {"measure_block": 1}
    assert plan.jobs.keys() - COSTLY <= {*CHEAP, "finish_preparations"}
    answer = interrupted.run("--cores", "2", REPORT, **BROKEN)
    assert answer.status == 0, answer.text
    assert "Partial" not in said(interrupted)
    assert "Nothing to be done" in interrupted.plan().text


def test_partial_report_of_a_finished_study_gives_way_to_the_whole_one(saved):
    assert saved.run("--cores", "2", REPORT, *PARTIAL).status == 0
    assert "Partial: 12 of 12 planned runs." in said(saved)
    assert saved.plan().costly == {}
    assert saved.run("--cores", "2", REPORT).status == 0
    assert "Partial" not in said(saved)


def test_partial_report_without_a_run_is_refused_with_a_sentence(saved):
    shutil.rmtree(saved.root / "results" / "studies")
    answer = saved.run("--cores", "2", REPORT, *PARTIAL)
    assert answer.status != 0
    assert "partial: none of the 12 planned runs of study default is measured yet" in answer.text
    assert "Traceback" not in answer.text


def test_partial_report_is_refused_beside_a_measurement_and_points_to_the_view(study):
    with (study.root / "results" / ".lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = study.run("--cores", "2", REPORT, *PARTIAL)
    assert answer.status != 0
    assert "a report would take CPU time from what it measures; `make watch` shows its figures so far" in answer.text
    assert "Traceback" not in answer.text
