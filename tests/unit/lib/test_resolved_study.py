"""study.json is read into one typed object, whose fields are all that its two writers write."""

import json
import tarfile
from dataclasses import replace

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


def test_a_study_that_an_earlier_release_described_is_the_same_study():
    with tarfile.open(CHECKOUT / "docs" / "sample" / "builds-mariadb.tar.xz") as archive:
        (name,) = [name for name in archive.getnames() if name.endswith("/study.json")]
        earlier = ResolvedStudy.of(json.load(archive.extractfile(name)))
    config = CHECKOUT / "studies" / "builds-mariadb.yaml"
    with made_up_machine():
        paths = Schedule(Plan(loading.read(config, CHECKOUT), CHECKOUT))
        today = describe(paths, [config], paths.every_block)
    # The text of the config has its comments, and the name of a block has the digest of the machine's placement.
    assert replace(earlier, config_text="", blocks=[]) == replace(today, config_text="", blocks=[])


def test_a_key_in_another_form_is_named_with_its_file(tmp_path):
    file = tmp_path / "study.json"
    json_record.write(file, synthetic.study(synthetic.Plan()) | {"order": [["oltp", 8]]})
    with pytest.raises(ValueError, match=r"study\.json\.order\.0: \['oltp', 8\], expected workload, clients"):
        read_study(file)
