"""A matrix expands to variants of every combination, and its mistakes are told where it is written."""

import copy

import pytest
import yaml

from scripts.study.config import expansion
from scripts.study.config.loading import load, read
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.preview.differences import differing_values
from scripts.study.plan.recipes import Plan
from tests.made.studies import CHECKOUT, config, paths

MATRIX = {
    "server": "postgresql-15",
    "build": "baseline",
    "options": {"jit": False},
    "factors": {
        "sync": {"sync_on": {"synchronous_commit": True}, "sync_off": {"synchronous_commit": False}},
        "wal": {"lz4": {"wal_compression": "lz4"}, "plain": {}, "pglz": {"wal_compression": "pglz", "jit": True}},
    },
}


def study(reference="sync_on.plain", variants=None, **changes):
    made = config(matrix={**copy.deepcopy(MATRIX), **changes}, reference=reference, variants=variants)
    if variants is None:
        del made["variants"]
    return made


def test_every_combination_is_a_variant_named_by_its_levels():
    variants = load(study(), CHECKOUT, "study.yaml").arms
    names = ["lz4", "plain", "pglz"]
    assert list(variants) == [*(f"sync_on.{name}" for name in names), *(f"sync_off.{name}" for name in names), "aa"]
    assert variants["sync_off.plain"].written() == {
        "server": "postgresql-15", "build": "baseline", "options": {"jit": False, "synchronous_commit": False},
    }  # fmt: skip
    assert variants["aa"] == variants["sync_on.plain"]


def test_option_of_a_level_lies_over_that_of_the_matrix():
    variants = load(study(), CHECKOUT, "study.yaml").arms
    assert variants["sync_on.pglz"].options["jit"] is True


def test_matrix_stands_beside_variants():
    own = {"tuned": {"server": "postgresql-15", "build": "pgo"}}
    variants = load(study("tuned", own), CHECKOUT, "study.yaml").arms
    assert next(iter(variants)) == "tuned"
    assert len(variants) == 8


def test_written_out_by_hand_it_is_the_same_study():
    expanded = load(study(), CHECKOUT, "study.yaml").declared.variants
    by_hand = paths(variants={name: variant.written() for name, variant in expanded.items()}, reference="sync_on.plain")
    by_matrix = paths(**{key: value for key, value in study().items() if key in ("matrix", "reference")}, variants={})
    assert list(by_hand.runs) == list(by_matrix.runs)


def test_levels_of_each_variant_stay_known():
    assert expansion.matrix_levels(study())["sync_off.lz4"] == {"sync": "sync_off", "wal": "lz4"}
    assert expansion.matrix_levels(config()) == {}


def test_change_of_a_level_differs_in_the_variants_that_have_it():
    before, after = study(), study()
    after["matrix"]["factors"]["sync"]["sync_off"]["synchronous_commit"] = "local"
    plans = [Plan(load(made, CHECKOUT, "study.yaml"), CHECKOUT) for made in (before, after)]
    changed, same = ("sync_off.lz4", "sync_on.lz4")
    before, after = ([plan.variant(name) for name in (changed, same)] for plan in plans)
    assert list(differing_values(before[0].dump(), after[0].dump())) == [
        (("options", "synchronous_commit"), False, "local")
    ]
    assert before[1] == after[1]


FACTORS = MATRIX["factors"]
MISTAKES = {
    "matrix.build: missing": {"build": None},
    "matrix.factors: 0, expected a mapping": {"factors": 0},
    "matrix.factors.sync: {'one': {}}, expected a mapping of two levels or more": {"factors": {"sync": {"one": {}}}},
    "matrix.factors.wal.on.off: the name 'on.off' cannot be used": {"factors": {"wal": {"a": {}, "on.off": {}}}},
    "matrix.factors.wal.a: None, expected a mapping": {"factors": {"wal": {"a": None, "b": {}}}},
    "matrix.factors.other.lz4: wal has a level of this name": {
        "factors": {**FACTORS, "other": {"lz4": {}, "zstd": {}}}
    },
    "matrix.factors.other: sets synchronous_commit, as sync does": {
        "factors": {**FACTORS, "other": {"a": {}, "b": {"synchronous_commit": "local"}}}
    },
    "matrix.factors: 256 combinations, expected at most 200": {
        "factors": {name: {f"{name}{level}": {} for level in range(4)} for name in "abcd"}
    },
    "matrix.server: 'nope' is unknown": {"server": "nope"},
    "matrix.options.innodb_x: PostgreSQL 15 has no such option": {"options": {"innodb_x": 1}},
    "matrix.factors.wal.b.innodb_x: PostgreSQL 15 has no such option": {
        "factors": {"wal": {"a": {}, "b": {"innodb_x": 1}}}
    },
    "matrix.storage: 'fast' is unknown": {"storage": "fast"},
}


@pytest.mark.parametrize("told", MISTAKES)
def test_mistake_is_told_once_with_its_line_in_the_matrix(tmp_path, told):
    made = study(**MISTAKES[told])
    if made["matrix"]["build"] is None:
        del made["matrix"]["build"]
    made["reference"] = next(iter(expansion.matrix_levels(made)), "sync_on.plain")
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(made, sort_keys=False))
    with pytest.raises(ConfigError) as caught:
        read(file, CHECKOUT)
    (line,) = str(caught.value).splitlines()[1:]
    number, text = line.strip().removeprefix(f"{file}:").split(": ", 1)
    assert text.startswith(told)
    key = told.split(":")[0].split(".")[-1]
    written = file.read_text().splitlines()[int(number) - 1].strip()
    assert written.startswith(("matrix:" if "missing" in told else key, "on.off"))


def test_variant_that_the_matrix_makes_too_is_refused():
    own = {"sync_on.lz4": {"server": "postgresql-15", "build": "pgo"}}
    with pytest.raises(ConfigError, match=r"variants\.sync_on\.lz4: the matrix makes a variant of this name, too"):
        load(study(variants=own), CHECKOUT, "study.yaml")


def test_study_needs_variants_or_a_matrix():
    made = config()
    del made["variants"], made["reference"]
    with pytest.raises(ConfigError) as caught:
        load({**made, "reference": "x"}, CHECKOUT, "study.yaml")
    assert "variants: missing, expected a mapping" in str(caught.value)


@pytest.mark.parametrize("level", [1, True, None])
def test_level_whose_name_is_no_text_is_told_as_such(level):
    made = study()
    made["matrix"]["factors"]["wal"][level] = None
    with pytest.raises(ConfigError, match=r"matrix\.factors\.wal\.\S+: the key \S+ is no text; write it in quotes"):
        load(made, CHECKOUT, "study.yaml")
