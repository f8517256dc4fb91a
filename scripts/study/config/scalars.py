"""Values of the config language, each with its form: texts, numbers, options, flags, lists without a repetition."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    Tag,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from scripts.lib.json_record import Json

LONGEST_NAME_BYTES = 255
# Tags of alternatives; they stand in the places of pydantic's errors.
LIST, MAPPING, TEXT = "list", "mapping", "text"


@dataclass(frozen=True)
class NeededKeys:
    """Keys that a mapping needs: when another key has a value, its default included, or when another key is absent."""

    keys: tuple[str, ...]
    when: tuple[str, str] | None = None
    without: str = ""


class ConfigKeys(BaseModel):
    """Keys of a config file, each with its type, its bounds, its default and what it means."""

    NEEDS: ClassVar[tuple[NeededKeys, ...]] = ()

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    _order: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _remember_order(cls, value: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        keys = handler(value)
        if isinstance(value, dict):
            keys._order = tuple(value)
        return keys

    def written(self) -> dict[str, Json]:
        """Return the keys that the config file or the catalog has, in their order, without defaults."""
        return {name: as_written(getattr(self, name)) for name in self._order}


def as_written(value: object) -> Json:
    """Return a value of a config file as it is written."""
    match value:
        case ConfigKeys():
            return value.written()
        case dict():
            return {name: as_written(part) for name, part in value.items()}
        case list():
            return [as_written(item) for item in value]
        case None | bool() | int() | float() | str():
            return value
    raise TypeError(f"{value!r}: expected a value of a config file")


@dataclass(frozen=True)
class Written:
    """An optional value whose key may be absent, but not without a value; None stands for an absent key."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the value alone."""
        match handler(source):
            case {"type": "nullable", "schema": inner}:
                value: CoreSchema = inner
                return value
        raise TypeError(f"{source!r}: expected a type or None")


T = TypeVar("T")
Stated = Annotated[T | None, Written()]


class Scalar:
    """The form of a text or a number: keywords of JSON Schema, which hold for the whole text and for finite numbers."""

    def __init__(self, *types: str, **keywords: str | float) -> None:
        self.types, self.keywords = types, keywords

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a schema that accepts the value as it is."""
        return core_schema.no_info_plain_validator_function(self.checked)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the keywords with the types."""
        return {"type": self.types[0] if len(self.types) == 1 else list(self.types), **self.keywords}

    def checked(self, value: object) -> object:
        """Return a value that has the form. Raises PydanticCustomError for another one."""
        if not self._fits(value):
            raise PydanticCustomError("form", "another form")
        return value

    def _fits(self, value: object) -> bool:
        match value:
            case bool():
                return "boolean" in self.types
            case int() | float():
                kind = "number" if isinstance(value, float) or "integer" not in self.types else "integer"
                return kind in self.types and math.isfinite(value) and self._within(value)
            case str():
                return "string" in self.types and self._is_text(value)
        return False

    def _within(self, value: float) -> bool:
        lowest, above = (float(self.keywords.get(key, -math.inf)) for key in ("minimum", "exclusiveMinimum"))
        return lowest <= value <= float(self.keywords.get("maximum", math.inf)) and value > above

    def _is_text(self, value: str) -> bool:
        # `$` alone would accept a newline at the end.
        fits = bool(re.fullmatch(str(self.keywords.get("pattern", "(?s).*")), value))
        fits = fits and float(self.keywords.get("minLength", 0)) <= len(value)
        fits = fits and len(value) <= float(self.keywords.get("maxLength", math.inf))
        return fits and (self.keywords.get("format") != "path" or _is_path(value))


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


