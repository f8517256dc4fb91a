"""Read and write the JSON records of the workflow. A record is complete or absent: it is renamed into place."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from scripts.lib import parts, signals, version
from scripts.lib.parts import Part, Values
from scripts.lib.visible import json_visible

FORMAT = 1
# The last commit that reads and renders results of the layout before blocks.
LAST_BEFORE_BLOCKS = "fda9c5556efb7d624ff05d403265257cbc948968"

Json = parts.Json
RecordPart = TypeVar("RecordPart", bound=Part)


def canonical(value: object) -> str:
    """Return `value` as JSON with sorted keys and no white space: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: object) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of the canonical JSON of `value`."""
    return sha256(value)[:12]


def sha256(value: object) -> str:
    """Return the SHA-256 of the canonical JSON of `value`, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a file under a temporary name and rename it into place; it has the permissions that the umask allows.

    Raises SystemExit if a termination signal was received.
    """
    signals.leave_if_signalled()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write(path: Path, facts: Mapping[str, object]) -> None:
    """Write a record that other jobs depend on: the format number, then `facts`; equal facts give equal bytes."""
    write_text(path, json_text({"format": FORMAT, **facts}, indent=1) + "\n")


def json_text(value: object, indent: int | None = None, allow_nan: bool = True) -> str:
    """Return a value as JSON for people, too: letters as letters, what nobody would see by JSON's own escapes."""
    return json_visible(json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=allow_nan))


def write_signed(path: Path, facts: Mapping[str, object]) -> None:
    """Write the record of what was measured or made once, with the release and commit of the workflow that did it."""
    write(path, {"workflow": version.workflow(), **facts})


def read(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises ValueError naming the file when it is not JSON or was written by a newer release.
    """
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        number = int(facts.get("format", 0))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: not JSON of ours ({error}); remove it, and the workflow makes it again") from error
    if number > FORMAT:
        raise ValueError(f"{path}: format {number} is newer than this release reads ({FORMAT}); update the checkout")
    return facts


def read_part(kind: type[RecordPart], path: Path) -> RecordPart:
    """Read a record as an object of its kind; keys without a field are ignored.

    Raises ValueError naming the file as `read` does, or the key whose value has another form.
    """
    try:
        return kind.of(read(path), str(path))
    except TypeError as error:
        raise ValueError(str(error)) from error


def dump(record: Part, *first: str) -> dict[str, Json]:
    """Return a part of a record as a JSON object, without the empty fields that it does not write.

    The keys `first` are in it in any case, ahead of the others. Raises TypeError for a value that JSON does not have.
    """
    values, also = record.values(), {*first, *record.written_empty()}
    order = dict.fromkeys([*first, *values])
    return {name: _json(values[name]) for name in order if name in also or not _is_empty(values[name])}


def _json(value: object) -> Json:
    match value:
        case Part():
            return dict(dump(value))
        case Values():
            return dict(value.dump())
        case dict():
            return {str(key): _json(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_json(inner) for inner in value]
        case None | bool() | int() | float() | str():
            return value
    raise TypeError(f"{value!r}: expected a part of a record, or what JSON has")


def _is_empty(value: object) -> bool:
    return not value if isinstance(value, Part) else value is None or value in ({}, [], ())


def part(facts: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object inside a record, empty when the record has none or null."""
    return facts.get(name) or {}
