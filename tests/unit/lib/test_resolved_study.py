"""study.json is read into one typed object, whose fields are all that its two writers write."""

import json

import pytest

from scripts.lib import json_record
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.study.config import loading
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from scripts.study.plan.study_description import describe
from tests.made import synthetic
from tests.made.known_paths import CONFIGS, made_up_machine, sizes
from tests.made.studies import CHECKOUT


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.stem)
def test_described_study_is_read_again_without_loss(config):
    for size in sizes(config):
        with made_up_machine():
            paths = Schedule(Plan(loading.read(config, CHECKOUT, scale=size), CHECKOUT))
            study = describe(paths, [config], paths.every_block)
        written = json.loads(json_record.json_text(json_record.dump(study)))
        assert ResolvedStudy.of(written) == study
        assert list(ResolvedStudy.unknown_keys(written)) == []
        assert written["order"][0] == list(study.order[0])
        assert (study.is_imported, study.scaled is None) == (False, size == "full")
        assert list(written["variants"]) == list(study.variants)


def test_a_key_in_another_form_is_named_with_its_file(tmp_path):
    file = tmp_path / "study.json"
    json_record.write(file, synthetic.study(synthetic.Plan()) | {"order": [["oltp", 8]]})
    with pytest.raises(ValueError, match=r"study\.json\.order\.0: \['oltp', 8\], expected workload, clients"):
        read_study(file)
