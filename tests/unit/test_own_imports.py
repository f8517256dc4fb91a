"""What a cheap rule's script is made of: a module is forgotten by no list, as none is kept."""

import shutil
import subprocess
import sys

import pytest

from scripts import own_imports
from tests.unit.studies import CHECKOUT

LOADED = """
import sys
import scripts.{0}
print("\\n".join(name for name in sys.modules if name.startswith("scripts.")))
"""


@pytest.mark.parametrize("script", ["collect_runs", "compare_variants", "plot_figures", "render_report", "audit_build"])
def test_files_are_those_that_python_loads(script):
    command = [sys.executable, "-c", LOADED.format(script)]
    loaded = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split()
    expected = {own_imports.file_of(name.removeprefix("scripts.")) for name in loaded}
    found = {file for file in own_imports.files_of(script) if file.endswith(".py")}
    assert expected <= found


def test_page_is_made_of_its_templates_too():
    assert {"templates/report.html.j2", "templates/style.css"} <= set(own_imports.files_of("render_report"))
    assert not any("templates" in file for file in own_imports.files_of("collect_runs"))


def test_package_is_its_init_file():
    assert "families/__init__.py" in own_imports.files_of("train_server")
    assert "families/mariadb.py" in own_imports.files_of("train_server")


def test_digest_follows_the_content_of_every_file(tmp_path, monkeypatch):
    shutil.copytree(own_imports.FOLDER, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    before = own_imports.digest_of("render_report")
    monkeypatch.setattr(own_imports, "FOLDER", tmp_path / "scripts")
    assert own_imports.digest_of("render_report") == before
    for name in ("record.py", "templates/style.css"):
        with (tmp_path / "scripts" / name).open("a") as stream:
            stream.write("\n")
        assert before != (before := own_imports.digest_of("render_report"))


def test_every_file_is_there():
    assert all((CHECKOUT / "scripts" / file).is_file() for file in own_imports.files_of("render_report"))
