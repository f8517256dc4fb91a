"""A study that release 1.0.0 finished needs only cheap steps: what interprets its records has other code."""

from tests.workflow import finished_study
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


def test_nothing_is_fetched_compiled_trained_loaded_or_measured_again(tmp_path):
    study = copied(tmp_path)
    finished_study.begin(study)
    assert finished_study.run(study, "--dry-run").costly.keys() == COSTLY
    finished_study.unpack(study)
    answer = finished_study.run(study, "--dry-run")
    assert answer.status == 0, answer.text
    assert not answer.costly, answer.text
    assert set(answer.jobs) <= INTERPRETING
