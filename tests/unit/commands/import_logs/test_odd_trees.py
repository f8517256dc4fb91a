"""No log goes missing in silence, no odd file or name ends an import, and a failing import leaves what was there."""

import gzip
import os
import re
import time
from pathlib import Path

import pytest

from scripts.commands.import_logs import __main__ as import_logs
from scripts.commands.import_logs.log_files import files_below
from scripts.commands.import_logs.logs import read_tree
from scripts.commands.import_logs.pattern_file import read_pattern
from scripts.commands.import_logs.replacing import BEFORE
from scripts.report.analysis.run_tables import read_csv
from tests.made.logs import LAID_OUT, log, tree, write

pytestmark = pytest.mark.slow

STUDY = import_logs.STUDIES / "shared"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(here, text=f'path: "{LAID_OUT}"\n'):
    return read_tree(here / "logs", read_pattern(write(here, "pattern.yaml", text)))


def imported(here, text=f'path: "{LAID_OUT}"\n'):
    import_logs.main(here / "logs", "shared", write(here, "pattern.yaml", text))
    return (STUDY / "report.html").read_text()


def test_a_linked_folder_is_read_like_any_other(here):
    tree(here / "logs", {"baseline": 0.0})
    tree(here / "elsewhere", {"pgo": 0.1})
    (here / "logs/pgo").symlink_to(here / "elsewhere/pgo")
    found = read(here)
    assert len(found.logs) == 10
    assert found.unread == []


def test_a_link_into_the_tree_or_around_it_is_named_and_ends(here):
    tree(here / "logs", repetitions=1)
    (here / "logs/latest").symlink_to("pgo")
    (here / "logs/pgo/up").symlink_to(here)
    reasons = dict(files_below(here / "logs").refused)
    assert reasons["latest"] == "a link to pgo, which is read under that path"
    assert reasons["pgo/up"] == "a link to a folder that holds all these logs"


def test_one_folder_under_two_links_is_read_once(here):
    tree(here / "elsewhere", repetitions=1)
    (here / "logs").mkdir()
    for name in ("a", "b"):
        (here / "logs" / name).symlink_to(here / "elsewhere")
    found = files_below(here / "logs")
    assert len(found.files) == 2
    assert [reason for _, reason in found.refused] in (["the same folder as a"], ["the same folder as b"])


def test_broken_links_and_pipes_are_named(here):
    tree(here / "logs")
    (here / "logs/pgo/oltp_8_1.log").symlink_to("../objects/lost")
    os.mkfifo(here / "logs/pgo/oltp_8_2.log")
    reasons = dict(read(here).unread)
    assert reasons["pgo/oltp_8_1.log"] == "a link to ../objects/lost, which does not exist"
    assert reasons["pgo/oltp_8_2.log"] == "neither a file nor a folder"


def test_a_folder_that_cannot_be_read_is_named(here, monkeypatch):
    tree(here / "logs", repetitions=1)
    scandir = os.scandir

    def refused(path):
        if Path(path).name == "pgo":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert files_below(here / "logs").refused == [("pgo", "a folder that cannot be read: Permission denied")]


def test_a_name_that_is_not_utf_8_is_refused_by_name(here):
    tree(here / "logs")
    Path(os.fsdecode(os.fsencode(here / "logs") + b"/caf\xe9.log")).write_text(log(4, 10))
    assert dict(read(here).unread) == {r"caf\xe9.log": "its name is not UTF-8"}
    assert "caf\\xe9.log: its name is not UTF-8" in imported(here)


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("pgo__.._4_1.log", "the workload '..', expected a name without a slash, other than . and .."),
        (".__oltp_4_1.log", "the variant '.', expected"),
        (f"{'v' * 160}__oltp_4_1.log", "expected up to 150 printable characters"),
        ("pgo\x1b[31m__oltp_4_1.log", r"the variant 'pgo\x1b[31m', expected"),
        ("pgo__oltp_10000000000000000000000_1.log", "the clients '10000000000000000000000', expected a whole number"),
        ("pgo__oltp_0_1.log", "the clients '0', expected a whole number from 1 to 1000000"),
    ],
)
def test_an_odd_name_is_refused_and_the_others_are_read(here, file, reason):
    for name in ("baseline__oltp_4_1.log", "o3__oltp_4_1.log", file):
        write(here / "logs", name, log(4, 10))
    found = read(here, 'path: "{variant}__{workload}_{clients}_{repetition}.log"\n')
    assert len(found.logs) == 2
    assert reason in dict(found.unread)[file]


