"""The faults that are tried on purpose, from faults.yaml: what happens, when, what must hold, and the tests of it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("faults.yaml")
TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Fault:
    """One fault; `tests` are pairs (module, function), modules named without their folder."""

    area: str
    fault: str
    when: str
    holds: str
    tests: tuple[tuple[str, str], ...]


def faults() -> list[Fault]:
    """Return all faults in the order of the file. Raises KeyError or ValueError when one lacks a part."""
    areas = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return [_fault(area, entry) for area, entries in areas.items() for entry in entries]


def _fault(area: str, entry: dict) -> Fault:
    pairs = tuple(tuple(name.split("::")) for name in entry["tests"])
    if set(entry) != {"fault", "when", "holds", "tests"} or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{FILE}: {entry}, expected fault, when, holds and tests, each module::function")
    return Fault(area, entry["fault"], entry["when"], entry["holds"], pairs)


def files() -> dict[str, Path]:
    """Return name -> file of every test module; the names are unique over the folders."""
    return {file.stem: file for file in sorted(TESTS.glob("**/test_*.py"))}


def functions(file: Path) -> Iterator[str]:
    """Yield the names of the tests in a module."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name
