"""Describe the tables of a study in tables/README.md, export them as tables/results.json, and judge `expect:`."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path

from scripts.lib.host import entry
from scripts.lib.json_record import FORMAT, Json, json_text, write, write_text
from scripts.lib.resolved_study import read_study
from scripts.lib.visible import csv_text
from scripts.report.analysis import dictionary
from scripts.report.analysis.columns import BOOLEAN, COUNT, TEXT, CsvTable
from scripts.report.analysis.expectations import whole_verdict
from scripts.report.analysis.run_tables import read_csv

EXPORTED = tuple(name for name in dictionary.TABLES if name not in ("series", "counters", "files"))
# Where the outputs of `main` stand, below the folder of a study.
OUTPUTS = ("verdict.json", "tables/README.md", "tables/results.json")


def json_field(field: str, unit: str) -> Json:
    """Return a field of a table as a JSON value, numbers without loss; None if it is empty.

    Raises ValueError if a number is not finite or not of its column's kind, KeyError if a boolean is neither True nor
    False.
    """
    if field == "":
        return None
    if unit == TEXT:
        return csv_text(field)
    if unit == BOOLEAN:
        return {"True": True, "False": False}[field]
    number = float(field)
    if not math.isfinite(number) or (unit == COUNT and not number.is_integer()):
        raise ValueError(f"{field!r}, expected a {'whole' if unit == COUNT else 'finite'} number")
    return int(number) if unit == COUNT else number


def read_rows(path: Path) -> list[dict[str, Json]]:
    """Return the rows of a table. Raises ValueError naming file, line and column of a field not as described."""
    table = {column.name: column.unit for column in _table(path.stem)}
    rows = []
    with path.open(encoding="utf-8", newline="") as stream:
        for row in (reader := csv.DictReader(stream)):
            rows.append({name: _json_value(path, reader.line_num, table, name, field) for name, field in row.items()})
    return rows


def _table(name: str) -> CsvTable:
    return dictionary.TABLES.get(name) or dictionary.IMPORTED[name]


def _json_value(path: Path, line: int, table: dict[str, str], name: str, field: str) -> Json:
    if name not in table:
        raise ValueError(f"{path}: column {name!r}, expected one of {', '.join(table)}")
    try:
        return json_field(field, table[name])
    except (ValueError, KeyError) as error:
        raise ValueError(f"{path}, line {line}, column {name}: {error}") from error


def main(study: Path, tables: Mapping[str, Path], verdict: Path, meanings: Path, results: Path) -> None:
    """Inputs: `study`, the resolved study.json, and `tables`, the CSV files of all tables but the large ones.

    Outputs: `meanings`, the dictionary as text, `results`, all tables as JSON, and `verdict`, how `expect:` stands.
    """
    declared = read_study(study)
    imported = [name for name in dictionary.IMPORTED if name in tables]
    columns = {
        name: {column.name: {"meaning": column.meaning, "unit": column.unit} for column in _table(name)}
        for name in (*EXPORTED, *imported)
    }
    named = {key: getattr(declared, key) for key in ("study", "title", "question", "reference")}
    rows = {name: read_rows(tables[name]) for name in (*EXPORTED, *imported)}
    exported = {"format": FORMAT, **named, "columns": columns, "tables": rows}
    write_text(meanings, dictionary.text(declared.study, imported))
    write_text(results, json_text(exported, allow_nan=False) + "\n")
    judged = whole_verdict(declared, {name: read_csv(tables[name]) for name in ("runs", "overall")})
    write(verdict, judged)


if __name__ == "__main__":
    entry.run(main, __doc__, "study", "verdict", "meanings", "results", tables=entry.TABLES)
