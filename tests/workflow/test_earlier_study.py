"""A study that an earlier release finished needs only cheap steps: what interprets its records has other code."""

import pytest

from tests.workflow import earlier_study
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


@pytest.fixture
def study(tmp_path):
    made = copied(tmp_path)
    earlier_study.begin(made)
    return made


def test_nothing_is_fetched_compiled_trained_loaded_or_measured_again(study):
    assert len(earlier_study.run(study, "--dry-run").costly) == 9
    earlier_study.unpack(study)
    answer = earlier_study.run(study, "--dry-run")
    assert answer.status == 0, answer.text
    assert not answer.costly, answer.text
    assert set(answer.jobs) <= INTERPRETING
