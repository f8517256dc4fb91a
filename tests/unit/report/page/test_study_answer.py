"""The answer of a study is one file: what is written is what is read, and the terminal shows it as plain text."""

import json

import pytest

from scripts.report.page.study_answer import RatioRow, Sentence, ShownRatio, StudyAnswer, VariantAnswer, last_lines

ANSWER = StudyAnswer(
    study="x",
    title="A title with *stars* & more",
    question="The question?",
    answer="Faster: PGO alone 1.30 × (1.18–1.43).",
    doubts=[Sentence("1 of 2 runs has a warning.", bad=True)],
    reference="base_line",
    quantities=["TPS", "p95 | latency"],
    rows=[
        RatioRow("pgo_lto", "pgo_lto", [ShownRatio("1.30", "1.18–1.43", "good", 1.3, 1.18, 1.43), ShownRatio("0.80")]),
        RatioRow("aa", "base_line again (A/A)", [ShownRatio("1.01", "", "quiet"), ShownRatio("0.99")]),
    ],
    variants=[VariantAnswer("pgo_lto", "pgo_lto is faster.", [Sentence("Over one cell.")])],
)


def test_terminal_shows_answer_doubts_and_table(tmp_path):
    ANSWER.write(tmp_path / "answer.json")
    assert last_lines(tmp_path / "answer.json").splitlines() == [
        "",
        "A title with *stars* & more",
        "",
        "Faster: PGO alone 1.30 × (1.18–1.43).",
        "",
        "1 of 2 runs has a warning.",
        "",
        "ratio to base_line     TPS                p95 | latency",
        "pgo_lto                1.30* (1.18–1.43)  0.80",
        "base_line again (A/A)  1.01               0.99",
        "",
        "* established: in the first column after Holm's correction, in the others where the interval leaves out 1",
        "",
        f"Report: {tmp_path / 'report.html'}",
    ]


def test_what_was_written_is_read_and_found_by_variant(tmp_path):
    ANSWER.write(tmp_path / "answer.json")
    read = StudyAnswer.read(tmp_path / "answer.json")
    assert read == ANSWER
    assert read.about("pgo_lto").headline == "pgo_lto is faster."
    assert read.about("base_line") is None


def test_a_study_without_answer_has_no_last_lines(tmp_path):
    assert last_lines(tmp_path / "answer.json") == ""


def test_a_study_that_compares_nothing_shows_no_table(tmp_path):
    StudyAnswer(title="A title", answer="Nothing to compare.").write(tmp_path / "answer.json")
    said = last_lines(tmp_path / "answer.json")
    assert said == f"\nA title\n\nNothing to compare.\n\nReport: {tmp_path / 'report.html'}\n"


@pytest.mark.parametrize("doubts", ["text", [1]])
def test_an_odd_file_names_itself_and_the_key(tmp_path, doubts):
    (tmp_path / "answer.json").write_text(json.dumps({"format": 1, "doubts": doubts}))
    with pytest.raises(TypeError, match=r"answer\.json\.doubts"):
        StudyAnswer.read(tmp_path / "answer.json")


def test_control_characters_are_visible_on_the_terminal(tmp_path):
    StudyAnswer(title="red \x1b[31m").write(tmp_path / "answer.json")
    assert "\x1b" not in last_lines(tmp_path / "answer.json")
