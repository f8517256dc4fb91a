"""The answer tells what a study shows beside its speedups: statement pairs, disk space, fsync and traffic."""

from scripts.report.page import verdict
from scripts.report.page.engine_section import TABLE_KINDS, AllocatedTable
from scripts.report.page.ladder_section import LadderTable
from scripts.report.page.value_tables import Cell

STUDY = {"variants": {"none": {}, "lz4": {}, "aa": {}}, "reference": "none"}
NOTHING = {"timed_sql": {}, "allocated": [], "ladders": [], "storage_sentences": (), "network": ()}


def row(variant, when, *notes):
    return (variant, when, (Cell("9 MiB"), Cell("8 MiB", ("50 % of 16 MiB", *notes))))


def test_disk_space_of_each_other_variant_is_told_for_both_edges():
    rows = (
        row("none", "before the load"),
        row("lz4", "before the load", "0.55 × (0.54–0.56), n 5"),
        row("aa", "before the load", "1.00 ×, n 5"),
        row("none", "after the load"),
        row("lz4", "after the load", "0.60 ×, n 5"),
        row("published lz4", "after the load", "0.5 of it"),
    )
    table = AllocatedTable("linkbench, 8 clients", ("nodetable", TABLE_KINDS), rows)
    (told,) = verdict.sentences_beside_speed(STUDY, **{**NOTHING, "allocated": [table]})
    assert told == (
        "linkbench, 8 clients: disk space of all tables of lz4 to that of none: "
        "0.55 × (0.54–0.56), n 5 before the load and 0.60 ×, n 5 after the load."
    )


def test_traffic_of_each_cell_is_told():
    shown = {**NOTHING, "network": [("none", "oltp", "8", "20 000", "30.1", "21 000", "45", "20 001", "21 001")]}
    assert verdict.sentences_beside_speed(STUDY, **shown) == [
        "none, oltp, 8 clients: 20 000 packets and 30.1 Mbit per second went to the server, "
        "21 000 packets and 45 Mbit came from it."
    ]


def test_pairs_of_statements_come_first_then_ladders_then_storage():
    shown = {**NOTHING, "timed_sql": {"queries": {"against_sentences": ["Time of a / b: 2 ×."]}},
             "storage_sentences": ["An fsync took 1 ms more."]}  # fmt: skip
    shown["ladders"] = [LadderTable("oltp", (), (), ("none: with 64 clients 90 % of its best.",))]
    told = ["Time of a / b: 2 ×.", "none: with 64 clients 90 % of its best.", "An fsync took 1 ms more."]
    assert verdict.sentences_beside_speed(STUDY, **shown) == told
    assert verdict.sentences_beside_speed(STUDY, **NOTHING) == []
