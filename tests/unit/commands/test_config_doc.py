"""The models of the config language explain every key; docs/config.md and the schema for editors are made from them."""

import re

import pytest
import yaml
from jsonschema import Draft202012Validator

from scripts.commands import config_doc
from scripts.study.config import schema as config_schema
from scripts.study.config.declared_study import ENTRIES
from scripts.study.config.loading import load
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.studies import CHECKOUT

RAW = yaml.safe_load((CHECKOUT / config_schema.FILE).read_text(encoding="utf-8"))
SCHEMA = config_schema.resolved()
STUDIES = [CHECKOUT / "config.yaml", *sorted((CHECKOUT / "studies").glob("*.yaml"))]
INSIDE = ("properties", "additionalProperties", "propertyNames", "items", "oneOf", "anyOf")
SECTIONS = ("servers", "builds", "toolchains", "trainings", "workloads", "datasets")


def parts(schema, path="study"):
    """Yield (path, schema) of everything a config can hold."""
    yield path, schema
    for key in INSIDE:
        match schema.get(key):
            case dict() as inner if key == "properties":
                for name, part in inner.items():
                    yield from parts(part, f"{path}.{name}")
            case dict() as part:
                yield from parts(part, f"{path}.{key}")
            case list() as several:
                for place, part in enumerate(several):
                    yield from parts(part, f"{path}.{key}{place}")


PARTS = dict(parts(SCHEMA))
LEAVES = {path: part for path, part in PARTS.items() if not {"properties", "oneOf", "anyOf"} & part.keys()}


def of_type(name):
    return {path: part for path, part in PARTS.items() if name in config_schema.types_of(part)}


def test_every_kind_of_value_was_walked():
    assert len(LEAVES) > 90
    assert all(len(of_type(name)) > 3 for name in ("string", "integer", "number", "boolean", "object", "array"))
    assert {"study.servers.additionalProperties.sources.items.oneOf5.directory", "study.clients.items"} <= LEAVES.keys()


def test_every_key_is_described():
    short = {path for path, part in PARTS.items() if len(part.get("description", "")) < 5 and "const" not in part}
    assert {path.rpartition(".")[2] for path in short} <= {"oneOf0", "oneOf1"}
    for path in short:  # the key whose alternatives they are says what it is
        assert len(PARTS[path.rpartition(".")[0]]["description"]) > 5


@pytest.mark.parametrize("key", SCHEMA["properties"])
def test_every_key_of_a_study_has_an_example_that_is_right(key):
    part = SCHEMA["properties"][key]
    assert part["examples"]
    for example in part["examples"]:
        assert list(Draft202012Validator(part).iter_errors(example)) == []


def test_every_number_has_bounds():
    numbers = of_type("integer") | of_type("number")
    assert [path for path, part in numbers.items() if "maximum" not in part] == []
    assert [path for path, part in numbers.items() if not {"minimum", "exclusiveMinimum"} & part.keys()] == []


def test_every_text_has_a_form_or_a_length_and_a_longest():
    texts = of_type("string")
    assert [path for path, part in texts.items() if not {"pattern", "minLength"} & part.keys()] == []
    assert [path for path, part in texts.items() if "maxLength" not in part and "sha256" not in path] == [
        "study.placement.oneOf1.server.oneOf1",
        "study.placement.oneOf1.client.oneOf1",
        "study.servers.additionalProperties.sources.items.oneOf4.commit",
    ]


def test_every_pattern_is_whole_and_in_words():
    patterns = {path: part for path, part in PARTS.items() if "pattern" in part}
    assert [path for path, part in patterns.items() if part["pattern"][0] + part["pattern"][-1] != "^$"] == []
    for path, part in patterns.items():  # an alternative, or the key whose alternatives they are
        assert "title" in part or "title" in PARTS[path.rpartition(".oneOf")[0]], path


def test_every_mapping_is_closed_or_says_what_its_names_and_entries_are():
    for path, part in of_type("object").items():
        assert part.get("additionalProperties") is not None, path
        if part["additionalProperties"] is not False:
            assert {"pattern", "maxLength"} <= part["propertyNames"].keys(), path


def test_every_list_says_what_it_holds():
    assert [path for path, part in of_type("array").items() if "items" not in part] == []


@pytest.mark.parametrize("kind", SECTIONS)
def test_keys_an_entry_needs_in_some_case_are_keys_it_can_have(kind):
    keys = ENTRIES[kind].model_fields.keys()
    for need in ENTRIES[kind].NEEDS:
        assert {*need.keys, need.when[0] if need.when else need.without} <= keys


def test_schema_is_a_valid_one_for_editors():
    Draft202012Validator.check_schema(RAW)
    assert RAW["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_editor_finds_the_schema_and_no_mistake_in_a_study(file):
    first = file.read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    assert (file.parent / first.partition("=")[2]).resolve() == CHECKOUT / config_schema.FILE
    assert list(Draft202012Validator(RAW).iter_errors(yaml.safe_load(file.read_text()))) == []


def test_page_explains_every_key_with_its_bounds():
    page = config_doc.page(CHECKOUT)
    for key in SCHEMA["properties"]:
        assert f"\n## {key}\n" in page
    assert "| `rows` | Rows of each table, about 250 bytes per row. | a whole number from 1 to 1000000000 |  |" in page
    assert "Needed with script `oltp_read_write`: `tables`, `rows`." in page
    assert "Needed without `sql`: `script`." in page
    assert "Needed with kind `bolt`: `bolt`, `merge_fdata`." in page
    assert "`servers.NAME.sources` with `maven`: A ready-made server from a Maven repository." in page


def test_page_begins_with_a_whole_study_of_ten_lines_that_plans():
    text = re.search(r"^```yaml\n(.+?)^```$", config_doc.page(CHECKOUT), re.M | re.S)[1]
    assert len(text.splitlines()) == 10
    paths = Schedule(Plan(load(yaml.safe_load(text), CHECKOUT, "first.yaml"), CHECKOUT))
    assert len(paths.blocks) == 5
    assert {arm.build for arm in paths.plan.study.arms.values()} == {"baseline", "o3"}


def test_page_and_schema_are_written_where_the_checkout_is(tmp_path):
    (tmp_path / "catalog").symlink_to(CHECKOUT / "catalog")
    (tmp_path / "rules").mkdir()
    config_doc.main(tmp_path)
    for file in (config_doc.PAGE, config_schema.FILE):
        written = (CHECKOUT / file).read_text(encoding="utf-8")
        assert (tmp_path / file).read_text(encoding="utf-8") == written, f"{file} is out of date: make config-doc"
