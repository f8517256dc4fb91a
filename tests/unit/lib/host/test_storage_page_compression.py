"""Compressed pages are asked for by table options, and refused where the file system cannot punch holes."""

import pandas as pd
import pytest

from scripts.lib.host import storage
from scripts.lib.recipe_models import TablesRecipe
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NOTHING
from scripts.measure.servers import data_directory
from scripts.report.analysis.run_columns import FILES
from scripts.report.page import engine_section
from scripts.study.config import cross_checks
from tests.made.studies import SMALL, plan

ZLIB = {"options": {"create_table_options": "COMPRESSION='zlib'"}}


@pytest.mark.parametrize(
    ("option", "asks"),
    [
        ("COMPRESSION='zlib'", True), ('compression = "lz4"', True), ("PAGE_COMPRESSED=1", True),
        ("`PAGE_COMPRESSED`='ON'", True), ("ROW_FORMAT=DYNAMIC PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=3", True),
        ("COMPRESSION='none'", False), ("PAGE_COMPRESSED=0", False), ("ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8", False),
        ("", False),
    ],
)  # fmt: skip
def test_table_options_tell_whether_pages_are_compressed(option, asks):
    found = storage.compressed_page_options({"options": {"create_table_options": option}})
    assert found == (option if asks else None)


def test_dataset_without_options_asks_for_nothing():
    assert storage.compressed_page_options({"tables": 1, "rows": 1}) is None


def test_folder_of_tests_takes_holes_and_is_accepted(tmp_path):
    if not storage.punches_holes(tmp_path):
        pytest.skip("this file system cannot punch holes")
    data_directory.demand_page_compression(TablesRecipe(**ZLIB), tmp_path)


def test_folder_without_holes_is_refused_by_option_folder_and_file_system(tmp_path, monkeypatch):
    monkeypatch.setattr(data_directory, "punches_holes", lambda folder: False)
    data_directory.demand_page_compression(TablesRecipe(), tmp_path)
    with pytest.raises(ValueError, match=rf"^create_table_options: \"COMPRESSION='zlib'\" needs .* {tmp_path} \(\w+\)"):
        data_directory.demand_page_compression(TablesRecipe(**ZLIB), tmp_path)


def test_study_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr(cross_checks, "punches_holes", lambda folder: False)
    plan()
    told = r"{}\.options\.create_table_options: needs a file system that can"
    with pytest.raises(ValueError, match=told.format(r"variants\.pgo\.data")):
        plan(variants={**SMALL["variants"], "pgo": {**SMALL["variants"]["pgo"], "data": ZLIB}})
    with pytest.raises(ValueError, match=told.format(r"datasets\.sbtest")):
        plan(datasets={"sbtest": ZLIB})


GIB = 2**30
STUDY = {
    "reference": "none",
    "variants": {"none": {}, "zlib": {"data": ZLIB}},
    "datasets": {"graph": {"script": "linkbench.lua"}},
}


def files():
    """Return two runs each: zlib's table takes half of it before, and 0.6 and 0.8 of none's 2 GiB after."""
    rows = []
    for repetition, after in ((1, 0.6), (2, 0.8)):
        for variant, before_share, after_share in (("none", 1, 1), ("zlib", 0.5, after)):
            key = {"variant": variant, "workload": "linkbench", "clients": 64, "repetition": repetition}
            sizes = {
                "before_apparent_bytes": GIB, "before_allocated_bytes": GIB * before_share,
                "after_apparent_bytes": 2 * GIB, "after_allocated_bytes": 2 * GIB * after_share,
            }  # fmt: skip
            rows.append({**key, "part": "sbtest.linktable", "kind": "table", **sizes})
            rows.append({**key, "part": "redo", "kind": "redo", **dict.fromkeys(sizes, GIB)})
    return pd.DataFrame(rows, columns=FILES.names)


def table_of(declared):
    study = ResolvedStudy.of(declared)
    """Return the only table of what the tables take on disk."""
    heading, text, table = engine_section.allocated_blocks(study, engine_section.allocated_places(study, files()))
    assert (heading.text, "Allocated bytes" in text.text) == ("What the tables take on disk", True)
    return table


def test_sizes_of_compressed_tables_are_set_against_the_reference_before_and_after():
    table = table_of(STUDY)
    assert [head.text for head in table.heads[2:]] == ["sbtest.linktable", "all tables", "whole data directory"]
    fields = {(variant.text, when.text): cells for variant, when, *cells in (row.cells for row in table.rows)}
    before, after = (fields["zlib", when] for when in engine_section.EDGE_WORDS.values())
    assert before[0].text == "1.0 GiB → 512.0 MiB"
    assert before[0].notes == ("50\u202f% of 1.0 GiB", "0.50\u202f×, n 2")
    assert after[0].text == "2.0 GiB → 1.4 GiB"
    assert after[0].notes[0] == "70\u202f% of 2.0 GiB"
    assert after[0].notes[1].startswith("0.69\u202f× (0.11–4.3")
    assert after[1] == after[0]
    assert fields["none", "before the load"][2].text == "2.0 GiB"


def test_published_sizes_stand_below_ours():
    of = {"variant": "zlib", "workload": "linkbench", "clients": 64}
    rows = [
        {"metric": f"{edge}_{kind}_bytes", **of, "value": value * GIB}
        for edge, kind, value in (("before", "allocated", 65), ("before", "apparent", 130), ("after", "allocated", 110))
    ]
    table = table_of({**STUDY, "published": {"source": "x", "rows": rows}})
    (name, when, *cells), (_, _, *later) = (row.cells for row in table.rows[-2:])
    assert (name.text, when.text, cells[0].text) == ("published zlib", "before the load", NOTHING)
    assert (cells[2].text, cells[2].notes) == ("65.0 GiB", ("50\u202f% of 130.0 GiB",))
    assert (later[2].text, later[2].notes) == ("110.0 GiB", ())


def test_study_without_compressed_pages_has_no_such_table():
    plain = {**STUDY, "variants": {"none": {}, "zlib": {}}}
    places = engine_section.allocated_places(ResolvedStudy.of(plain), files())
    assert (places, engine_section.allocated_blocks(ResolvedStudy.of(plain), places)) == ([], [])
