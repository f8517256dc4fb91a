"""The small scale of a study: what it lays over it, what is told of it, and that its results are others."""

import pytest
import yaml

from scripts.commands import arguments
from scripts.commands.prune import __main__ as prune
from scripts.report.page import effects_section
from scripts.study.config.loading import load, read
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan import study_description
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.studies import CHECKOUT, config, paths

SMALLER = {"measure_s": 3, "clients": [2], "datasets": {"sbtest": {"rows": 10}}, "variants": {"pgo": {"build": "lto"}}}


def described(paths):
    return study_description.describe(paths, [], paths.blocks)


def small(**changes):
    return load(config(small=SMALLER, scale="small", **changes), CHECKOUT, "study.yaml")


def test_mappings_merge_and_other_values_replace():
    study = small(clients=[8, 16])
    assert (study.declared.measure_s, study.declared.warmup_s, study.declared.clients) == (3, 2, [2])
    assert study.declared.datasets["sbtest"].written() == {"tables": 4, "rows": 10}
    assert study.arms["pgo"].written() == {"server": "postgresql-15", "build": "lto"}


def test_results_of_the_small_scale_have_a_place_of_their_own():
    assert small().name == "small-small"
    assert Plan(small(), CHECKOUT).study.name == "small-small"


def test_section_without_a_scale_changes_nothing():
    assert list(paths(small=SMALLER).runs) == list(paths().runs) == list(paths(small=SMALLER, scale="full").runs)


def test_settings_are_told_with_those_of_the_full_size():
    study = small(clients=[8, 16])
    assert study.scaled == (
        (("measure_s",), 5, 3),
        (("clients",), [8, 16], [2]),
        (("datasets", "sbtest", "rows"), 100000, 10),
        (("variants", "pgo", "build"), "pgo", "lto"),
    )
    told = effects_section.scaled_sentence(described(Schedule(Plan(study, CHECKOUT))))
    assert "measure_s 5 → 3; clients 8 and 16 → 2; datasets.sbtest.rows 100000 → 10" in told
    assert effects_section.scaled_sentence(described(paths(small=SMALLER))) == ""


def test_what_the_command_line_gives_stays(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(config(small=SMALLER)))
    study = read(file, CHECKOUT, scale="small", measure_s=9)
    assert (study.declared.measure_s, study.declared.clients) == (9, [2])


def refused(tmp_path, text, **overrides):
    file = tmp_path / "study.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read(file, CHECKOUT, **overrides)
    return str(caught.value).replace(str(file), "study.yaml").splitlines()[1:]


def test_mistakes_of_either_scale_are_told_at_both_each_once_with_its_line(tmp_path):
    text = yaml.safe_dump({**config(seed=-1), "small": {"measure_s": 1, "row": 5}}, sort_keys=False)
    lines = text.splitlines()
    wanted = {f"study.yaml:{lines.index(line) + 1}" for line in ("seed: -1", "  measure_s: 1", "  row: 5")}
    for scale in ("full", "small"):
        told = refused(tmp_path, text, scale=scale)
        assert len(told) == 3
        assert {line.split(": ")[0].strip() for line in told} == wanted
        assert {line.split(": ")[1] for line in told} == {"seed", "small.measure_s", "small.row"}


def test_what_only_the_full_size_asks_for_does_not_stop_the_small_one(tmp_path):
    large = {**config(together=2), "small": {"together": 3}}
    (line,) = refused(tmp_path, yaml.safe_dump(large))
    assert "together: 2, expected 1 or at least 3" in line
    assert read(tmp_path / "study.yaml", CHECKOUT, scale="small").declared.together == 3


def test_small_scale_of_a_study_without_one_is_an_error_that_names_the_key(tmp_path):
    (line,) = refused(tmp_path, yaml.safe_dump(config()), scale="small")
    assert line.strip() == "--config: scale: 'small', but the study has no key `small` that says what is smaller"


def test_prune_keeps_the_results_of_every_scale(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(config(small=SMALLER)))
    assert [study.name for study in prune.checked_studies([file]).values()] == ["small", "small-small"]


def test_command_that_makes_the_report_says_the_scale(tmp_path):
    assert arguments.report_command(tmp_path / "x.yaml", "small") == "make report STUDY=x SCALE=small"
    assert arguments.report_command(tmp_path / "config.yaml") == "make report"


@pytest.mark.parametrize("file", sorted((CHECKOUT / "studies").glob("*.yaml")), ids=lambda file: file.stem)
def test_small_scale_of_every_study_of_the_checkout_is_sound(file):
    if "small" in yaml.safe_load(file.read_text()):
        assert read(file, CHECKOUT, scale="small").name == f"{file.stem}-small"
