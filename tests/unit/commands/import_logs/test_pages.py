"""What the page says of logs: nothing seen is not nothing there, and no mean leaves out a value in silence."""

import re

import numpy as np
import pytest

from scripts.commands.import_logs import __main__ as import_logs
from scripts.commands.import_logs.imported_description import numbered, study_description
from scripts.commands.import_logs.logs import read_tree
from scripts.commands.import_logs.pattern_file import read_pattern
from scripts.lib.resolved_study import read_study
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import evidence, imported_answers, imported_findings
from scripts.report.page.finding import State
from scripts.report.page.levels_section import level_means
from scripts.report.page.results import results
from scripts.report.page.workloads_section import by_workload
from tests.made.logs import LAID_OUT, OF_0_5, OF_1_0, log, write
from tests.made.rendering import Elements

pytestmark = pytest.mark.slow

FOLDER = import_logs.STUDIES / "shared"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def without_histogram(text):
    return text[: text.index("Latency histogram")] + text[text.index("SQL statistics") :]


def latency(text, value, rank="95th"):
    """A log without histogram and with this percentile."""
    return re.sub(r" +95th percentile: +\S+", f"         {rank} percentile:    {value}", without_histogram(text))


def logs(here, texts):
    """Write logs by (variant, workload, clients, repetition)."""
    for (variant, workload, clients, repetition), text in texts.items():
        write(here / "logs", f"{variant}/{workload}_{clients}_{repetition}.log", text)


def found(here, *more, path=LAID_OUT):
    """Import up to the tables: (study, tables by name)."""
    rules = read_pattern(write(here, "p.yaml", "\n".join([f'path: "{path}"', *more])))
    tree = read_tree(here / "logs", rules)
    tree.logs = numbered(tree.logs)
    import_logs.write_records(FOLDER, here / "logs", study_description("shared", here / "logs", rules, tree), tree.logs)
    import_logs.write_tables(FOLDER)
    tables = {path.stem: read_csv(path) for path in (FOLDER / "tables").glob("*.csv")}
    return read_study(FOLDER / "study.json"), tables


def finding(study, tables, code):
    return next(each for each in imported_findings.findings(study, tables) if each.code == code)


def pair(here, *sides, workload="rw", clients=8, repetitions=3):
    """Write logs of `baseline` and `pgo` that the functions of a repetition give."""
    logs(here, {(variant, workload, clients, number): make(number)
                for variant, make in zip(("baseline", "pgo"), sides, strict=True)
                for number in range(1, repetitions + 1)})  # fmt: skip


def test_a_call_of_no_transactions_is_named_at_the_head_and_in_its_cell(here):
    pair(here, lambda n: log(8, 6000 + n), lambda n: log(8, 7000 + n))
    hung = re.sub(r"(total number of events: +)\d+", r"\g<1>0", log(8, 0))
    logs(here, {("pgo", "rw", 8, 2): hung})
    study, tables = found(here)
    answers = imported_answers.imported_answers(study, tables)
    (doubt,) = imported_answers.imported_doubts(study, tables["runs"], answers)
    assert doubt.text.startswith(
        "1 of 6 logs without a measurement, left out of all means: pgo, rw, 8 clients, repetition 2: 0 tr"
    )
    assert "2 to 3 logs of each" in answers[0].headline
    (row,) = by_workload(study, tables).rows
    assert row.cells[2].notes == ("2 of 3 logs",)


def test_checks_say_in_how_many_logs_they_could_be_judged(here):
    texts = {
        ("baseline", "rw", 8, 1): log(8, 6000),
        ("pgo", "rw", 8, 1): log(8, 66000).replace(
            "errors:                      0 ", "errors:                      30 "
        ),
    }
    logs(here, texts)
    logs(
        here,
        {("pgo", "ro", 8, 1): re.sub(r"(?m)^\[ .*\n", "", log(8, 6000)), ("baseline", "ro", 8, 1): log(8, 5)[:700]},
    )
    study, tables = found(here)
    errors, reconnects, drift = (finding(study, tables, code) for code in ("errors", "reconnects", "drift"))
    assert errors.text == "Errors could be judged in 3 of 4 logs; 1 of them shows some."
    assert errors.details == ("pgo, rw, 8 clients, repetition 1: 30 in 66\u202f000 transactions",)
    assert (reconnects.state, reconnects.text) == (
        State.PLAIN,
        "Reconnects could be judged in 3 of 4 logs; none of them shows any.",
    )
    assert drift.text.startswith("Drift could be judged in 0 of 4 logs")
    assert drift.state is State.LOOK