class Unique:
    """A list that holds no value twice."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the list's schema with the check."""
        return core_schema.no_info_after_validator_function(self.checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the list's JSON schema with the keyword."""
        return {**handler(schema), "uniqueItems": True}

    @staticmethod
    def checked(value: list[T]) -> list[T]:
        """Return the list. Raises PydanticCustomError if it holds a value twice."""
        if any(item in value[:index] for index, item in enumerate(value)):
            raise PydanticCustomError("form", "a value twice")
        return value


def text(pattern: str, longest: int | None, *, is_path: bool = False, **words: str) -> Scalar:
    """Return the form of a text of at most `longest` characters that a pattern matches as a whole.

    `words` are its `title`, what a value must be, and its `description`, what it means.
    """
    limits = {} if longest is None else {"maxLength": longest}
    return Scalar("string", **({"format": "path"} if is_path else {}), pattern=pattern, **limits, **words)


def tagged(kind: type, tag: str) -> Discriminator:
    """Return what tells a value of a type, by its tag, from a text."""

    def tag_of(value: object) -> str:
        return tag if isinstance(value, kind | ConfigKeys) else TEXT

    return Discriminator(tag_of)


def tagged_by_key(*keys: str) -> Discriminator:
    """Return what tells a mapping by the one of these keys that it has."""

    def tag_of(value: object) -> str | None:
        stated = type(value).model_fields if isinstance(value, ConfigKeys) else value
        having = [key for key in keys if isinstance(stated, dict) and key in stated]
        return having[0] if len(having) == 1 else None

    return Discriminator(tag_of)


Name = Annotated[
    str,
    text(
        "^[a-z]([a-z0-9_.-]*[a-z0-9_])?$",
        60,
        title="a name of at most 60 small letters, digits and _ . -, a letter first, neither . nor - last",
        description="A name; it becomes a part of paths.",
    ),
]
Reference = Annotated[str, Field(min_length=1, max_length=60, title="a name", description="A name.")]
Line = Annotated[str, text(r"^[^\x00-\x1f]+$", 200, title="one line of text", description="A line of text.")]
Command = Annotated[
    str,
    text(
        r"^[^\x00-\x1f -][^\x00-\x1f ]*$",
        1000,
        is_path=True,
        title="the name or path of a command, without options",
        description="A command, by name or path.",
    ),
]
FilePath = Annotated[
    str,
    text(
        r"^[^\x00-\x1f-][^\x00-\x1f]*$",
        1000,
        is_path=True,
        title="a path of printable characters that a file system can hold, not one that begins with -",
        description="A path.",
    ),
]
Sha256 = Annotated[
    str, text("^[0-9a-f]{64}$", None, title="64 hexadecimal digits", description="Checksum of the archive.")
]
IpAddress = Annotated[
    str,
    text(
        "^[0-9A-Fa-f.:]{2,45}$",
        45,
        title="an IP address",
        description="The address of this host that the server listens on; by default the address that ssh connects "
        "from.",
    ),
]
RatioLimit = Annotated[
    str,
    text(
        r"^[<>]=? ?[0-9]{1,6}(\.[0-9]{1,6})?$",
        20,
        title='a limit of a ratio in quotes, such as "> 1.05" or "<= 1.02"',
        description="A limit of the ratio to the reference.",
    ),
]
Share = Annotated[
    str | float,
    Scalar(
        "string",
        "number",
        pattern=r"^(?!0+(\.0*)? ?%)([0-9]{1,2}(\.[0-9]+)?|100) ?%$",
        maxLength=20,
        exclusiveMinimum=0,
        maximum=1,
        title="a share such as 2 % or 0.02, above 0 and at most 100 %",
        description="A share.",
    ),
]
ClientCount = Annotated[int, Field(ge=1, le=4096, description="A number of concurrent connections.")]
CPU_LIST = "[0-9]{1,5}(-[0-9]{1,5})?(, ?[0-9]{1,5}(-[0-9]{1,5})?)*"
CpuSet = Annotated[
    Annotated[int, Field(ge=0, le=8191, description="One CPU by its number.")]
    | Annotated[
        str,
        text(
            f"^({CPU_LIST}|numa[0-9]{{1,4}}(, ?numa[0-9]{{1,4}})*)$", None, description="Several CPUs, or NUMA nodes."
        ),
    ],
    Field(
        title="a list of CPU numbers such as 0-5,8, or NUMA nodes such as numa0 or numa0,numa1",
        description="CPUs by number, or all that may be used of the NUMA nodes named.",
    ),
]
OptionValue = Annotated[
    str | float | bool,
    Scalar(
        "string",
        "number",
        "integer",
        "boolean",
        pattern=r"^[^\x00-\x1f]*$",
        maxLength=1000,
        minimum=-18446744073709551615,
        maximum=18446744073709551615,
        title="a number, true, false, or one line of text",
        description="The value of an option; true and false become the words for on and off of the server or sysbench.",
    ),
]
OptionName = Annotated[
    str,
    text(
        "^[a-z][a-z0-9_.]*$",
        100,
        title="an option's name in small letters, digits, _ and . (with _ where the manual has -)",
        description="The name of a server option.",
    ),
]
Options = Annotated[dict[OptionName, OptionValue], Field(description="Server options by name.")]
VariableName = Annotated[
    str,
    text(
        "^[A-Z_][A-Z0-9_]*$",
        100,
        title="the name of a variable in capital letters, digits and _",
        description="The name of an environment variable.",
    ),
]
VariableValue = Annotated[
    str,
    text(
        r"^[^\x00-\x1f]+$",
        4000,
        title="text of at least one character, without control characters",
        description="The value of a variable.",
    ),
]
Variables = Annotated[dict[VariableName, VariableValue], Field(description="Environment variables by name.")]
Word = Annotated[
    str, text(r"^[^\x00-\x1f]+$", 1000, title="one line of text", description="One word of a command line.")
]
FlagWords = Annotated[
    Annotated[str, text(r"^[^\x00-\x1f]*$", 4000), Tag(TEXT)] | Annotated[list[Word], Tag(LIST)],
    tagged(list, LIST),
    Field(title="text, or a list of texts", description="Words for a compiler or a configure command."),
]
Script = Annotated[
    str,
    text(
        r"^([A-Za-z0-9_][A-Za-z0-9_.-]*|(/|~/)[^\x00-\x1f]*\.lua)$",
        1000,
        is_path=True,
        title="the name of a script, or the path of a Lua file, from / or ~/ on",
        description="A script of sysbench.",
    ),
]
ScriptOption = Annotated[
    str,
    text(
        "^[a-z][a-z0-9_-]*$",
        100,
        title="an option's name in small letters, digits, _ and -",
        description="The name of an option of sysbench.",
    ),
]
ScriptOptions = dict[ScriptOption, OptionValue]
PackageName = Annotated[
    str,
    text(
        "^[A-Za-z0-9][A-Za-z0-9._+-]+$",
        100,
        title="the name of a package",
        description="A package of the distribution.",
    ),
]
