"""Configs drawn at random: a study that says much, with some of it replaced by what the schema takes or does not."""

import json
import re
from typing import Any

from hypothesis import strategies as st

from tests.faults.hostile import KEY, TEXTS, planted
from tests.faults.planned import SCHEMA

Schema = dict[str, Any]
NAMES = ("baseline", "pgo", "oltp", "mixed", "sbtest", "disk", "postgresql-15", "gcc-12", "aa", "prebuilt")
# Larger numbers and longer lists say nothing new, and take long to plan.
MOST, LONGEST = 40, 3
# YAML takes more than text for a key.
KEYS = (*NAMES, "", "a.b", 1, True, None, 1.5)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(sorted(TEXTS.values())),
    lambda inner: st.lists(inner, max_size=LONGEST) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=LONGEST),
    max_leaves=4,
)


def valid(schema: Schema) -> st.SearchStrategy:
    """Return a strategy of values that a part of the schema takes."""
    for alternatives in ("oneOf", "anyOf"):
        if alternatives in schema:
            return st.one_of(*map(valid, schema[alternatives]))
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    types = schema.get("type", [])
    return st.one_of(*(_typed(schema, name) for name in ([types] if isinstance(types, str) else types)))


def _typed(schema: Schema, name: str) -> st.SearchStrategy:
    match name:
        case "number":
            least = float(schema.get("minimum", schema.get("exclusiveMinimum", 0.0)))
            without = "exclusiveMinimum" in schema
            return st.floats(least, float(min(schema["maximum"], MOST)), exclude_min=without)
        case "integer":
            least = schema.get("minimum", 1)
            return st.integers(least, max(least, min(schema["maximum"], MOST))) | st.just(least)
        case "string" if "pattern" in schema:
            return st.from_regex(schema["pattern"], fullmatch=True).filter(lambda text: len(text) < 60)
        case "string":
            return st.sampled_from(NAMES) | st.text(min_size=schema.get("minLength", 0), max_size=20)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(valid(schema["items"]), min_size=schema.get("minItems", 0), max_size=LONGEST)
        case "object" if "properties" in schema:
            return _mapping(schema)
        case "object" if "additionalProperties" in schema:
            keys = st.sampled_from(NAMES) | valid({"type": "string", **schema["propertyNames"]})
            return st.dictionaries(keys, valid(schema["additionalProperties"]), min_size=1, max_size=LONGEST)
    return st.none()


def _mapping(schema: Schema) -> st.SearchStrategy:
    needed = schema.get("required", [])
    parts = {key: valid(inner) for key, inner in schema["properties"].items()}
    return st.fixed_dictionaries(
        {key: parts[key] for key in needed}, optional={key: part for key, part in parts.items() if key not in needed}
    )


def part_of(schema: Schema, path: tuple) -> Schema:
    """Return the part of the schema that a path leads to, an empty one where alternatives part."""
    for step in path:
        inner = schema.get("items", {}) if isinstance(step, int) else schema.get("properties", {}).get(step)
        schema = inner if inner is not None else schema.get("additionalProperties") or {}
    return schema if isinstance(schema, dict) else {}


def paths(value: Any, path: tuple = ()) -> list[tuple]:
    """Return the paths of everything in a config."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [each for key, part in inner for each in paths(part, (*path, key))]


@st.composite
def configs(draw: st.DrawFn, base: dict[str, Any]) -> dict[str, Any]:
    """Draw a config: one to four parts of `base` replaced, taken away or renamed, or keys of the schema added.

    Half of them get one new value that fits its key and nothing else, or few would be planned.
    """
    config = json.loads(json.dumps(base))
    if draw(st.booleans()):
        path = draw(st.sampled_from([path for path in paths(config) if _is_scalar(part_of(SCHEMA, path))]))
        return planted(config, path, draw(valid(part_of(SCHEMA, path))))
    for _ in range(draw(st.integers(1, 4))):
        config = _changed(draw, config)
    return config


def _is_scalar(schema: Schema) -> bool:
    return bool(schema) and schema.get("type") in ("integer", "number", "boolean")


def _changed(draw: st.DrawFn, config: dict[str, Any]) -> dict[str, Any]:
    path = draw(st.sampled_from([*paths(config), *((key,) for key in SCHEMA["properties"])]))
    schema = part_of(SCHEMA, path)
    fitting = valid(schema) if schema and not re.match("partial|published", str(path[0])) else JUNK
    match draw(st.integers(0, 9)):
        case 0 if isinstance(path[-1], str):
            return planted(config, (*path, KEY), draw(st.sampled_from(sorted(TEXTS.values()))))
        case 1 | 2:
            return planted(config, path, draw(JUNK))
        case _ if len(path) == 1:
            return {**config, path[0]: draw(fitting)}
        case _:
            return planted(config, path, draw(fitting))
