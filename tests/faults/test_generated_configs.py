"""Configs drawn at random are planned, or refused with a message whose every line names a key."""

import json
import re

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from tests.faults.generated import configs
from tests.faults.hostile import CANARY
from tests.faults.planned import everything, names_a_key, quickly, refusal
from tests.faults.scale import scaled
from tests.workflow.running import snakemake

pytestmark = pytest.mark.slow

KINDS = ("servers", "builds", "toolchains", "trainings", "workloads", "datasets")
SPARSE = {kind: {} for kind in KINDS} | {"workloads": {"oltp": None, "simple_select": {"options": {"range_size": 7}}}}
HOW = {
    "deadline": None,
    "database": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
}  # a config is large, and slow to draw


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    (tree / "configure").write_text("PACKAGE_VERSION='15.1'\n")
    with quickly():
        yield everything(tree, SPARSE)


def test_generated_config_is_planned_or_refused_by_its_keys(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    planned, refused = [], []

    @settings(max_examples=scaled(2000, 60), **HOW)
    @given(configs(base))
    def check(config):
        told = refusal(config)
        note(str(told))
        assert told is None or names_a_key(told, config)
        (planned if told is None else refused).append(1)

    assert refusal(base) is None
    check()
    # Neither side of the border is left out.
    assert min(len(planned), len(refused)) > scaled(2000, 60) / 10
    assert list(tmp_path.iterdir()) == []


def test_snakemake_answers_a_generated_config_as_planning_in_process_does(base, tmp_path):
    @settings(max_examples=scaled(30, 1), phases=[Phase.generate], **HOW)
    @given(configs(base), st.booleans())
    def check(config, as_json):
        config = json.loads(json.dumps(config)) if as_json else config
        text = json.dumps(config) if as_json else yaml.safe_dump(config, sort_keys=False)
        (tmp_path / "study.yaml").write_text(text)
        answer, told = snakemake(tmp_path, "--dry-run", "--configfile", tmp_path / "study.yaml"), refusal(config)
        note(answer.text)
        assert "Traceback" not in answer.text
        assert (answer.status == 0) == (told is None)
        if told is None:
            assert answer.jobs["measure_block"] > 0
        else:
            assert re.search(r"mistake\(s\)|this is not YAML|expected", answer.text)

    check()
    assert not list(tmp_path.rglob(CANARY))
