"""Every text of config and catalog replaced by hostile ones: planned as the text it is, or refused by its key."""

import html
import itertools
import re
from pathlib import Path

import pytest

from scripts.build.compilation.toolchain import COMMANDS
from scripts.lib.visible import visible
from tests.faults.hostile import CANARY, TEXTS, leaves, planted
from tests.faults.planned import catalog, everything, names_a_key, quickly, refusal
from tests.faults.scale import WHOLE
from tests.workflow.stubbed import copied

pytestmark = pytest.mark.slow

NAMES = list(TEXTS)
UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
LINES = [text for text in TEXTS.values() if text.strip() and len(text) < 200 and not UNFIT.search(text)]
PLACES = [text for text in LINES if not text.startswith(("~", "-")) and text.isprintable()]
FOLDERS = [text for text in PLACES if not Path(text).is_file()]
# Values of server options lead to no place outside the data directory.
VALUES = [text for text in LINES if not re.search(r"~|\.\./|/etc/", text)]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    (tree / "configure").write_text("PACKAGE_VERSION='15.1'\n")
    with quickly():
        yield everything(tree, catalog())


def positions(base):
    """Return one leaf for each place of the config language; names of entries and places in lists do not count."""
    found = {}
    for path in leaves(base):
        general = tuple("*" if depth == 1 or isinstance(part, int) else part for depth, part in enumerate(path))
        found.setdefault(general, path)
    return list(found.values())


def trials(base):
    """Yield (leaf, texts): whole, every text at every place and one text at every leaf; short, three at each place.

    The first of the three is one that a place for texts takes, whatever the number of places before it.
    """
    texts, printable = itertools.cycle(NAMES), itertools.cycle(name for name in NAMES if TEXTS[name] in PLACES)
    for path in positions(base):
        yield path, (NAMES if WHOLE else [next(printable), *itertools.islice(texts, 2)])
    if WHOLE:
        yield from zip(leaves(base), ([name] for name in texts), strict=False)


def test_whole_study_is_planned_as_it_is(base):
    assert refusal(base) is None


def test_hostile_text_is_planned_as_text_or_refused_by_its_key(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong, planned = [], 0
    for path, names in trials(base):
        for name in names:
            odd = planted(base, path, TEXTS[name])
            told = refusal(odd)
            planned += told is None
            if told is not None and not (names_a_key(told, odd) and told.replace("\n", "").isprintable()):
                wrong.append((path, name, told[:300]))
            # A place that takes no text refuses the second as it refused the first; `make faults` tries all.
            if told is not None and not WHOLE:
                break
    assert not wrong, "\n".join(map(str, wrong))
    assert planned > 20, planned
    assert not (tmp_path / CANARY).exists()


QUESTION = "\n".join(LINES)[:1000]


@pytest.fixture(scope="module")
def hostile_study(tmp_path_factory):
    """A study of stubs with hostile texts wherever the language takes any, brought to its report."""
    folder = tmp_path_factory.mktemp("hostile")
    tree = folder / "$(touch CANARY) `touch CANARY`; 'x' \"{input}\" %s & ж"
    tree.mkdir()
    (tree / "configure").write_text("PACKAGE_VERSION='15.1'\n")
    (checkout := folder / "checkout").mkdir()
    # It declares no options, so that it takes any.
    (script := folder / "own.lua").write_text("function event() end")
    own = {"family": "postgresql", "product": LINES[0], "version": "15", "configure": LINES}
    study = copied(checkout)
    study.configure(
        title=" ".join(LINES)[:200],
        question=QUESTION,
        servers={"own": {**own, "sources": [{"directory": str(tree)}]}},
        builds={"odd": {"flags": LINES, "toolchain": "odd", "may_fail": True}},
        toolchains={"odd": {"directories": FOLDERS, **dict.fromkeys(COMMANDS["gcc"], "gcc-12")}},
        variants={name: {"server": "own", "build": "odd", "storage": "odd"} for name in ("baseline", "other")},
        options={f"odd.x{number}": text for number, text in enumerate(VALUES)},
        storage={"odd": f"/tmp/{LINES[0]}"},
        workloads={
            "oltp": {
                "script": str(script),
                "options": {f"odd-{number}": text for number, text in enumerate(LINES)},
            }
        },
        repetitions=1,
    )
    answer = study.run("--cores", "2", "results/report.html")
    return study, answer


def test_nothing_of_a_hostile_study_is_executed(hostile_study):
    study, answer = hostile_study
    assert answer.status == 0, answer.text
    assert not list(study.root.parent.rglob(CANARY))
    assert "Traceback" not in answer.text


def test_hostile_texts_stand_on_the_page_letter_by_letter(hostile_study):
    study, _ = hostile_study
    page = html.unescape(re.sub("<[^>]+>", "", (study.root / "results" / "report.html").read_text()))
    assert " ".join(visible(QUESTION).split()) in " ".join(page.split())
