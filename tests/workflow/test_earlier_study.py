"""A study that an earlier release finished needs only cheap steps: what interprets its records has other code."""

import pytest

from tests.workflow import earlier_study
from tests.workflow.running import COSTLY
from tests.workflow.stubbed import copied

INTERPRETING = {
    "audit_build",
    "compare_answers",
    "prove_builds",
    "describe_study",
    "finish_preparations",
    "collect_runs",
    "compare_variants",
    "export_tables",
    "plot_figures",
    "render_report",
    "publish_report",
}


@pytest.mark.parametrize("number", earlier_study.CHANGES)
def test_nothing_is_fetched_compiled_trained_loaded_or_measured_again(number, tmp_path):
    study = copied(tmp_path)
    earlier_study.begin(study, number)
    assert earlier_study.run(study, "--dry-run").costly.keys() == COSTLY
    earlier_study.unpack(study, number)
    answer = earlier_study.run(study, "--dry-run")
    assert answer.status == 0, answer.text
    assert not answer.costly, answer.text
    assert set(answer.jobs) <= INTERPRETING
