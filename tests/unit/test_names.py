"""A module, and a public class, is found by its name alone; a variable says what it holds."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).parents[2]
SCRIPTS = CHECKOUT / "scripts"
# What breaks the rules so far. Whoever mends some of it shortens the file, which nothing may lengthen.
TOLERATED = yaml.safe_load((CHECKOUT / "tests" / "data" / "names.yaml").read_text())
VAGUE = re.compile(
    "found|one|each|known|own|made|every|there|whole|given|kept|ours|theirs|left|beside|taken|asked|held|said|told|"
    "wanted|place"
)
# Each package has these.
REPEATED = frozenset({"__init__", "__main__"})


@cache
def modules():
    """Return path below the checkout -> syntax tree of every module of scripts/."""
    return {file.relative_to(CHECKOUT): ast.parse(file.read_text()) for file in sorted(SCRIPTS.rglob("*.py"))}


def repeated(places):
    """Return the names that stand at several places, with them."""
    return {name: sorted(map(str, files)) for name, files in places.items() if len(files) > 1}


def vague(tree):
    """Return the vague names that a module gives to variables, arguments and fields."""
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names += [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    names += [node.name for node in ast.walk(tree) if isinstance(node, (ast.MatchAs, ast.ExceptHandler)) and node.name]
    return [name for name in names if VAGUE.fullmatch(name)]


def test_no_two_modules_share_a_name():
    places = defaultdict(list)
    for path in modules():
        places[path.stem].append(path)
    assert repeated(places).keys() - REPEATED - set(TOLERATED["modules"]) == set()


def test_no_two_public_classes_share_a_name():
    places = defaultdict(list)
    for path, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert repeated(places).keys() - set(TOLERATED["classes"]) == set()


def test_no_package_gets_more_vague_names():
    counts = defaultdict(int)
    for path, tree in modules().items():
        counts[str(path.parent)] += len(vague(tree))
    more = {
        package: f"{count} names, at most {TOLERATED['vague'].get(package, 0)}"
        for package, count in counts.items()
        if count > TOLERATED["vague"].get(package, 0)
    }
    assert more == {}


def test_vague_names_are_seen_in_every_way_that_python_binds_them():
    text = """
def f(found, *, each=1, **kept):
    with open(found) as place:
        [one for one in place]
    match found:
        case {"a": told}:
            wanted: int = 1
    own, (left, fine) = 1, (2, 3)
    return (lambda said: said)(known := found)
"""
    expected = {"found", "each", "kept", "place", "one", "told", "wanted", "own", "left", "said", "known"}
    assert set(vague(ast.parse(text))) == expected
