"""`check` ends with a code per word, and with one of its own for everything that is no answer."""

import pytest

from scripts.commands import check
from scripts.lib.json_record import write


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("word", "code"), [("held", 0), ("broken", 1), ("open", 2)])
def test_each_word_has_its_code(word, code, capsys):
    line = f"pgo: tps > 1.05: {word}, 1.20 (1.10–1.30)"
    write(check.STUDIES / "x" / "answer.json", {"word": word, "expectations": [{"text": line}]})
    assert check.command(["x"]) == code
    assert capsys.readouterr().out == f"{line}\n{word}\n"


def test_a_study_without_a_report_is_an_error(capsys):
    assert check.command(["x"]) == 3
    assert "results/studies/x/answer.json: missing; `make report STUDY=x` makes it" in capsys.readouterr().err


def test_a_study_without_expectations_is_an_error(capsys):
    write(check.STUDIES / "x" / "answer.json", {"word": None, "expectations": []})
    assert check.command(["x"]) == 3
    assert "states no `expect:`" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["not json", '{"format": 1, "word": "maybe", "expectations": []}'])
def test_an_odd_file_is_an_error(text):
    (check.STUDIES / "x").mkdir(parents=True)
    (check.STUDIES / "x" / "answer.json").write_text(text)
    assert check.command(["x"]) == 3


def test_a_wrong_command_line_is_an_error():
    with pytest.raises(SystemExit) as ended:
        check.command(["x", "y"])
    assert ended.value.code == 3