def test_a_group_that_is_no_number_is_refused_by_name(here):
    tree(here / "logs", repetitions=1)
    write(here / "logs", "pgo/oltp_4_r3.log", log(4, 10))
    text = 'regex: "(?P<variant>[^/]+)/(?P<workload>oltp)_(?P<clients>[^_]+)_(?P<repetition>[^_]+)[.]log"\n'
    found = read(here, text)
    assert len(found.logs) == 2
    assert "the repetition 'r3', expected a whole number" in dict(found.unread)["pgo/oltp_4_r3.log"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"\n \n", "it is empty"),
        (b"\x1f\x8b not gzip", "it cannot be unpacked, truncated or damaged: Unknown compression method"),
        (log(4, 10**30).encode(), ""),
        (log(4, 10).replace("95th percentile:", "95th percentile: 9" + "9" * 5000).encode(), ""),
    ],
)
def test_a_strange_log_never_ends_the_import(here, content, reason):
    tree(here / "logs")
    (here / "logs/pgo/oltp_4_9.log").write_bytes(content)
    found = read(here)
    assert len(found.logs) in (10, 11)
    if reason:
        assert reason in dict(found.unread)["pgo/oltp_4_9.log"]


def test_blanks_at_the_ends_of_lines_do_no_harm(here):
    write(here / "logs", "pgo/oltp_4_1.log", log(4, 6000).replace("\n", "  \n"))
    assert [each.facts["outcome"] for each in read(here).logs] == ["ok"]


def test_packed_logs_are_read_and_damaged_ones_named(here):
    tree(here / "logs")
    for path in sorted((here / "logs/pgo").iterdir()):
        packed = gzip.compress(path.read_bytes())
        path.with_name(f"{path.name}.gz").write_bytes(packed[:200] if path.stem.endswith("5") else packed)
        path.unlink()
    found = read(here)
    assert len(found.logs) == 9
    assert [name for name, _ in found.unread] == ["pgo/oltp_4_5.log.gz"]
    imported(here)
    assert "SQL statistics" in (STUDY / "runs/pgo/oltp/4/1.txt").read_text()


def test_a_slow_expression_is_named_and_ends_soon(here):
    for place in range(8):
        write(here / "logs", f"{'a' * 40}{place}", "x")
    began = time.monotonic()
    with pytest.raises(ValueError, match=r"took more than 1 s for its path '.*, and for 4 others; write it simpler"):
        read(here, 'regex: "(?P<variant>(a+)+)(?P<workload>b)"\n')
    assert time.monotonic() - began < 20


def test_a_slow_path_alone_is_refused_by_name(here):
    tree(here / "logs", repetitions=2)
    write(here / "logs", "a" * 40, "x")
    text = 'regex: "(?P<variant>(a+)+b|baseline|pgo)/(?P<workload>oltp)_(?P<clients>4)_(?P<repetition>[0-9])[.]log"\n'
    found = read(here, text)
    assert len(found.logs) == 4
    assert "took more than 1 s" in dict(found.unread)["a" * 40]


def test_logs_of_one_run_name_what_the_pattern_does_not_read(here):
    for tier in ("2G", "12G"):
        write(here / "logs", f"pgo/{tier}/oltp_4.log", log(4, len(tier)))
    (first, second) = read(here, 'path: "{variant}/*/{workload}_{clients}.log"\n').unread
    assert "same run (pgo, oltp, 4 clients, repetition 1) as pgo/12G/oltp_4.log" in first[1]
    assert "the pattern reads no difference between '2G' and '12G'" in first[1]
    assert second[0] == "pgo/12G/oltp_4.log"


