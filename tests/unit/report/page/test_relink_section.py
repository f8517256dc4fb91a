"""What relinking alone moves stands beside every comparison of builds, and a missing relink is named."""

import math

import pandas as pd
import pytest

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CONTROLS, RELINKED
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import relink_section
from tests.made import synthetic
from tests.made.rendering import Elements, answer_of, findings_of, rendered, worded
from tests.made.run import variant

VARIANTS = {"baseline": 0.0, "pgo": 1.0, "relinked": 0.0, "aa": 0.0}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    def moved(facts):
        if facts.get("variant") == RELINKED and facts.get("window"):
            facts["window"]["tps"] *= math.exp(0.1 * (-1) ** facts["repetition"])
        return facts

    plan = synthetic.Plan(workloads=("oltp", "index_update"), variants=VARIANTS, noise=0.005)
    return rendered(plan, tmp_path_factory.mktemp("relinks"), moved)


def test_page_and_summary_have_it_beside_the_answer(report):
    tree, page, summary = report
    row = read_csv(tree.tables / "relinked.csv").query("metric == 'tps' and workload.isna()").iloc[0]
    assert row["moved"] == pytest.approx(0.115, abs=0.02)
    texts = [sentence.text for sentence in answer_of(tree).sentences]
    (sentence,) = [text for text in texts if text.startswith("Relinking alone moves baseline by 1")]
    assert sentence.endswith("over 5 relinks.")
    assert sentence in summary
    assert sentence in Elements(page).said()
    assert len(findings_of(tree)["relinks"].details) == 2


def test_the_arm_is_no_variant_of_the_answers_and_tables(report):
    tree, page, _ = report
    for name in ("cells", "overall", "comparisons", "factors", "bounds"):
        table = read_csv(tree.tables / f"{name}.csv")
        assert "variant" not in table or RELINKED not in set(table["variant"])
    assert set(read_csv(tree.tables / "runs.csv")["variant"]) == set(VARIANTS)
    assert f"{RELINKED} is" not in Elements(page).said()


def test_without_the_arm_it_says_so(tmp_path):
    tree, page, summary = worded(synthetic.Plan(workloads=("oltp",)), tmp_path)
    for text in (Elements(page).said(), summary):
        assert "No relink of baseline was measured: what code layout alone moves is not known." in text
    assert findings_of(tree)["relinks"].state == "plain"


@pytest.mark.parametrize("lto", [True, False])
def test_shuffling_before_lto_is_stated(lto):
    table = pd.DataFrame({"workload": [None], "metric": ["tps"], "moved": [0.01], "moved_low": [0.005],
                          "moved_high": [0.02], "n_relinks": [5], "clients": [None]})  # fmt: skip
    builds = {"baseline": {"lto": lto}, "pgo": {}}
    study = {"variants": {name: {"server": "s", "build": name} for name in builds}, "reference": "baseline"}
    found = relink_section.relinks_finding(ResolvedStudy.of({**study, "builds": builds}), table)
    assert (relink_section.SHUFFLED_BEFORE_LTO in found.details) == lto


def no_relinks():
    return pd.DataFrame({"workload": [], "metric": [], "moved": []})


def test_variants_of_one_build_are_no_comparison_of_builds():
    study = {"reference": "a", "variants": {name: variant("baseline") for name in ("a", "b", *CONTROLS)}}
    assert relink_section.of_builds(ResolvedStudy.of(study)) == []
    assert relink_section.relinks_finding(ResolvedStudy.of(study), no_relinks()) is None
    study["variants"]["c"] = variant("pgo")
    assert relink_section.of_builds(ResolvedStudy.of(study)) == ["c"]
