"""README, CONTRIBUTING and the other documents name files, tests and commands that exist."""

import re

import pytest
import yaml

from scripts import __version__
from tests.made.studies import CHECKOUT

DOCUMENTS = sorted(
    [
        *CHECKOUT.glob("*.md"),
        *CHECKOUT.glob("studies/*.md"),
        *CHECKOUT.glob("docs/sample/*.md"),
        CHECKOUT / "docs" / "import.md",
        CHECKOUT / "NOTICE",
    ]
)
FOLDERS = "catalog|docs|envs|profiles|rules|scripts|studies|tests|workloads"
NAMED_PATH = re.compile(rf"(?<![\w./<-])(?:{FOLDERS})/[\w./-]*[\w/](?![\w<*])")
TARGETS = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_document_names_what_exists(document):
    text = document.read_text(encoding="utf-8")
    paths = {path for path in NAMED_PATH.findall(text) if not (CHECKOUT / path).exists() and "studies/x" not in path}
    tests = {name for name in re.findall(r"`(test_\w+)`", text) if not list(CHECKOUT.glob(f"tests/**/{name}.py"))}
    assert (paths, tests, set(re.findall(r"`make ([a-z-]+)", text)) - TARGETS) == (set(), set(), set())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_links_between_documents_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (document.parent / link).exists()] == []


def test_every_study_is_listed_with_its_question():
    listed = (CHECKOUT / "studies" / "README.md").read_text(encoding="utf-8")
    names = {path.stem for path in CHECKOUT.glob("studies/*.yaml")}
    written_out = {full for name in names for full in (name, name.removeprefix("change-buffering-mysql"))}
    assert {
        name for name in names if f"`{name}`" not in listed and not written_out & set(re.findall("`(-[^`]+)`", listed))
    } == set()


def _names_something(dotted: str) -> bool:
    """Return whether a dotted name is a package, a module, or a word that its module contains."""
    path, rest = CHECKOUT, dotted.split(".")
    while rest and (path / rest[0]).is_dir():
        path /= rest.pop(0)
    module = path / f"{rest.pop(0)}.py" if rest and (path / f"{rest[0]}.py").exists() else path / "__init__.py"
    return not rest or re.search(rf"\b{rest[0]}\b", module.read_text(encoding="utf-8")) is not None


def test_modules_name_modules_and_functions_that_exist():
    named = [
        (path.relative_to(CHECKOUT).as_posix(), dotted)
        for path in [*CHECKOUT.glob("scripts/**/*.py"), *CHECKOUT.glob("rules/*")]
        for dotted in re.findall(r"`(scripts(?:\.\w+)+)(?:\(\))?`", path.read_text(encoding="utf-8"))
    ]
    assert named
    assert [(path, dotted) for path, dotted in named if not _names_something(dotted)] == []


def test_licence_and_version_are_stated_alike():
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["license"], citation["version"]) == ("Apache-2.0", __version__)
    assert (CHECKOUT / "LICENSE").read_text(encoding="utf-8").lstrip().startswith("Apache License")
    assert "Copyright 2026 The authors of pgo-bench" in (CHECKOUT / "NOTICE").read_text(encoding="utf-8")