def test_a_copy_of_a_log_counts_once(here):
    for folder in ("run", "latest"):
        write(here / "logs", f"pgo/{folder}/oltp_4.log", log(4, 10))
    found = read(here, 'path: "{variant}/*/{workload}_{clients}.log"\n')
    assert len(found.logs) == 1
    assert found.unread == [("pgo/run/oltp_4.log", "the same content as pgo/latest/oltp_4.log, which is read")]


def test_the_terminal_counts_failed_runs_and_groups_reasons(here, capsys):
    tree(here / "logs")
    write(here / "logs", "pgo/oltp_4_5.log", log(4, 10)[:900])
    for place in range(30):
        write(here / "logs", f"notes-{place}.txt", "hello")
    imported(here)
    shown = capsys.readouterr().err
    assert "9 of 40 files give a measurement, 1 show a failed or unfinished run, 30 not read" in shown
    assert shown.count("not read: ") == 1
    assert "notes-0.txt, notes-1.txt, notes-2.txt and 27 more: its path does not match the pattern" in shown


def test_a_failing_import_leaves_the_earlier_report(here, monkeypatch):
    tree(here / "logs")
    page = imported(here)
    kept = sorted(path for path in STUDY.rglob("*") if path.is_file())
    monkeypatch.setattr(
        import_logs, "write_report", lambda folder: (folder / "report.html").write_text("half") and 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        imported(here)
    assert (STUDY / "report.html").read_text() == page
    assert sorted(path for path in STUDY.rglob("*") if path.is_file()) == kept


def test_a_failing_first_import_leaves_no_half_report(here, monkeypatch):
    tree(here / "logs")
    monkeypatch.setattr(import_logs, "write_tables", lambda folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        imported(here)
    assert list(STUDY.iterdir()) == []


def test_an_import_after_a_kill_starts_from_the_earlier_one(here, monkeypatch):
    tree(here / "logs")
    page = imported(here)
    (STUDY / BEFORE).mkdir()
    for name in ("report.html", "study.json", "runs"):
        (STUDY / name).rename(STUDY / BEFORE / name)
    monkeypatch.setattr(import_logs, "write_report", lambda folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        imported(here)
    assert (STUDY / "report.html").read_text() == page
    assert (STUDY / "runs/pgo/oltp/4/1.json").exists()


def test_an_absent_cell_is_a_hole_and_the_answer_says_so(here):
    tree(here / "logs", clients=(4, 8))
    for path in (here / "logs/pgo").glob("oltp_8_*.log"):
        path.unlink()
    page = imported(here)
    assert "Not in this mean: oltp, 8 clients (no log of pgo)." in page
    assert "over 1 of 2 cells" in page
    assert "pgo, oltp, 8 clients: no log" in page
    overall = read_csv(STUDY / "tables/overall.csv")
    assert set(overall["n_cells_planned"]) == {2}


def test_progress_is_shown_while_files_are_read(here, monkeypatch):
    tree(here / "logs")
    lines = []
    monkeypatch.setattr("scripts.commands.import_logs.logs.PROGRESS_S", -1.0)
    read_tree(here / "logs", read_pattern(write(here, "pattern.yaml", f'path: "{LAID_OUT}"\n')), say=lines.append)
    assert "[import] 3 of 10 files read" in lines


def test_a_newcomer_is_shown_paths_of_logs_to_fit(here):
    write(here / "logs", "README.md", "hello")
    write(here / "logs", "mysql/2G/run.log", log(4, 10))
    with pytest.raises(ValueError, match=re.compile(r"change its line `path:`.*\n  mysql/2G/run\.log$", re.DOTALL)):
        import_logs.main(here / "logs", "shared", None)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, r"PATTERN=p\.yaml: No such file or directory"), (b"\xff\xfe", r"PATTERN=p\.yaml: not a text in UTF-8")],
)
def test_a_pattern_file_that_cannot_be_read_is_named(here, content, message):
    tree(here / "logs")
    if content:
        Path("p.yaml").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        import_logs.main(here / "logs", "shared", Path("p.yaml"))
