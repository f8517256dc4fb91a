"""Other people's sysbench logs become a report that says what they can show, and lists what could not be read."""

import csv
import os
import re
from pathlib import Path

import numpy as np
import pytest

from scripts.commands.import_logs import __main__ as import_logs
from scripts.commands.import_logs.imported_description import numbered, study_description
from scripts.commands.import_logs.logs import read_tree
from scripts.commands.import_logs.pattern_file import read_pattern
from scripts.lib.json_record import file_sha256, read
from scripts.measure.loadgen.output import parse
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import imported_findings
from tests.made import logs as made_logs
from tests.made.logs import OF_0_5, OF_1_0, OF_1_1, log, tree, write


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pattern(here, text=f'path: "{made_logs.LAID_OUT}"\n'):
    return read_pattern(write(here, "pattern.yaml", text))


def one(here, content, file="pgo/oltp_4_1.log", **rules):
    write(here / "logs", file, content)
    found = read_tree(here / "logs", pattern(here, **rules))
    return (found.logs[0].facts if found.logs else None), dict(found.unread)


def tables_of(study):
    folder = import_logs.STUDIES / study / "tables"
    return {name: read_csv(folder / f"{name}.csv") for name in ("runs", "comparisons", "cells", "overall")}


@pytest.mark.parametrize("like", [OF_0_5, OF_1_0, OF_1_1])
def test_a_run_holds_what_its_log_says_and_nothing_else(here, like):
    text = log(4, 6000, like)
    facts, unread = one(here, text)
    output = parse(text)
    assert not unread
    assert facts["window"]["tps"] == pytest.approx(6000 / output.totals.duration_s)
    assert facts["window"]["latency_mean_ms"] == output.latency.mean_ms
    assert facts["window"]["p95_ms"] == pytest.approx(output.latency.percentile_ms, abs=0.01)
    assert (facts["window"]["p99_ms"] is None) == (output.histogram is None)
    assert [facts[name] for name in ("variant", "workload", "clients", "repetition")] == ["pgo", "oltp", 4, 1]
    assert all(facts[name] is None for name in ("host", "cpu", "placement", "run_number", "position", "io"))
    assert facts["times"] == {"started_at": None, "ended_at": None}
    assert facts["imported"] == {
        "file": "pgo/oltp_4_1.log",
        "sha256": file_sha256(here / "logs/pgo/oltp_4_1.log"),
    }


def test_only_the_percentile_that_was_asked_for_is_known(here):
    facts, _ = one(here, log(4, 6000, OF_1_1).replace("95th percentile", "99th percentile").replace("95%", "99%"))
    assert (facts["window"]["p95_ms"], facts["window"]["p99_ms"]) == (None, 16.12)
    assert set(facts["series"]["p95_ms"]) == {None}


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("pgo/notes.txt", "hello", "path does not match the pattern"),
        ("pgo/oltp_4_1.log", "hello", "no version line of sysbench"),
        ("pgo/oltp_4_1.log", "\0\1", "it is not text"),
        ("pgo/oltp_8_1.log", log(4, 10), "path has 8 clients, the log 4 threads"),
        ("pgo/oltp_4_1.log", log(4, 10) + "Threads started!\n", "2 calls of sysbench"),
        ("pgo/oltp_4_1.log", "sysbench 1.0.20 (using x)\ninvalid option: --nosuch=1\n", "invalid option: --nosuch=1"),
    ],
)
def test_a_file_that_is_no_log_of_one_run_is_listed_with_the_reason(here, file, text, reason):
    facts, unread = one(here, text, file)
    assert facts is None
    assert list(unread) == [file]
    assert re.search(reason, unread[file])


def test_two_logs_of_one_run_are_both_left_out(here):
    write(here / "logs", "a/x/oltp_4.log", log(4, 10))
    facts, unread = one(here, log(4, 20), "a/y/oltp_4.log", text='path: "{variant}/*/{workload}_{clients}.log"\n')
    assert facts is None
    assert set(unread) == {"a/x/oltp_4.log", "a/y/oltp_4.log"}
    assert "as a/y/oltp_4.log" in unread["a/x/oltp_4.log"]


def test_a_call_in_which_sysbench_failed_is_a_failed_run(here):
    facts, unread = one(here, (made_logs.DATA / "1.0.20-mariadb-server_died.txt").read_text(), "pgo/oltp_2_1.log")
    assert not unread
    assert facts["outcome"] == "failed"
    assert "Lost connection" in facts["reason"]


def test_a_log_that_stops_early_is_a_failed_run(here):
    facts, _ = one(here, log(4, 10)[:900])
    assert (facts["outcome"], "incomplete" in facts["reason"]) == ("failed", True)


