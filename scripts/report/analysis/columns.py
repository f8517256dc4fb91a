"""The columns of the result tables: name, meaning and unit, declared once per table and read by all who use it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.measure.engine.run_record import Run

# What a field of a table holds, and a row: column -> field.
Field = str | float | bool | None
Row = dict[str, Field]

# Units of columns that hold no decimal number; the unit of any other column is the unit of its numbers.
TEXT, COUNT, NUMBER, BOOLEAN = "text", "count", "number", "true or false"
SECONDS, MINUTES, MILLISECONDS, MICROSECONDS_PER_TX = "s", "min", "ms", "µs per transaction"
UNIX_TIME = "s since 1970, UTC"
BYTES, BYTES_PER_SECOND, PER_SECOND = "bytes", "bytes/s", "1/s"
SHARE, BUSY, RATIO = "share, 0 to 1", "share", "ratio"
LOG_RATIO, PROBABILITY = "natural logarithm of a ratio", "probability"
OF_METRIC = "that of the metric"


@dataclass(frozen=True)
class Column:
    """One column of a table; `value` returns its field of a run's record. Tables of anything else have none."""

    name: str
    meaning: str
    unit: str
    value: Callable[["Run"], Field] = field(default=lambda run: None, compare=False, repr=False)

    def meaning_here(self, meaning: str) -> "Column":
        """Return the same column with the meaning it has in another table."""
        return replace(self, meaning=meaning)


@dataclass(frozen=True)
class CsvTable:
    """A table: `name` is its file without `.csv`, `row` says what one row is."""

    name: str
    row: str
    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        """Raise ValueError when two columns have one name."""
        if repeated := {name for name in self.names if self.names.count(name) > 1}:
            raise ValueError(f"table {self.name}: columns declared twice: {', '.join(sorted(repeated))}")

    def __iter__(self) -> Iterator[Column]:
        """Iterate over the columns in their order."""
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        """Return a column. Raises KeyError naming table and column when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name} has no column {name!r}")

    @property
    def names(self) -> list[str]:
        """The names of the columns in their order."""
        return [column.name for column in self.columns]
