"""Text from outside is shown with what a terminal would obey made visible; tables and JSON give it back unchanged."""

import csv
import json

import pandas as pd
import pytest

from scripts.jobs.export_tables import read_rows
from scripts.lib import json_record
from scripts.lib.visible import csv_cell, csv_text, json_visible, visible
from scripts.report.analysis.run_tables import read_csv, write_csv

FORMULAS = [
    *(
        "=1+1",
        "-x",
        "+cmd|' /C calc'!A0",
        "@SUM(1)",
        "-",
        "=",
        "- 5",
        "-inf",
        "+1 %",
        "1-",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
    ),
    *("\uff1d1", "\uff0bx", "'=1", "''=1", "'\t", "--5", "-5 %"),
]
TEXTS = [
    *("a", "é 漢字 🐘", "'quoted'", "'", "nan", "inf", "NA", "None", "a,b", 'a"b', "a\nb", "a\rb", "a\r\nb", "a\tb"),
    *(
        "\x1b[31mred\x9b2J\x07",
        "a\0b",
        "\u202egnp.exe\u2066",
        "a\u2028b\x85c",
        "\ufeffx",
        "-5",
        "+5",
        "-1.5e-3",
        "007",
        "x" * 300,
    ),
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢字 🐘\ttab\nline", "plain é 漢字 🐘\ttab\nline"),
        ("a\u202f000 \u2212 – × µs", "a\u202f000 \u2212 – × µs"),
        ("\x1b[31m\x07\x00", r"\x1b[31m\x07\x00"),
        ("\x7f\x80\x9b2J\x85", r"\x7f\x80\x9b2J\x85"),
        ("\u202egnp.exe\u2066\u200f\u061c", r"\u202egnp.exe\u2066\u200f\u061c"),
        ("a\rb", r"a\rb".replace(r"\r", r"\x0d")),
        ("one\r\ntwo", "one\ntwo"),
        ("\ud800\udcff", r"\ud800\udcff"),
        ("\ufffe\uffff", r"\ufffe\uffff"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("", ""),
    ],
)
def test_what_nobody_would_see_is_shown(text, shown):
    assert visible(text) == shown
    assert visible(shown) == shown
    shown.encode("utf-8")


def test_every_control_character_mark_of_direction_and_surrogate_is_shown():
    marks = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
    odd = [*range(0x20), 0x7F, *range(0x80, 0xA0), *marks, *range(0xD800, 0xE000)]
    kept = [chr(code) for code in odd if visible(chr(code)) == chr(code)]
    assert kept == ["\t", "\n"]
    for code in set(odd) - {9, 10}:
        assert visible(f"a{chr(code)}") == f"a\\x{code:02x}" if code < 256 else f"a\\u{code:04x}"


@pytest.mark.parametrize("text", [*FORMULAS, *TEXTS, "\udcff\ud800"])
def test_json_for_people_has_the_same_values(tmp_path, text):
    document = json_record.json_text({text: [text]})
    assert json.loads(document) == {text: [text]}
    assert visible(document) == document == json_visible(document)
    json_record.write(tmp_path / "x.json", {"name": text})
    assert json_record.read(tmp_path / "x.json")["name"] == text


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(text):
    first = csv_cell(text)[0]
    assert first == "'" or csv_cell(text) == text == "1-"
    assert csv_text(csv_cell(text)) == text


@pytest.mark.parametrize("text", ["-5", "+5", "-1.5", "-.5", "+1e6", "-1.5E-3", "5", "a", "'", "'a", "a=b", ""])
def test_numbers_and_other_texts_are_cells_as_they_are(text):
    assert csv_cell(text) == csv_text(text) == text


def test_hostile_texts_come_back_from_our_tables(tmp_path):
    texts = [*FORMULAS, *TEXTS]
    file = tmp_path / "cells.csv"
    table = pd.DataFrame({"variant": texts, "workload": [None, *texts[1:]], "clients": range(len(texts))})
    write_csv(table, file)
    back = read_csv(file)
    assert list(back["variant"]) == texts
    assert list(back["workload"][1:]) == texts[1:]
    assert pd.isna(back["workload"][0])
    assert list(back["clients"]) == list(range(len(texts)))
    assert [row["variant"] for row in read_rows(file)] == texts
    with file.open(encoding="utf-8", newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n") and not cell[1:2].isdigit()]
    assert table["variant"].tolist() == texts  # what the caller holds is not changed


def test_table_without_odd_texts_is_written_as_before(tmp_path):
    table = pd.DataFrame({"variant": ["a", None], "tps": [-1.5, None], "flagged": [True, False]})
    write_csv(table, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == table.to_csv(index=False)


def test_lone_surrogate_does_not_make_a_table_unreadable(tmp_path):
    write_csv(pd.DataFrame({"variant": ["=\ud800"]}), tmp_path / "x.csv")
    assert list(read_csv(tmp_path / "x.csv")["variant"]) == [r"=\ud800"]
