"""The complete studies that docs/how-to and README show are planned."""

import itertools
import re

import pytest
import yaml

from scripts.lib.vocabulary import AA
from scripts.study.config import loading
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.known_paths import made_up_machine
from tests.made.studies import CHECKOUT

PAGES = [*sorted(CHECKOUT.glob("docs/how-to/*.md")), CHECKOUT / "README.md"]
# They are about commands and files, for any study.
WITHOUT_A_STUDY = {"run.md", "tables.md"}
COMPLETE = re.compile(r"```yaml\n(study: .*?)```", re.DOTALL)
FILE = re.compile(r"`~/([\w./-]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
STUDIES = [(page, text) for page in PAGES for text in COMPLETE.findall(page.read_text(encoding="utf-8"))]


def of(page, text):
    """Return the name that a case has in the tests' output."""
    return f"{page.name}:{re.match('study: (.*)', text)[1]}"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The empty home of a user who follows a page, on a machine that has all compilers, servers and trees."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with made_up_machine():
        yield tmp_path


def planned(home, page, text):
    """Return the paths of a study that a page shows, planned beside the files that the page has one write."""
    for name, content in FILE.findall(page.read_text(encoding="utf-8")):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content, encoding="utf-8")
    (file := home / "study.yaml").write_text(text, encoding="utf-8")
    return Schedule(Plan(loading.read(file, CHECKOUT), CHECKOUT))


@pytest.mark.parametrize(("page", "text"), STUDIES, ids=[of(*each) for each in STUDIES])
def test_the_study_of_a_page_is_planned_in_whole(home, page, text):
    paths, written = planned(home, page, text), yaml.safe_load(text)
    factors = written.get("matrix", {}).get("factors", {})
    combinations = {".".join(levels) for levels in itertools.product(*factors.values())} if factors else set()
    assert {run.variant for run in paths.runs.values()} >= {*written.get("variants", {}), *combinations, AA}
    assert {block.key.workload for block in paths.every_block} == set(written["workloads"])
    assert {block.key.clients for block in paths.every_block} == set(written["clients"])
    assert max(block.key.repetition for block in paths.every_block) >= 5, "fewer repetitions give no verdict"


def test_the_study_of_the_readme_has_ten_lines():
    (text,) = [text for page, text in STUDIES if page.name == "README.md"]
    assert len(text.splitlines()) <= 10


def test_a_patch_is_planned_as_its_page_says(home):
    ((page, text),) = [each for each in STUDIES if each[0].name == "patch.md"]
    paths = planned(home, page, text)
    counts = f"{len(paths.builds)} builds, {len(paths.datasets)} datasets, {len(paths.every_block)} blocks"
    assert counts in page.read_text(encoding="utf-8")


def test_every_page_of_a_question_has_a_complete_study():
    with_one = {page.name for page, _ in STUDIES}
    assert {page.name for page in PAGES} - with_one == WITHOUT_A_STUDY


def test_every_study_of_a_page_has_a_name_of_its_own():
    names = [re.match("study: (.*)", text)[1] for _, text in STUDIES]
    assert len(names) == len(set(names))
    assert not {f"{name}.yaml" for name in names} & {path.name for path in CHECKOUT.glob("studies/*.yaml")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_a_page_name_a_study_that_there_is(page):
    text = page.read_text(encoding="utf-8")
    shown = {re.match("study: (.*)", each)[1] for each in COMPLETE.findall(text)} | {"x"}
    known = {path.stem for path in CHECKOUT.glob("studies/*.yaml")}
    assert set(re.findall(r"STUDY=([\w.-]+)", text)) <= shown | known
