"""Write what the tables of a study mean, tables/README.md, and the tables as one JSON, tables/results.json."""

import argparse
import csv
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.analysis import dictionary
from scripts.analysis.dictionary import BOOLEAN_UNIT, COUNT_UNIT, TEXT_UNIT
from scripts.record import FORMAT, read, write_text

EXPORTED = tuple(name for name in dictionary.TABLES if name not in ("series", "counters", "files"))


def value(field: str, unit: str) -> Any:
    """Return a field of a table as a JSON value: None when empty, exactly the number that was written otherwise.

    Raises ValueError when the field is not of its column's kind, or not finite.
    """
    if field == "":
        return None
    if unit == TEXT_UNIT:
        return field
    if unit == BOOLEAN_UNIT:
        return {"True": True, "False": False}[field]
    number = float(field)
    if not math.isfinite(number) or (unit == COUNT_UNIT and not number.is_integer()):
        raise ValueError(f"{field!r}, expected a {'whole' if unit == COUNT_UNIT else 'finite'} number")
    return int(number) if unit == COUNT_UNIT else number


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table. Raises ValueError naming the file, line and column of what is not as described."""
    known = dictionary.columns(path.stem)
    found = []
    with path.open(encoding="utf-8", newline="") as stream:
        for row in (reader := csv.DictReader(stream)):
            found.append({name: _told(path, reader.line_num, name, field, known) for name, field in row.items()})
    return found


def _told(path: Path, line: int, name: str, field: str, known: dict[str, dictionary.Column]) -> Any:
    if name not in known:
        raise ValueError(f"{path}: column {name!r}, expected one of {', '.join(known)}")
    try:
        return value(field, known[name].unit)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{path}, line {line}, column {name}: {error}") from error


def main(study: Path, tables: Path) -> None:
    """Read the CSV tables in `tables` and write both files beside them."""
    declared = read(study)
    told = {name: {column: asdict(kind) for column, kind in dictionary.columns(name).items()} for name in EXPORTED}
    named = {key: declared.get(key) for key in ("study", "title", "question", "reference")}
    found = {name: rows(tables / f"{name}.csv") for name in EXPORTED}
    whole = {"format": FORMAT, **named, "columns": told, "tables": found}
    write_text(tables / "README.md", dictionary.text(declared["study"]))
    write_text(tables / "results.json", json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="the resolved study, study.json")
    parser.add_argument("--tables", type=Path, required=True, help="folder with the CSV tables, and to write to")
    main(**vars(parser.parse_args()))
