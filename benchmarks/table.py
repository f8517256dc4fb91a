"""The table of all benchmarks: its rows, and how they compare with those of the last commit."""

import csv
import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = Path(__file__).with_name("table.csv")
# Ratios of two calls of the same code differed by up to this share (README): a larger change is one of the code.
NOISE = {"s": 0.25, "s (part)": 1.0, "CPU s": 0.20, "MiB": 0.05, "%": 0.50}


@dataclass(frozen=True)
class Row:
    """One figure; `reference` is the reference command's in the same unit and run, `limit` what must be kept."""

    bench: str
    what: str
    value: float
    unit: str
    reference: float
    limit: float | None = None

    @property
    def ratio(self) -> float:
        """Return the figure as a multiple of the reference's: what can be compared between machines."""
        return self.value / self.reference

    @property
    def ok(self) -> bool | None:
        """Tell whether the limit is kept, None without one."""
        return None if self.limit is None else self.value <= self.limit

    def cells(self) -> dict[str, str]:
        """Return the row as the table shows it."""
        shown = {key: value for key, value in asdict(self).items() if key != "limit"}
        ok = {None: "", True: "yes", False: "NO"}[self.ok]
        texts = {**shown, "ratio": self.ratio, "limit": self.limit, "ok": ok}
        return {key: "" if value is None else _text(value) for key, value in texts.items()}


COLUMNS = ("bench", "what", "value", "unit", "reference", "ratio", "limit", "ok")


def _text(value: str | float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def read(text: str) -> list[Row]:
    """Return the rows of a table."""
    names = [field.name for field in fields(Row)]
    found = []
    for cells in csv.DictReader(io.StringIO(text)):
        numbers = {key: float(cells[key]) for key in ("value", "reference")}
        limit = float(cells["limit"]) if cells["limit"] else None
        found.append(Row(**{**{key: cells[key] for key in names}, **numbers, "limit": limit}))
    return found


def keep(rows: list[Row], file: Path) -> None:
    """Put a benchmark's rows into the table in place of its earlier ones."""
    names = {row.bench for row in rows}
    kept = [row for row in read(file.read_text()) if row.bench not in names] if file.exists() else []
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row.cells() for row in sorted([*kept, *rows], key=lambda row: row.bench))


def committed() -> list[Row]:
    """Return the rows of the last commit; none when it has no table."""
    command = ["git", "show", f"HEAD:{FILE.relative_to(ROOT)}"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return read(shown.stdout) if shown.returncode == 0 else []


def change(row: Row, before: list[Row]) -> float | None:
    """Return by which share a row's ratio grew since the last commit, None for a new row."""
    earlier = next((old for old in before if (old.bench, old.what, old.unit) == (row.bench, row.what, row.unit)), None)
    return None if earlier is None else row.ratio / earlier.ratio - 1


def verdict(row: Row, grown: float | None) -> str:
    """Return in a few words what is wrong with a row, or got better."""
    words = [] if row.ok is not False else ["OVER THE LIMIT"]
    if grown is not None and abs(grown) > NOISE[row.unit]:
        words.append("WORSE" if grown > 0 else "better")
    return ", ".join(words)


def compared(rows: list[Row], before: list[Row]) -> tuple[str, bool]:
    """Return the rows beside those of the last commit as a text, and whether none is worse or over its limit."""
    lines = [f"{'bench':16} {'what':28} {'value':>9} {'unit':8} {'limit':>6} {'ratio':>8} {'commit':>8}  change"]
    good = True
    for row in rows:
        grown = change(row, before)
        said, cells = verdict(row, grown), row.cells()
        ratios = f"{row.ratio:8.3g} {'-' if grown is None else f'{row.ratio / (1 + grown):.3g}':>8}"
        share = "new" if grown is None else f"{grown:+.0%} (noise {NOISE[row.unit]:.0%})"
        figures = f"{cells['value']:>9} {row.unit:8} {cells['limit']:>6}"
        lines.append(f"{row.bench:16} {row.what:28} {figures} {ratios}  {share} {said}".rstrip())
        good = good and not said.isupper()
    return "\n".join(lines) + "\n", good


def run(benches: list[Callable[[], list[Row]]]) -> int:
    """Run benchmarks, keep their rows and print them beside those of the last commit, and what could not be measured.

    Returns the exit status: 1 when a row is over its limit, got worse or is missing.
    """
    rows, missing, before = [], [], committed()
    for bench in benches:
        try:
            rows += bench()
        except ValueError as error:
            missing.append(f"NOT MEASURED: {error}\n")
    keep(rows, FILE)
    text, good = compared(rows, before)
    sys.stdout.write(text + "".join(missing))
    return 0 if good and not missing else 1
