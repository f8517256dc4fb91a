"""A docstring that refers to a function, class or module names one that exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.made.studies import CHECKOUT

FILES = sorted((CHECKOUT / "scripts").rglob("*.py"))
# What says that a name in back quotes is one of code, and not a key, a field or a word.
REFERENCES = re.compile(
    r"[Ss]ee `(?P<seen>[\w.]+)`|`(?P<acting>[\w.]+)` (?:reads?|wrote|writes|made|returns|does|finds)\b"
    r"|`(?P<called>[\w.]+)\(\)`|`(?P<private>_[a-z]\w*)`"
)
# Names of Snakemake's own objects.
OF_SNAKEMAKE = {"_open_jobs.acquire"}


def names_of(file: Path) -> Iterator[str]:
    """Yield the names in a module: its own, its package's, those of functions, classes, attributes and arguments."""
    yield from (file.stem, file.parent.name)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def references(file: Path) -> Iterator[str]:
    """Yield the names that the docstrings of a module refer to, dots included."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            for match in REFERENCES.finditer(ast.get_docstring(node) or ""):
                yield next(filter(None, match.groups()))


def test_names_that_docstrings_refer_to_exist():
    own = {file: {*names_of(file)} for file in FILES}
    everywhere, missing = set().union(*own.values()), []
    for file in FILES:
        for name in {*references(file)} - OF_SNAKEMAKE:
            parts = name.split(".")
            # `module.name` and `Class.name` stand in one module.
            if not (
                set(parts) <= everywhere and (len(parts) == 1 or any(set(parts) <= names for names in own.values()))
            ):
                missing.append(f"{file.relative_to(CHECKOUT)}: {name}")
    assert missing == []


def test_references_are_found_in_sentences():
    text = '"""`kept` reads it, see `a.b`; `_bound` and `f()` too, but no `field` or `key`."""'
    file = CHECKOUT / "scripts" / "__init__.py"
    found = [next(filter(None, match.groups())) for match in REFERENCES.finditer(text)]
    assert found == ["kept", "a.b", "_bound", "f"]
    assert {*names_of(file)} >= {"__init__", "scripts", "ROOT"}
