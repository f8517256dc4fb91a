"""Keys with one sensible value have it as default; written or left out, a study's paths are the same."""

import pytest
import yaml

from scripts.study.config.declared_study import DEFAULTS, StudyDeclaration
from scripts.study.config.loading import load
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.known_paths import CONFIGS, known_lines, made_up_machine, sizes
from tests.made.studies import CHECKOUT, SMALL, config

# Values that hold for good: with another one the results of studies that leave the key out would be measured again.
FROZEN = {"campaign": 1, "placement": "automatic", "seed": 1, "warmup_s": 1, "measure_s": 3, "repetitions": 5}


def test_defaults_are_the_frozen_ones_and_those_that_the_quick_study_writes():
    quick = yaml.safe_load((CHECKOUT / "studies" / "quick.yaml").read_text(encoding="utf-8"))
    assert {key: StudyDeclaration.model_fields[key].default for key in DEFAULTS} == FROZEN
    assert {key: quick[key] for key in FROZEN} == FROZEN


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.stem)
def test_a_key_at_its_default_can_be_left_out(file):
    written = yaml.safe_load(file.read_text(encoding="utf-8"))
    shorter = {key: value for key, value in written.items() if FROZEN.get(key) != value}
    assert shorter.keys() < written.keys()
    with made_up_machine():
        for scale in sizes(file):
            ways = [load({**one, "scale": scale}, CHECKOUT, file.name) for one in (written, shorter)]
            assert len({tuple(known_lines(Schedule(Plan(study, CHECKOUT)))) for study in ways}) == 1
            assert ways[0].declared.model_dump(exclude_defaults=True) == ways[1].declared.model_dump(
                exclude_defaults=True
            )
            assert ways[0].scaled == ways[1].scaled


def test_a_study_without_title_and_question_gets_those_that_its_arms_say():
    short = {key: value for key, value in SMALL.items() if key not in ("title", "question")}
    read = load(short, CHECKOUT, "small.yaml").declared
    assert (read.title, read.question) == ("small", "How does pgo compare with baseline?")


def test_the_question_of_many_arms_counts_them():
    arms = {f"v{number}": SMALL["variants"]["pgo"] for number in range(100)}
    short = config(variants={"baseline": SMALL["variants"]["baseline"], **arms})
    del short["question"]
    read = load(short, CHECKOUT, "small.yaml").declared
    assert read.question == "How do the other 100 variants compare with baseline?"


def test_a_study_of_its_reference_alone_asks_about_the_second_one():
    short = config(variants={"baseline": SMALL["variants"]["baseline"]})
    del short["question"]
    assert load(short, CHECKOUT, "small.yaml").declared.question == "How does aa compare with baseline?"
