"""The whole report of studies in which something failed: it is made, shows the holes, and says why and how many."""

import re

import pytest

from scripts.lib.json_record import read
from scripts.report.analysis.run_tables import read_csv
from tests.made import synthetic
from tests.made.rendering import Elements, answer_of, findings_of, rendered, worded

pytestmark = pytest.mark.slow

DIED = "server died with signal 11"
CELLS = ("simple_select", "oltp")
EVERY = frozenset(
    (name, load, 8, repetition) for name in ("baseline", "pgo", "aa") for load in CELLS for repetition in range(1, 6)
)


def lost(*, variants=("baseline", "pgo", "aa"), workloads=CELLS):
    return frozenset(run for run in EVERY if run[0] in variants and run[1] in workloads)


CASES = {
    "a variant everywhere": (lost(variants=("pgo",)), 10),
    "a variant in one cell": (lost(variants=("pgo",), workloads=("oltp",)), 5),
    "all of one cell": (lost(workloads=("oltp",)), 15),
    "the reference in one cell": (lost(variants=("baseline",), workloads=("oltp",)), 5),
    "the reference everywhere": (lost(variants=("baseline",)), 10),
    "aa": (lost(variants=("aa",)), 10),
    "everything": (EVERY, 30),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    failures, count = CASES[request.param]
    plan = synthetic.Plan(workloads=CELLS, failures=failures)
    return request.param, count, *rendered(plan, tmp_path_factory.mktemp("lost"))


def said(page):
    return re.sub(r"[\u00a0\u202f]", " ", Elements(page).said())


def test_failed_runs_are_counted_shown_with_their_reason_and_never_zero(case):
    _, count, tree, page, summary = case
    found = findings_of(tree)["runs"]
    assert (found.state, found.text) == ("look", f"{30 - count} of 30 planned runs gave a measurement; {count} failed.")
    assert all(f"failed, {DIED}" in line for line in found.details)
    assert page.count('class="run lost"') == count
    assert found.text in summary
    cells = read_csv(tree.tables / "cells.csv")
    assert not (cells[["value", "ratio"]] == 0).any(axis=None)
    assert cells[cells["n_ok"] == 0]["value"].isna().all()


def test_every_lost_cell_is_a_hole_on_the_page_and_in_the_summary(case):
    name, _, tree, page, summary = case
    runs = read_csv(tree.tables / "runs.csv")
    ok = runs[runs["outcome"] == "ok"].groupby(["variant", "workload"]).size()
    holes = 6 - len(ok)
    assert page.count('<td class="hole" title="repetitions 1, 2, 3, 4 and 5: ' + DIED) >= holes * 3, name
    assert len(re.findall(r"\| failed (?=\|)", summary)) == holes * 3
    assert "nan" not in re.sub(r"\w*nan\w+|\w+nan\w*", "", said(page).lower())


def test_answer_says_what_cannot_be_said(case):
    name, _, tree, page, summary = case
    answer = answer_of(tree)
    told = " ".join([answer.headline, *(sentence.text for sentence in answer.sentences)])
    match name:
        case "a variant everywhere" | "everything":
            assert answer.headline == "pgo cannot be compared with baseline: no block has both runs."
            assert f"Of 10 blocks: in 10 blocks pgo: {DIED}" in told
        case "the reference in one cell" | "the reference everywhere":
            assert "geometric mean over 2 workloads, 5 repetitions" in told.replace("\u202f", " ")
            assert "Not in these figures" not in told
        case "aa":
            assert "pgo is more than 2 % faster than baseline" in told.replace("\u202f", " ")
            assert "The reference was not measured a second time" in said(page)
        case _:
            assert "over 1 workload, 5 repetitions" in re.sub(r"[\u00a0\u202f]", " ", told)
            assert "Not in these figures: 1 cell of 2 could not be compared, 5 blocks without both runs." in told
    assert answer.headline in summary


def test_lost_repetition_is_seen_beside_the_mean_it_is_missing_from(tmp_path):
    plan = synthetic.Plan(workloads=("oltp",), failures=frozenset([("pgo", "oltp", 8, 2)]), repetitions=6)
    _, page, summary = worded(plan, tmp_path)
    for text in (said(page), re.sub(r"[\u00a0\u202f]", " ", summary)):
        assert "5 blocks, 1 incomplete" in text
        assert "1 have none or failed" in text
    assert "n 5 of 6, over 2 % faster" in said(page)


REASON = "compiling failed, first error lines:\nsql/x.cc:7: error: no member named 'y'"
TOLD = "compiling failed, first error lines: sql/x.cc:7: error: no member named 'y'"
FAILURE = {"outcome": "failed", "reason": REASON}


def without_build(facts):
    """Turn the records of pgo into those of a build that failed, and its runs into failed ones."""
    if facts.get("build") == "pgo" and "stage" in facts:
        return {key: facts[key] for key in ("format", "server", "family", "release", "build", "stage")} | FAILURE
    if facts.get("build") == "pgo":
        return {"format": 1, "server": facts["server"], "build": "pgo", "reference_build": "baseline", **FAILURE}
    if facts.get("variant") == "pgo":
        kept = {key: facts[key] for key in list(facts)[: list(facts).index("server")] if key != "window"}
        return {**kept, "server": {**facts["server"], "build_id": None, "sha256": None}, "times": facts["times"],
                "outcome": "failed", "reason": f"build pgo failed, see identity.json: {TOLD}"}  # fmt: skip
    return facts


@pytest.fixture(scope="module")
def unbuilt(tmp_path_factory):
    return rendered(synthetic.Plan(workloads=CELLS), tmp_path_factory.mktemp("unbuilt"), without_build)


def test_failed_build_is_told_first_with_its_reason_and_has_no_figures(unbuilt):
    tree, page, summary = unbuilt
    assert answer_of(tree).headline == "pgo cannot be compared with baseline: no block has both runs."
    sentence = f"Its build failed, so nothing was measured with it: {TOLD}"
    assert [each.text for each in answer_of(tree).sentences] == [sentence]
    assert sentence in said(page)
    assert sentence in summary.replace("\\", "")
    builds = said(page).partition(" Builds Failed: pgo of mariadb-10.11 ")[2]
    assert builds.startswith(re.sub(r"\s+", " ", REASON))
    table = re.search(r'<table class="sided builds">.*?</thead>', page, re.S)[0]
    assert ">baseline<" in table
    assert ">pgo<" not in table
    assert "Profile used by pgo" not in said(page)


def test_failed_build_is_a_finding_and_no_reproach_of_audit_or_check(unbuilt):
    found = findings_of(unbuilt[0])
    assert next(iter(found)) == "failed_builds"
    assert found["failed_builds"].text == "1 of 2 variants were not measured, since their build failed."
    assert "never audited" not in found["profile_used"].text
    assert not any("answers differently" in line for line in found["same_answers"].details)


@pytest.mark.parametrize("kind", ["audits", "checks"])
def test_build_refused_by_audit_or_check_is_told_with_the_story(tmp_path, kind):
    story = "mariadb-10.11: build pgo answers 3 of 409 questions differently from baseline"

    def refuse(facts):
        asked = "statements" if kind == "checks" else "units_matched"
        return (
            {**facts, "outcome": "failed", "reason": story} if facts.get("build") == "pgo" and asked in facts else facts
        )

    tree, page, _ = worded(synthetic.Plan(workloads=("oltp",)), tmp_path, refuse)
    assert f"Failed: {kind[:-1]} of pgo of mariadb-10.11" in said(page)
    assert answer_of(tree).sentences[0].text == f"Its build failed, so nothing was measured with it: {story}"


def test_failed_training_is_told_and_not_shown_as_one_that_counted_nothing(tmp_path):
    def refuse(facts):
        names = {key: facts[key] for key in ("format", "server", "training")} if "counters_digest" in facts else None
        return {**names, "trained": "instrumented", "tool": None, **FAILURE} if names else facts

    _, page, _ = worded(synthetic.Plan(workloads=("oltp",)), tmp_path, refuse)
    assert "Failed: training mixed of mariadb-10.11" in said(page)
    assert "of – functions ran" not in said(page)


def partial_of(plan, root, keep):
    """Render the report of a study of which only some runs, builds and checks are there."""

    def edit(facts):
        return {**facts, "partial": True} if "order" in facts else facts

    made = [facts for facts in synthetic.runs(plan) if keep(facts)]
    return rendered(plan, root, edit, made=made)


def test_partial_report_says_so_at_the_very_top_and_missing_runs_are_holes(tmp_path):
    plan = synthetic.Plan(workloads=CELLS)
    tree, page, summary = partial_of(plan, tmp_path, lambda facts: facts["run_number"] <= 17)
    assert said(page).strip().startswith("Partial: MariaDB")
    assert re.search(r'<header id="answer">\s*<p class="partial">Partial: 17 of 30 planned runs\.', page)
    assert summary.startswith("**Partial: 17 of 30 planned runs.")
    found = findings_of(tree)["runs"]
    assert found.text == "17 of 30 planned runs gave a measurement; 13 missing."
    assert all(line.endswith("missing, not measured yet") for line in found.details)
    assert "3 blocks, 2 incomplete" in said(page)
    runs = read_csv(tree.tables / "runs.csv")
    assert runs["run_number"].tolist() == list(range(1, 31))


def test_cell_without_any_run_yet_is_missing_and_not_failed(tmp_path):
    plan = synthetic.Plan(workloads=CELLS)
    _, page, summary = partial_of(plan, tmp_path, lambda facts: facts["workload"] == "oltp")
    assert 'title="repetitions 1, 2, 3, 4 and 5: not measured yet">missing</td>' in page
    assert "| missing |" in summary
    assert ">failed<" not in page


def test_one_run_alone_makes_a_report(tmp_path):
    tree, page, _ = partial_of(synthetic.Plan(workloads=CELLS), tmp_path, lambda facts: facts["run_number"] == 1)
    assert "Partial: 1 of 30 planned runs" in said(page)
    assert "cannot be compared with baseline" in answer_of(tree).headline


def test_whole_study_says_nothing_of_partial(report):
    assert read(report[0].study).get("partial") is None
    assert "Partial" not in said(report[1])
    assert "artial" not in report[2]