def test_a_template_may_leave_parts_to_the_log_and_to_the_file(here):
    rules = 'path: "*/{variant}.txt"\nworkload: oltp\n'
    facts, _ = one(here, log(16, 10), "march/pgo.txt", text=rules)
    assert [facts[name] for name in ("variant", "workload", "clients", "repetition")] == ["pgo", "oltp", 16, 1]


def test_a_name_with_a_slash_is_refused(here):
    _, unread = one(here, log(4, 10), "a/b_oltp.log", text='regex: "(?P<variant>.+)_(?P<workload>[a-z]+)[.]log"\n')
    assert "variant 'a/b', expected a name without a slash" in unread["a/b_oltp.log"]
    _, unread = one(here, log(4, 10), "a_.log", text='regex: "(?P<variant>[a-z]+)_(?P<workload>[a-z]+)?[.]log"\n')
    assert "workload None" in unread["a_.log"]


def test_a_regular_expression_finds_names_that_hold_the_separator(here):
    rules = 'regex: "(?P<variant>pgo_lto|pgo)_(?P<workload>oltp_[a-z_]+)_(?P<clients>[0-9]+)[.]log"\n'
    facts, _ = one(here, log(4, 10), "pgo_lto_oltp_read_only_4.log", text=rules)
    assert (facts["variant"], facts["workload"]) == ("pgo_lto", "oltp_read_only")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "expected keys with values"),
        ("path: [", "not YAML"),
        ("reference: x\n", "neither path nor regex"),
        ('path: "{variant}/{workload}"\nregex: "x"\n', "path and regex, expected one"),
        ('path: "{variant}/{wrkload}.log"\n', "'wrkload', did you mean 'workload'"),
        ('path: "{workload}.log"\n', "has no part 'variant'"),
        ('path: "{variant}.log"\n', "has no part 'workload'"),
        ('regex: "(?P<variant>"\n', "regex: "),
        ('path: "{variant}/{workload}"\nrefrence: x\n', "'refrence'.*did you mean 'reference'"),
        ('path: "{variant}/{workload}"\ndate: ctime\n', "date: 'ctime', expected mtime or first_line"),
        ('path: "{variant}/{workload}"\ntitle: [3]\n', r"title: \['3'\], expected a text"),
        ('path: "{variant}/{workload}"\ntitle: a\ntitle: b\n', "key 'title' stands twice"),
    ],
)
def test_a_wrong_pattern_file_is_refused_naming_file_key_and_value(here, text, message):
    with pytest.raises(ValueError, match=rf"pattern\.yaml: (.|\n)*{message}"):
        pattern(here, text)


@pytest.mark.parametrize(
    ("date", "first_line", "started_at"),
    [
        ("first_line", "2024-03-01T12:00:00+00:00", 1_709_294_400),
        ("first_line", "Fri Mar  1 12:00:00 UTC 2024", 1_709_294_400),
        ("first_line", "no date", None),
        ("mtime", "whatever", 1_709_294_400),
    ],
)
def test_dates_come_from_where_the_pattern_file_says(here, date, first_line, started_at):
    path = write(here / "logs", "pgo/oltp_4_1.log", f"{first_line}\n{log(4, 10)}")
    os.utime(path, (0, 1_709_294_400 + 5.0051))
    (found,) = read_tree(here / "logs", pattern(here, f'path: "{made_logs.LAID_OUT}"\ndate: {date}\n')).logs
    assert found.facts["times"]["started_at"] == (started_at and pytest.approx(started_at))


def test_the_report_gives_ratios_with_intervals_and_no_word(here):
    logs = tree(here / "logs", clients=(4, 16))
    write(here / "logs", "notes.txt", "<b>hello</b>")
    import_logs.main(logs, "shared", None)
    found = tables_of("shared")
    ours = found["cells"][(found["cells"]["variant"] == "pgo") & (found["cells"]["metric"] == "tps")]
    assert ((ours["ratio_low"] < np.exp(0.3)) & (np.exp(0.3) < ours["ratio_high"])).all()
    assert set(found["cells"]["verdict"].dropna()) == {"unpaired"} == set(found["overall"]["verdict"].dropna())
    assert set(found["comparisons"]["status"]) == {"unpaired"}
    assert found["comparisons"]["log_ratio"].isna().all()
    folder = import_logs.STUDIES / "shared"
    page, summary = ((folder / name).read_text() for name in ("report.html", "summary.md"))
    for text in (page, summary):
        assert "nothing is called faster or slower" in text
        assert "20 of 21 files" in text
        assert "is faster than" not in text
    assert "notes.txt: its path does not match the pattern" in page
    run = read(folder / "runs/pgo/oltp/4/1.json")
    assert (folder / "runs/pgo/oltp/4" / run["sysbench"]["text_file"]).read_text() == (
        logs / run["imported"]["file"]
    ).read_text()


