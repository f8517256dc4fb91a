"""Files of a data directory are told apart by what they hold, and both edges of a load are kept."""

import os

import pytest

from scripts.measure.engine import observe
from scripts.measure.engine.run_parts import Edges, EngineReports, FileSizes
from scripts.measure.servers import families

INNODB = {
    "ibdata1": ("system", "system"),
    "mysql.ibd": ("catalog", "catalog"),
    "mysql/user.frm": ("catalog", "catalog"),
    "ib_logfile1": ("redo", "redo"),
    "#innodb_redo/#ib_redo12": ("redo", "redo"),
    "#innodb_redo/#ib_redo13_tmp": ("redo", "redo"),
    "undo_001": ("undo", "undo"),
    "undo002": ("undo", "undo"),
    "#ib_16384_0.dblwr": ("doublewrite", "doublewrite"),
    "ibtmp1": ("temporary", "temporary"),
    "#innodb_temp/temp_3.ibt": ("temporary", "temporary"),
    "binlog.000001": ("binary_log", "binary_log"),
    "binlog.index": ("binary_log", "binary_log"),
    "sbtest/sbtest1.ibd": ("table", "sbtest.sbtest1"),
    "sbtest/sbtest1.frm": ("table", "sbtest.sbtest1"),
    "linkdb/linktable#P#p0.ibd": ("table", "linkdb.linktable#p0"),
    "linkdb/linktable#p#p1.ibd": ("table", "linkdb.linktable#p1"),
    "linkdb/linktable#P#p2#SP#s1.ibd": ("table", "linkdb.linktable#p2"),
    "linkdb/linktable#TMP#.ibd": ("table", "linkdb.linktable"),
    "sbtest/redo.ibd": ("table", "sbtest.redo"),
    "sbtest/db.opt": ("other", "other"),
    "auto.cnf": ("other", "other"),
    "ib_buffer_pool": ("other", "other"),
}
NAMED = {"base/5/16397": "public.sbtest1", "base/5/16401": "public.sbtest1"}
POSTGRESQL = {
    "base/5/16397": ("table", "public.sbtest1"),
    "base/5/16397.1": ("table", "public.sbtest1"),
    "base/5/16397_fsm": ("table", "public.sbtest1"),
    "base/5/16401_vm": ("table", "public.sbtest1"),
    "base/5/1259": ("catalog", "catalog"),
    "base/5/1259_fsm": ("catalog", "catalog"),
    "base/5/PG_VERSION": ("catalog", "catalog"),
    "global/1262": ("catalog", "catalog"),
    "base/pgsql_tmp/pgsql_tmp12.0": ("temporary", "temporary"),
    "pg_wal/000000010000000000000001": ("redo", "redo"),
    "pg_xact/0000": ("other", "other"),
}
FILES = [
    *(("mysql", file, told) for file, told in INNODB.items()),
    *(("postgresql", file, told) for file, told in POSTGRESQL.items()),
]


@pytest.mark.parametrize(("family", "file", "told"), FILES, ids=lambda part: str(part))
def test_file_is_part_of_what_it_holds(family, file, told):
    assert observe.file_kind(families.of(family), file, NAMED) == told


class Made:
    """A family with one pattern, whose server names no files."""

    FILE_KINDS = families.of("mysql").FILE_KINDS

    @staticmethod
    def table_files(connection):
        return {}


def test_sizes_are_summed_by_part_and_holes_count_in_one_of_them_only(tmp_path):
    (tmp_path / "sbtest").mkdir()
    (tmp_path / "sbtest" / "t.frm").write_bytes(b"x" * 100)
    with (tmp_path / "sbtest" / "t.ibd").open("wb") as file:
        os.truncate(file.fileno(), 8 * 2**20)
    (tmp_path / "link").symlink_to("sbtest")
    (tmp_path / "ibdata1").write_bytes(os.urandom(2**16))
    found = observe.file_sizes(Made, tmp_path, None)
    assert list(found) == ["sbtest.t", "system"]
    assert found["sbtest.t"].apparent_bytes == 8 * 2**20 + 100
    assert found["sbtest.t"].allocated_bytes < 2**16
    assert found["system"] == FileSizes("system", apparent_bytes=2**16, allocated_bytes=2**16)


def test_both_edges_are_kept_of_what_both_tell():
    before, after = (
        observe.Edge({"commits": 1.0, "gone": 2.0}, "one"),
        observe.Edge({"commits": 5.0, "new": 1.0}, "two"),
    )
    assert observe.counter_edges(before, after) == {"commits": Edges(1.0, 5.0)}
    assert observe.reports(before, after) == EngineReports("one", "two")
    assert not observe.reports(observe.Edge({}, ""), observe.Edge({}, ""))
