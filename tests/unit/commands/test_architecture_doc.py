"""The packages and layers of docs/architecture.md are those of the code."""

import shutil

import pytest

from scripts.commands import architecture_doc
from tests.made.studies import CHECKOUT


def test_page_is_what_docstrings_and_contracts_give():
    written = (CHECKOUT / architecture_doc.PAGE).read_text(encoding="utf-8")
    assert written == architecture_doc.page(CHECKOUT), "python -m scripts.commands.architecture_doc writes it anew"


def test_every_package_has_a_row_and_says_what_it_does():
    table = architecture_doc.packages(CHECKOUT)
    folders = {path.parent.relative_to(CHECKOUT).as_posix() for path in CHECKOUT.glob("scripts/*/**/__init__.py")}
    assert {name for name in folders if table.count(f"| `{name}` | ") != 1} == set()
    assert len(folders) > 20


def test_layers_stand_in_their_order_and_every_rule_is_named():
    text = architecture_doc.layers(CHECKOUT)
    assert text.index("    jobs") < text.index("    lib")
    assert text.index("    study.config") < text.index("    measure.servers") < text.index("    lib.host")
    rules = [contract["name"] for contract in architecture_doc.contracts(CHECKOUT, "forbidden")]
    assert len(rules) >= 4
    assert [rule for rule in rules if f"- {rule}." not in text] == []


def test_package_without_a_docstring_and_a_page_without_marks_are_errors(tmp_path):
    shutil.copytree(CHECKOUT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    (tmp_path / architecture_doc.PAGE).parent.mkdir()
    (tmp_path / architecture_doc.PAGE).write_text("# Architecture\n")
    with pytest.raises(ValueError, match="expected one line <!-- packages -->"):
        architecture_doc.page(tmp_path)
    (tmp_path / "scripts" / "jobs" / "__init__.py").write_text("")
    with pytest.raises(ValueError, match=r"jobs/__init__\.py: no docstring"):
        architecture_doc.page(tmp_path)