def test_cells_of_two_releases_of_sysbench_have_no_ratio(here):
    tree(here / "logs", {"baseline": 0.0}, like=OF_0_5)
    tree(here / "logs", {"pgo": 0.3}, like=OF_1_0)
    found = compared(here)
    row = found["cells"].query("variant == 'pgo' and metric == 'tps'").iloc[0]
    assert np.isnan(row["ratio"])
    finding = imported_findings.releases_finding(found["runs"])
    assert "0.5 in 5 logs" in finding.text
    assert "1 cell with more than one release" in finding.text


def compared(here, text=None):
    """Import up to the tables."""
    found = read_tree(here / "logs", rules := pattern(here, *([text] if text else [])))
    folder, found.logs = import_logs.STUDIES / "shared", numbered(found.logs)
    import_logs.write_records(
        folder, here / "logs", study_description("shared", here / "logs", rules, found), found.logs
    )
    import_logs.write_tables(folder)
    return tables_of("shared")


def test_one_repetition_gives_a_ratio_without_interval(here):
    tree(here / "logs", repetitions=1)
    row = compared(here)["overall"].query("metric == 'tps'").iloc[0]
    assert row["ratio"] > 1.2
    assert np.isnan(row["ratio_low"])


@pytest.mark.parametrize(("order", "said"), [("apart", "all runs of one variant"), ("turns", "measured in turns")])
def test_dates_tell_whether_variants_were_measured_in_turns(here, order, said):
    tree(here / "logs")
    for path in (here / "logs").rglob("*.log"):
        turn, second = int(path.stem[-1]), path.parent.name == "pgo"
        os.utime(path, (0, 1e9 + 100 * (turn * 2 + second if order == "turns" else turn + 10 * second)))
    found = compared(here, f'path: "{made_logs.LAID_OUT}"\ndate: mtime\n')
    assert said in imported_findings.order_finding(found["runs"]).text


def test_without_dates_the_order_is_unknown(here):
    tree(here / "logs")
    assert "unknown" in imported_findings.order_finding(compared(here)["runs"]).text


@pytest.mark.parametrize(
    ("effects", "message"),
    [
        ({"plain": 0.0, "pgo": 0.1}, "'baseline' has no log, expected one of pgo, plain"),
        ({"baseline": 0.0, "aa": 0.0}, "this name is reserved for the reference measured a second time"),
    ],
)
def test_logs_that_cannot_be_compared_are_refused(here, effects, message):
    with pytest.raises(ValueError, match=message):
        import_logs.main(tree(here / "logs", effects, repetitions=1), "shared", None)


def test_a_pattern_that_fits_no_path_is_refused_and_the_default_is_left_to_edit(here, capsys):
    write(here / "logs", "a.log", log(4, 10))
    with pytest.raises(ValueError, match=r"none of 1 file could be read; results/studies/shared/import\.yaml states"):
        import_logs.main(here / "logs", "shared", None)
    assert "wrote results/studies/shared/import.yaml" in capsys.readouterr().err
    assert "{variant}" in (import_logs.STUDIES / "shared/import.yaml").read_text()


def test_a_measured_study_is_not_overwritten(here):
    write(here, "results/studies/shared/study.json", '{"format": 1, "study": "shared"}')
    with pytest.raises(ValueError, match="a measured study has this name"):
        import_logs.main(tree(here / "logs"), "shared", None)


@pytest.mark.parametrize(("logs", "name"), [("nowhere", "shared"), ("logs", "../x")])
def test_a_wrong_folder_or_name_is_refused(here, logs, name):
    (here / "logs").mkdir()
    with pytest.raises(ValueError, match=rf"(LOGS={logs}: no such folder|STUDY={name}: expected a name)"):
        import_logs.main(Path(logs), name, None)


def test_names_that_a_spreadsheet_takes_for_formulas_are_texts_in_tables_and_names_everywhere_else(here):
    names = ["baseline", "-O3", "=1+1", "'@x"]
    logs = tree(here / "logs", {name: 0.1 * place for place, name in enumerate(names)}, repetitions=2)
    import_logs.main(logs, "odd", write(here, "pattern.yaml", f'path: "{made_logs.LAID_OUT}"\n'))
    tables = tables_of("odd")
    assert set(tables["runs"]["variant"]) == set(tables["cells"]["variant"]) == set(names)
    folder = import_logs.STUDIES / "odd"
    cells = [
        cell
        for file in (folder / "tables").glob("*.csv")
        for row in csv.reader(file.read_text().splitlines())
        for cell in row
    ]
    assert {"'-O3", "'=1+1", "''@x"} <= set(cells)
    assert not {cell for cell in cells if cell[:1] in tuple("=+-@") and not re.fullmatch(r"-?[\d.]+(e-\d+)?", cell)}
    told = (folder / "summary.md").read_text()
    assert all(f"| {name} | " in told for name in names[1:])
    assert {row["variant"] for row in read(folder / "tables" / "results.json")["tables"]["cells"]} == set(names)
