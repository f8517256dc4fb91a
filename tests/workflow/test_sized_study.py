"""The finished study that planning is timed on is finished in Snakemake's eyes, and in the plan's."""

import pytest
import yaml

from benchmarks import sized
from tests.workflow.running import REPORTING, snakemake

pytestmark = pytest.mark.slow


def test_finished_study_has_nothing_to_do_until_its_title_changes(tmp_path):
    config = sized.write(tmp_path, 100)
    sized.finish(tmp_path, config)
    arguments = ("--dry-run", sized.target(), "--configfile", config)
    answer = snakemake(tmp_path, *arguments)
    assert answer.status == 0, answer.text
    assert answer.jobs == {}
    assert "nothing to make or measure: 100 runs and the report are there" in answer.text
    config.write_text(yaml.safe_dump({**sized.study(100), "title": "Another"}))
    answer = snakemake(tmp_path, *arguments)
    assert answer.jobs == dict.fromkeys(REPORTING, 1)
    assert "params have changed since last execution:\n        describe_study" in answer.text
