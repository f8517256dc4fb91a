"""The schema of the config language: read, applied strictly, and put into words."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators

from scripts.measure.servers import families
from scripts.study.config.yaml_lines import read_text

Schema = dict[str, Any]
LONGEST_NAME_BYTES = 255
FILE = Path("rules", "config.schema.yaml")
WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "nothing",
}


def read(root: Path) -> Schema:
    """Return the schema of the checkout `root`, every `$ref` replaced by what it points to, keys beside it on top.

    A server's `family` is one of those in scripts/measure/servers/families.
    """
    schema = read_text(root / FILE).value
    schema["$defs"]["server"]["properties"]["family"]["enum"] = families.names()
    return _resolved(schema, schema["$defs"])


def _resolved(part: Any, definitions: Schema) -> Any:
    if isinstance(part, list):
        return [_resolved(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    own = {key: _resolved(value, definitions) for key, value in part.items() if key != "$ref"}
    if "$ref" not in part:
        return own
    return {**_resolved(definitions[part["$ref"].removeprefix("#/$defs/")], definitions), **own}


def entry(schema: Schema, kind: str) -> Schema:
    """Return the schema of a whole entry of `kind`, such as servers, once a study's is laid over the catalog's."""
    one = kind.removesuffix("s")
    return {**schema["$defs"][one], **schema["$defs"][f"complete_{one}"]}


def needed(schema: Schema, kind: str) -> set[str]:
    """Return the keys that every whole entry of `kind` must have."""
    return set(entry(schema, kind).get("required", []))


def _is_integer(_: Any, value: Any) -> bool:
    # JSON Schema accepts 5.0 as a whole number; Python's range does not.
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: Any, value: Any) -> bool:
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))


def _whole_pattern(validator: Any, pattern: str, value: Any, schema: Schema) -> Iterator[ValidationError]:
    # `$` alone would accept a newline at the end.
    if isinstance(value, str) and not re.fullmatch(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _format(validator: Any, name: str, value: Any, schema: Schema) -> Iterator[ValidationError]:
    if name == "path" and isinstance(value, str) and not _is_path(value):
        yield ValidationError(f"{value!r} is the path of no file")


def _is_path(text: str) -> bool:
    # Opening another path would end in a confusing error; a terminal would obey control characters in the message.
    longest_bytes = max(map(len, text.encode("utf-8", "replace").split(b"/")))
    if longest_bytes > LONGEST_NAME_BYTES or not text.isprintable():
        return False
    try:
        Path(text).expanduser()
    except RuntimeError:  # of a user who is not there
        return False
    return True


Validator = validators.extend(
    Draft202012Validator,
    {"pattern": _whole_pattern, "format": _format},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number}),
)


def expected(schema: Schema) -> str:
    """Return in words what a value must be: its `title` if it has one, else its types with their bounds."""
    if "title" in schema:
        return schema["title"]
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    types = types_of(schema)
    return " or ".join(f"{WORDS[name]}{_bounds(schema, name)}" for name in types)


def types_of(schema: Schema) -> list[str]:
    """Return the types a value may have."""
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _bounds(schema: Schema, name: str) -> str:
    match name:
        case "integer" | "number" if "exclusiveMinimum" in schema:
            return f" above {schema['exclusiveMinimum']}, at most {schema['maximum']}"
        case "integer" | "number":
            return f" from {schema['minimum']} to {schema['maximum']}"
        case "string":
            return f" of {schema.get('minLength', 0)} to {schema['maxLength']} characters"
        case "array":
            few = " of at least one" if schema.get("minItems") else ""
            return f"{few}, each {expected(schema['items'])}{', none twice' if schema.get('uniqueItems') else ''}"
        case "object" if "properties" in schema:
            return f" with {'any of ' if not schema.get('required') else ''}{', '.join(schema['properties'])}"
        case "object":
            return f" from names{', at least one' if schema.get('minProperties') else ''}"
    return ""
