"""The documents name files, tests, commands and classes that exist, their site is built, and README stays short."""

import re
import subprocess
import sys

import pytest
import yaml

from scripts import __version__
from tests.made.studies import CHECKOUT
from tests.workflow.running import environment

DOCUMENTS = sorted(
    [
        *CHECKOUT.glob("*.md"),
        *CHECKOUT.glob("studies/*.md"),
        *CHECKOUT.glob("docs/**/*.md"),
        CHECKOUT / "NOTICE",
    ]
)
GLOSSARY = CHECKOUT / "docs" / "glossary.md"
FOLDERS = "catalog|docs|envs|profiles|rules|scripts|studies|tests|workloads"
NAMED_PATH = re.compile(rf"(?<![\w./<-])(?:{FOLDERS})/[\w./-]*[\w/](?![\w<*])")
# Names that stand for a study of the reader's.
USERS_OWN = re.compile(r"studies/(x|mine|my-\w+|published/NAME)\b")
TARGETS = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_document_names_what_exists(document):
    text = document.read_text(encoding="utf-8")
    paths = {path for path in NAMED_PATH.findall(text) if not (CHECKOUT / path).exists() and not USERS_OWN.search(path)}
    tests = {name for name in re.findall(r"`(test_\w+)`", text) if not list(CHECKOUT.glob(f"tests/**/{name}.py"))}
    assert (paths, tests, set(re.findall(r"`make ([a-z-]+)", text)) - TARGETS) == (set(), set(), set())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_links_between_documents_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (document.parent / link).exists()] == []


def test_readme_is_read_in_two_minutes():
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert len(text.split()) <= 1300


def test_readme_names_the_command_that_runs_all_tests():
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert "`.ci/run`" in text
    assert "make test" in (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    assert "`make test`" in text


def test_site_is_built_with_every_link_and_anchor_checked(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    answer = subprocess.run(command, cwd=CHECKOUT, env=environment(), capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, ""), answer.stderr
    pages = {path.relative_to(CHECKOUT / "docs").with_suffix(".html") for path in CHECKOUT.glob("docs/**/*.md")}
    assert {path.with_name("index.html") if path.stem == "README" else path for path in pages} <= {
        path.relative_to(tmp_path / "site") for path in tmp_path.glob("site/**/*.html")
    }


def test_index_leads_to_every_page():
    pages = {path.relative_to(CHECKOUT / "docs").as_posix() for path in CHECKOUT.glob("docs/**/*.md")}
    linked = set(re.findall(r"\]\(([^)#\s]+)", (CHECKOUT / "docs" / "index.md").read_text(encoding="utf-8")))
    of_results = {path for path in pages if path.startswith(("results/", "sample/"))} - {"results/index.md"}
    assert pages - linked - of_results == {"index.md"}


def test_site_is_written_where_nothing_is_tracked():
    assert yaml.safe_load((CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8"))["site_dir"].startswith("results/")


def test_every_class_of_the_glossary_is_there_once():
    rows = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("| **")]
    named = [name for row in rows for name in re.findall(r"`([A-Z]\w+)`", row.rsplit("|", 2)[1])]
    sources = [path.read_text(encoding="utf-8") for path in CHECKOUT.glob("scripts/**/*.py")]
    counts = {name: sum(len(re.findall(rf"^class {name}\b", text, re.MULTILINE)) for text in sources) for name in named}
    assert len(rows) >= 25
    assert len(named) == len(set(named)) >= 12
    assert {name: count for name, count in counts.items() if count != 1} == {}


def test_what_architecture_says_where_to_look_is_there():
    text = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## Where to look")[2]
    places = [line.rsplit("|", 2)[1].partition(";")[0] for line in text.splitlines() if line.startswith(("| W", "| H"))]
    pairs = [
        (re.search(r"`(scripts/\S+)`", place)[1], name) for place in places for name in re.findall(r"`(\w+)`", place)
    ]
    assert (len(places) > 8, len(pairs) >= 5) == (True, True)
    missing = [pair for pair in pairs if f"def {pair[1]}(" not in (CHECKOUT / pair[0]).read_text(encoding="utf-8")]
    assert missing == []


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
