"""The digest of a cheap rule's code covers every module that Python loads for it, and the templates of the page."""

import ast
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


def test_imports_are_those_that_the_parser_finds():
    parsed = {}
    for file in code_digest.FOLDER.rglob("*.py"):
        nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
        ours = [node for node in nodes if (node.module or "").split(".")[0] == code_digest.FOLDER.name]
        inner = [(".".join((node.module or "").split(".")[1:]), node) for node in ours]
        names = {f"{folder}.{alias.name}".removeprefix(".") for folder, node in inner for alias in node.names}
        whole = ({folder for folder, _ in inner} - {""}) | {name for name in names if code_digest._is_module(name)}
        parsed[".".join(file.relative_to(code_digest.FOLDER).with_suffix("").parts).removesuffix(".__init__")] = whole
    del parsed["__init__"]
    more = {module: set(code_digest.imported(module)) - names for module, names in parsed.items()}
    assert all(names <= set(code_digest.imported(module)) for module, names in parsed.items())
    # The code that it sends to the other host is a text, which imports the agent there.
    assert {module: names for module, names in more.items() if names} == {
        "measure.loadgen.client_host": {"measure.loadgen.client_agent"}
    }


def test_names_of_an_import_may_span_lines_with_comments(tmp_path, monkeypatch):
    package = tmp_path / "scripts"
    package.mkdir()
    for name in ("first", "second", "third", "unused"):
        (package / f"{name}.py").touch()
    text = "from scripts import (\n    first,  # unused\n    second as other,\n)\n\tfrom scripts.third import a\n"
    (package / "importing.py").write_text(text)
    monkeypatch.setattr(code_digest, "FOLDER", package)
    code_digest.imported.cache_clear()
    assert code_digest.imported("importing") == ("first", "second", "third")
    code_digest.imported.cache_clear()


def test_page_is_made_of_its_templates_too():
    templates = {f"report/page/templates/{name}" for name in ("page.html.j2", "blocks/table.html.j2", "style.css")}
    assert templates <= set(code_digest.files_of("jobs.render_report"))
    assert not any("templates" in file for file in code_digest.files_of("jobs.collect_runs"))


def test_package_is_its_init_file():
    assert "measure/servers/families/__init__.py" in code_digest.files_of("jobs.train_server")
    assert "measure/servers/families/mariadb.py" in code_digest.files_of("jobs.train_server")


def test_digest_follows_the_content_of_every_file(tmp_path, monkeypatch):
    shutil.copytree(code_digest.FOLDER, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    before = code_digest.digest_of("jobs.render_report")
    monkeypatch.setattr(code_digest, "FOLDER", tmp_path / "scripts")
    assert code_digest.digest_of("jobs.render_report") == before
    for name in ("lib/json_record.py", "report/page/templates/style.css"):
        with (tmp_path / "scripts" / name).open("a") as stream:
            stream.write("\n")
        assert before != (before := code_digest.digest_of("jobs.render_report"))


def test_every_file_is_there():
    assert all((CHECKOUT / "scripts" / file).is_file() for file in code_digest.files_of("jobs.render_report"))
