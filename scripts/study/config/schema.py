"""The schema of the config language: made from its models for editors and the reference page, and put into words."""

from pathlib import Path

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from scripts.lib.json_record import Json
from scripts.study.config.declared_study import ENTRIES, StudyDeclaration

Schema = JsonSchemaValue
FILE = Path("rules", "config.schema.yaml")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "nothing",
}


class ConfigSchema(GenerateJsonSchema):
    """JSON schema of models in which a title says what a value must be, and None stands for an absent key."""

    def field_title_should_be_set(self, schema: object) -> bool:
        """Return that no title is made from the name of a key."""
        return False

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """Return the schema as it is: keys stand in the order of their declaration."""
        return value

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a mapping, without the name of its class."""
        schema_of_value = super().model_schema(schema)
        schema_of_value.pop("title", None)
        return {**schema_of_value, "description": " ".join(schema_of_value["description"].split())}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Return the schema of a mapping from names, whose form it says in words."""
        limits = {"minProperties": schema["min_length"]} if "min_length" in schema else {}
        return {
            "type": "object",
            "propertyNames": self.generate_inner(schema["keys_schema"]),
            "additionalProperties": self.generate_inner(schema["values_schema"]),
            **limits,
        }

    def union_schema(self, schema: core_schema.UnionSchema) -> JsonSchemaValue:
        """Return the schema of alternatives, of which a value can be one only."""
        alternatives: list[JsonSchemaValue] = super().union_schema(schema)["anyOf"]
        return {"oneOf": alternatives}

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """Return the schema of words, which are told themselves in place of their type."""
        schema_of_value = super().literal_schema(schema)
        schema_of_value.pop("type", None)
        return schema_of_value

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema of a key, with its default if that is a value."""
        schema_of_value = super().default_schema(schema)
        return {key: part for key, part in schema_of_value.items() if key != "default" or part is not None}


def of_file() -> Schema:
    """Return the schema of a config file, for editors: an entry may state a part of its keys, the catalog the rest."""
    schema = StudyDeclaration.model_json_schema(schema_generator=ConfigSchema)
    for model in ENTRIES.values():
        schema["$defs"][model.__name__].pop("required", None)
    schema["$defs"][ENTRIES["workloads"].__name__]["type"] = ["object", "null"]
    (variants,) = StudyDeclaration.NEEDS
    rule = {"if": {"not": {"required": [variants.without]}}, "then": {"required": list(variants.keys)}}
    return {"$schema": DIALECT, "title": "A study", **schema, **rule}


def resolved() -> Schema:
    """Return the schema of a config file, every `$ref` replaced by what it points to, keys beside it on top."""
    schema = of_file()
    return _resolved({key: part for key, part in schema.items() if key != "$defs"}, schema["$defs"])


def _resolved_value(part: Json, definitions: Schema) -> Json:
    match part:
        case list():
            return [_resolved_value(item, definitions) for item in part]
        case dict():
            return _resolved(part, definitions)
    return part


def _resolved(part: Schema, definitions: Schema) -> Schema:
    beside_reference = {key: _resolved_value(value, definitions) for key, value in part.items() if key != "$ref"}
    if "$ref" not in part:
        return beside_reference
    return {**_resolved(definitions[part["$ref"].removeprefix("#/$defs/")], definitions), **beside_reference}


def needed(kind: str) -> list[str]:
    """Return the keys that every whole entry of `kind`, such as servers, must have."""
    return [name for name, field in ENTRIES[kind].model_fields.items() if field.is_required()]


def inner(schema: Schema, key: str | int) -> Schema | None:
    """Return the schema of what stands at a key or a place in a list; None where the schema knows no such place."""
    others = schema.get("items" if isinstance(key, int) else "additionalProperties")
    value_schema: Schema | None = schema.get("properties", {}).get(key, others)
    return value_schema if isinstance(value_schema, dict) else None


def alternative(schema: Schema, value: object) -> Schema | None:
    """Return the alternative that a mapping or a list means, None where that is unclear or for another value."""
    kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else None
    fit: list[Schema] = [part for part in schema["oneOf"] if kind in types_of(part)]
    meant = [part for part in fit if len(fit) == 1 or (isinstance(value, dict) and part["required"][0] in value)]
    return meant[0] if len(meant) == 1 else None


def expected(schema: Schema) -> str:
    """Return in words what a value must be: its `title` if it has one, else its types with their bounds."""
    if "title" in schema:
        return str(schema["title"])
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