def test_a_drift_in_reports_of_early_0_5_is_seen(here):
    def text(fall):
        line = "[ {0:3}s] threads: 8, tps: {1}.00, reads/s: 1.00, writes/s: 1.00 response time: 9.99ms (99%)\n"
        lines = "".join(line.format(10 * n, 500 if n < 10 or not fall else 100) for n in range(1, 21))
        return re.sub(
            r"(?m)(^\[ .*\n)+",
            lines,
            log(8, 6000 if fall else 10000, OF_0_5)
            .replace("ignored errors:", "deadlocks:")
            .replace("reconnects:", "others:"),
        )

    pair(here, lambda n: text(False), lambda n: text(True), repetitions=1)
    study, tables = found(here)
    drift, reconnects = (finding(study, tables, code) for code in ("drift", "reconnects"))
    assert (drift.text, drift.details) == (
        "Drift could be judged in 2 of 2 logs; 1 of them shows some.",
        ("pgo, rw, 8 clients, repetition 1",),
    )
    assert reconnects.text.startswith("Reconnects could be judged in 0 of 2 logs")
    assert reconnects.state is not State.GOOD
    assert tables["runs"]["errors"].tolist() == [1, 1]


def test_cells_are_those_that_some_variant_has(here):
    cells = [("large", 64), ("large", 128), ("small", 1), ("small", 2), ("small", 4)]
    for variant in ("baseline", "pgo"):
        logs(here, {(variant, *cell, 1): log(cell[1], 6000 + cell[1]) for cell in cells})
    study, tables = found(here)
    levels = tables["levels"].query("metric == 'tps'").set_index(["axis", "level"])["n_cells_planned"].to_dict()
    assert (
        levels["all", np.nan],
        levels["workload", "large"],
        levels["workload", "small"],
        levels["clients", "64"],
    ) == (5, 2, 3, 1)
    assert {(row.cells[0].text, row.cells[1].text) for row in by_workload(study, tables).rows} == {
        ("large", "64"),
        ("large", "128"),
        ("small", "1"),
        ("small", "2"),
        ("small", "4"),
    }
    assert evidence.extent(study, tables["runs"]) == "10 logs: 2 variants, 2 workloads, 5 client counts, 5 cells"


def test_the_percentile_that_the_logs_have_takes_the_column_of_latency(here):
    pair(
        here, lambda n: latency(log(8, 6000 + n), "20.00", "99th"), lambda n: latency(log(8, 7000 + n), "40.00", "99th")
    )
    study, tables = found(here)
    assert study.imported.latency == "p99_ms"
    assert results(study, tables).heads == ["TPS", "p99 latency"]
    assert level_means(study, tables["levels"]).heads[5].text == "p99"
    heads = [head.text for head in by_workload(study, tables).heads[2:6]]
    assert heads == ["TPS", "/ baseline", "p99, ms", "/ baseline"]
    (answer,) = imported_answers.imported_answers(study, tables)
    assert any(sentence.text.startswith("p99 latency: 2.0") for sentence in answer.sentences)


@pytest.mark.parametrize("rank", ["100th", "90th"])
def test_a_percentile_that_is_not_compared_is_named(here, rank):
    pair(here, lambda n: latency(log(8, 6000 + n), "20.00", rank), lambda n: latency(log(8, 7000 + n), "40.00", rank))
    study, tables = found(here)
    shown = finding(study, tables, "latency")
    assert shown.state is State.LOOK
    assert f"percentile {rank.removesuffix('th')}, not compared" in shown.details[0]


def test_no_interval_is_narrower_than_half_a_printed_digit_of_both_values(here):
    pair(here, lambda n: latency(log(8, 6000 + n), "0.03"), lambda n: latency(log(8, 7000 + n), "0.04"))
    study, tables = found(here)
    for name in ("cells", "overall", "levels"):
        row = tables[name].query("metric == 'p95_ms' and variant == 'pgo'").iloc[0]
        assert row["ratio"] == pytest.approx(4 / 3)
        assert (row["ratio_low"], row["ratio_high"]) == pytest.approx((3.5 / 3.5, 4.5 / 2.5))
    assert imported_findings.worse_findings(study, tables["cells"]) == []


@pytest.mark.parametrize(
    ("values", "shown", "why"),
    [
        (("100000.00", "100000.00"), "at least 100 s", "baseline: at least 100 s"),
        (("50.00", "100000.00"), "at least 100 s", "pgo: at least 100 s"),
        (("0.00", "0.00"), "not known", "printed as 0.00 ms"),
        (("12.30", "0.00"), "not known", "pgo: printed as 0.00 ms"),
    ],
)
def test_a_latency_without_a_value_has_no_ratio_and_says_why(here, values, shown, why):
    pair(here, *(lambda n, value=value: latency(log(8, 6000 + n), value) for value in values))
    pair(here, *(lambda n, value=value: latency(log(8, 6000 + n), "12.30") for value in values), workload="ro")
    study, tables = found(here)
    cells = tables["cells"].query("metric == 'p95_ms' and workload == 'rw' and variant == 'pgo'").iloc[0]
    assert np.isnan(cells["ratio"])
    rows = {(row.cells[1].text, row.cells[0].text): row for row in by_workload(study, tables).rows}
    assert rows["pgo", "rw"].cells[4].text == shown
    assert why in rows["pgo", "rw"].cells[5].notes[0]
    (answer,) = imported_answers.imported_answers(study, tables)
    (lost,) = [sentence.text for sentence in answer.sentences if sentence.bad]
    assert "p95 latency: 1.00" in lost
    assert "over 1 of 2 cells; not in it: rw, 8 clients" in lost
    means = level_means(study, tables["levels"])
    assert means.rows[0].cells[5].notes[-1] == "1 of 2 cells"
    assert results(study, tables).rows[0].fields[1].interval.endswith("1 of 2 cells")


