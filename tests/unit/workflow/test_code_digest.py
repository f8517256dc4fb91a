"""The digest of a cheap rule's code covers every module that Python loads for it, and the templates of the page."""

import shutil
import subprocess
import sys

import pytest

from scripts.workflow import code_digest
from tests.made.studies import CHECKOUT

LOADED = """
import sys
import scripts.{0}
print("\\n".join(name for name in sys.modules if name.startswith("scripts.")))
"""


@pytest.mark.parametrize(
    "script",
    [f"jobs.{rule}" for rule in ("collect_runs", "compare_variants", "plot_figures", "render_report", "audit_build")],
)
def test_files_are_those_that_python_loads(script):
    command = [sys.executable, "-c", LOADED.format(script)]
    loaded = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split()
    expected = {code_digest.file_of(name.removeprefix("scripts.")) for name in loaded}
    found = {file for file in code_digest.files_of(script) if file.endswith(".py")}
    assert expected <= found


def test_page_is_made_of_its_templates_too():
    assert {"report/templates/report.html.j2", "report/templates/style.css"} <= set(
        code_digest.files_of("jobs.render_report")
    )
    assert not any("templates" in file for file in code_digest.files_of("jobs.collect_runs"))


def test_package_is_its_init_file():
    assert "servers/families/__init__.py" in code_digest.files_of("jobs.train_server")
    assert "servers/families/mariadb.py" in code_digest.files_of("jobs.train_server")


def test_digest_follows_the_content_of_every_file(tmp_path, monkeypatch):
    shutil.copytree(code_digest.FOLDER, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    before = code_digest.digest_of("jobs.render_report")
    monkeypatch.setattr(code_digest, "FOLDER", tmp_path / "scripts")
    assert code_digest.digest_of("jobs.render_report") == before
    for name in ("record.py", "report/templates/style.css"):
        with (tmp_path / "scripts" / name).open("a") as stream:
            stream.write("\n")
        assert before != (before := code_digest.digest_of("jobs.render_report"))


def test_every_file_is_there():
    assert all((CHECKOUT / "scripts" / file).is_file() for file in code_digest.files_of("jobs.render_report"))
