"""A browser, and the reports it opens. KEEP_PICTURES names a folder where the pictures stay for people to look at."""

import os
from pathlib import Path

import pytest

from scripts.commands.import_logs import __main__ as import_logs
from tests.browser import chromium, large
from tests.made import logs as made_logs
from tests.made import spoilt, synthetic
from tests.made.rendering import rendered


@pytest.fixture(scope="session")
def browser():
    """A running Chromium."""
    if chromium.PROGRAM is None:
        pytest.skip("no chromium here: reports are not opened in a browser")
    with chromium.started() as running:
        yield running


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """The folder pictures are written to."""
    folder = Path(os.environ.get("KEEP_PICTURES") or tmp_path_factory.mktemp("pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


@pytest.fixture(scope="session")
def small_page(tmp_path_factory):
    """The report of a study with several client counts, a failed run, factors and a BOLT build."""
    variants = {"baseline": 0.0, "aa": 0.0, "lto": 0.2, "pgo": 0.9, "pgo_lto": 1.0, "pgo_lto_bolt": 1.2}
    lost = frozenset([("pgo", "oltp", 8, 2)])
    plan = synthetic.Plan(
        variants=variants, workloads=("simple_select", "oltp"), clients=(1, 8, 64), repetitions=5, failures=lost
    )
    tree, _, _ = rendered(plan, tmp_path_factory.mktemp("small"))
    return tree.study.parent / "report.html"


@pytest.fixture(scope="session")
def large_page(tmp_path_factory):
    """The report of a study of 500 runs."""
    plan = large.plan(500)
    tree, _, _ = rendered(plan, tmp_path_factory.mktemp("large"), made=list(large.runs(plan)))
    return tree.study.parent / "report.html"


@pytest.fixture(scope="session")
def imported_page(tmp_path_factory):
    """The report of other people's logs."""
    root = tmp_path_factory.mktemp("imported")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        logs = made_logs.tree(root / "logs", workloads=("oltp", "read_only"), clients=(4, 16))
        pattern = made_logs.write(root, "pattern.yaml", f'path: "{made_logs.LAID_OUT}"\n')
        import_logs.main(logs, "theirs", pattern)
    return root / import_logs.STUDIES / "theirs" / "report.html"


@pytest.fixture(scope="session")
def odd_page(tmp_path_factory):
    """The report of a study with markup in every text from outside."""
    tree, _, _ = spoilt.report(tmp_path_factory.mktemp("odd"))
    return tree.study.parent / "report.html"