def test_one_capped_run_of_three_takes_the_cell_from_the_means(here):
    pair(
        here,
        lambda n: latency(log(8, 6000 + n), "12.30"),
        lambda n: latency(log(8, 6000 + n), "100000.00" if n == 2 else "12500.00"),
    )
    study, tables = found(here)
    (row,) = [row for row in by_workload(study, tables).rows if row.cells[1].text == "pgo"]
    assert row.cells[4].text == "at least 25.0 s"
    assert tables["overall"].query("metric == 'p95_ms'")["n_cells"].tolist() == [0]


def test_releases_that_differ_are_named_where_the_ratio_is_missing(here):
    pair(
        here,
        lambda n: log(8, 6000).replace("sysbench 1.0.20", "sysbench 1.0.18"),
        lambda n: log(8, 7000),
        repetitions=1,
    )
    study, tables = found(here)
    (answer,) = imported_answers.imported_answers(study, tables)
    assert (
        answer.headline
        == "pgo cannot be compared with baseline: rw, 8 clients (sysbench 1.0.20 in pgo and 1.0.18 in baseline)."
    )
    (row,) = [row for row in by_workload(study, tables).rows if row.cells[1].text == "pgo"]
    assert row.cells[3].notes == ("sysbench 1.0.20 in pgo and 1.0.18 in baseline",)


def test_with_a_target_rate_the_answer_is_the_latency(here):
    def rated(value):
        return lambda n: latency(log(8, 6000), value).replace(
            "Number of threads: 8\n", "Number of threads: 8\nTarget transaction rate: 100/sec\n"
        )

    pair(here, rated("20.00"), rated("10.00"))
    study, tables = found(here)
    (answer,) = imported_answers.imported_answers(study, tables)
    assert answer.headline.startswith("pgo gave 0.50")
    assert "the p95 latency of baseline" in answer.headline
    assert results(study, tables).heads == ["p95 latency", "TPS"]
    assert finding(study, tables, "rate").state is State.PLAIN
    logs(here, {("pgo", "ro", 8, 1): log(8, 100), ("baseline", "ro", 8, 1): log(8, 100)})
    study, tables = found(here)
    assert finding(study, tables, "rate").state is State.LOOK
    assert "6 of 8 logs have a target rate" in imported_answers.imported_doubts(study, tables["runs"], ())[0].text


def test_sides_of_other_lengths_are_named(here):
    pair(
        here,
        lambda n: log(8, 6000),
        lambda n: re.sub(r"(total time: +)\S+", r"\g<1>300.0000s", log(8, 70000)),
        repetitions=1,
    )
    shown = finding(*found(here), "length")
    assert shown.state is State.LOOK
    assert shown.details == ("rw, 8 clients: baseline 5 s, pgo 5 min",)


WORDS = re.compile(
    r"\bblocks?\b|Holm|no run file|whole block|\bA/A\b|relinked|repetition is the outermost|\bslices?\b|paired t"
)


@pytest.mark.parametrize("kind", ["many", "single"])
def test_no_word_of_a_measured_study_stands_on_the_page(here, kind):
    if kind == "many":
        pair(here, lambda n: log(8, 6000), lambda n: latency(log(8, 7000), "100000.00"))
        pair(here, lambda n: log(4, 6000), lambda n: log(4, 10)[:900], workload="ro", clients=4)
        logs(
            here,
            {
                ("_o3", "rw", 8, 1): log(8, 6000, OF_0_5),
                ("_o3", "rw", 16, 1): log(16, 9000),
                ("baseline", "rw", 16, 1): log(16, 9000),
            },
        )
    else:
        logs(here, {("server", "rw", clients, 1): log(clients, 6000 * clients, OF_1_0) for clients in (1, 2, 4)})
    import_logs.main(here / "logs", "shared", write(here, "p.yaml", f'path: "{LAID_OUT}"\n'))
    page, summary = ((FOLDER / name).read_text(encoding="utf-8") for name in ("report.html", "summary.md"))
    shown = Elements(re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)).said()
    assert WORDS.findall(shown) == []
    assert WORDS.findall(summary) == []
    if kind == "many":
        assert "15 logs" in shown
        assert "_o3" in shown
    else:
        assert "3 logs of server alone: there is no other variant to compare it with." in shown
        assert "ratio" not in shown[: shown.rindex("How it was done")].lower()
