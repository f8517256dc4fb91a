"""The page: what it shows, its report_with_holes, and that nothing from outside becomes markup or a request."""

from pathlib import Path

import pytest

from scripts.jobs import render_report
from scripts.report.analysis import dictionary
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page.render import markdown
from scripts.report.page.runs_section import run_link, spark
from tests.made import synthetic
from tests.made.rendering import Elements, answer_of, findings_of, rendered, worded
from tests.made.run import record_of

ODD = "<img src=x onerror=alert(1)></script><b>\"'&{{ 7*7 }}"


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Markup in every text of every record that is not a name other records refer to."""
    kept = {"variant", "workload", "outcome", "reference", "text_file", "study", "machine_id", "boot_id", "sha256",
            "build_id", "build", "code"}  # fmt: skip

    def spoil(value, key=None):
        match value:
            case dict():
                named = key in ("options", "variables")
                return {(name + ODD if named else name): spoil(inner, name) for name, inner in value.items()}
            case list():
                return [spoil(inner, key) for inner in value] if key not in ("clients", "order") else value
            case str() if key not in kept:
                return value + ODD
        return value

    plan = synthetic.Plan(workloads=("oltp",), failures=frozenset([("pgo", "oltp", 8, 1)]))
    return rendered(plan, tmp_path_factory.mktemp("odd"), spoil)


def test_the_headline_holds_word_ratio_interval_cells_and_repetitions(report):
    tree, page, summary = report
    row = read_csv(tree.tables / "overall.csv").query("variant == 'pgo' and metric == 'tps'").iloc[0]
    said = answer_of(tree).headline
    assert said.startswith("pgo is more than 2\u202f% faster than baseline: ")
    assert f"{row['ratio']:.2f}" in said
    assert f"{row['ratio_low']:.2f}–{row['ratio_high']:.2f}" in said
    assert "2 workloads, 5 repetitions" in said
    assert said in Elements(page).said()
    assert said in summary


def test_range_and_counts_of_cells_follow_the_headline(report):
    first = answer_of(report[0]).sentences[0].text
    assert "(oltp, 8 clients)" in first
    assert "(simple_select, 8 clients): 2 faster, 0 slower, 0 the same within 2\u202f%, 0 open." in first


def test_layout_luck_is_named_beside_aa(report):
    said = Elements(report[1]).said()
    assert "The same build against itself (A/A): Transactions per second 1.0" in said
    assert "no interval includes the effect of code layout" in said


def test_method_of_measuring_is_named(report):
    for text in (Elements(report[1]).said(), report[2]):
        assert "In each block the variants were measured one after the other." in text


def test_slices_are_named_and_a_disturbed_run_is_counted(tmp_path):
    def sliced(facts):
        if "window" in facts and facts.get("window"):
            tps = facts["window"]["tps"]
            trimmed = tps * (1.1 if facts["variant"] == "pgo" and facts["repetition"] == 1 else 1.001)
            facts["sliced"] = {
                "method": "slices", "rounds": 50, "slice_s": 0.2, "tps_log_sd": 0.01, "tps_trimmed": trimmed,
            }  # fmt: skip
        return facts

    tree, page, summary = rendered(synthetic.Plan(workloads=("oltp",)), tmp_path, sliced)
    said = "In each block the variants were measured side by side, in 50 slices of 0.2 s per variant."
    assert said in Elements(page).said()
    assert said in summary
    found = findings_of(tree)
    assert found["method"].details[0].startswith("In 1 of 15 runs the total and the mean over slices")
    assert found["alone"].state == "good"
    assert "took turns in a balanced order" in found["order"].text


def test_answer_says_what_the_study_could_find_and_what_settles_it(tmp_path):
    variants = {"baseline": 0.0, "pgo": 0.0, "aa": 0.0}
    tree, page, summary = worded(synthetic.Plan(workloads=("oltp",), variants=variants, noise=0.05), tmp_path)
    row = read_csv(tree.tables / "overall.csv").query("variant == 'pgo' and metric == 'tps'").iloc[0]
    said = answer_of(tree).headline
    assert row["verdict"] == "open"
    assert said.startswith("Open: pgo is between ")
    sentences = [sentence.text for sentence in answer_of(tree).sentences]
    (power,) = [text for text in sentences if text.startswith("A study like this finds a difference of ")]
    assert f"an interval of ±2\u202f% takes about {row['settling_repetitions']:.0f} repetitions" in power
    assert "more of measuring." in power
    for text in (said, power):
        assert text in Elements(page).said()
        assert text in summary


def test_a_p95_that_got_worse_is_named_with_its_cell_and_marked(tmp_path):
    def slow_tail(facts):
        if facts.get("variant") == "pgo":
            facts["window"]["p95_ms"] *= 3
        return facts

    tree, page, _ = worded(synthetic.Plan(workloads=("oltp",)), tmp_path, slow_tail)
    worse = [sentence for sentence in answer_of(tree).sentences if sentence.bad]
    assert len(worse) == 1
    assert "p95 latency" in worse[0].text
    assert "it got worse in oltp at 8 clients" in worse[0].text
    assert f'<p class="worse">{worse[0].text}</p>' in page


def test_a_smoke_test_gives_no_cell_a_word(tmp_path):
    tree, page, summary = worded(synthetic.Plan(workloads=("oltp",), repetitions=3), tmp_path)
    assert "Smoke test" in answer_of(tree).headline
    assert "n 3, too few" in Elements(page).said()
    assert not {"n 3, faster", "n 3, slower"} & set(Elements(page).text)
    assert "Smoke test" in summary


def test_a_study_of_the_reference_alone_says_so(tmp_path):
    plan = synthetic.Plan(workloads=("oltp",), variants={"baseline": 0.0, "aa": 0.0})
    _, page, summary = rendered(plan, tmp_path)
    assert "measures only the reference against itself" in Elements(page).said()
    assert "measures only the reference against itself" in summary


def test_failed_runs_are_holes_with_their_reason(report_with_holes):
    tree, page, _ = report_with_holes
    elements = Elements(page)
    hints = [attributes.get("title", "") for tag, attributes in elements.found if attributes.get("class") == "hole"]
    assert any("repetitions 1, 2, 3, 4 and 5: server died with signal 11" in hint for hint in hints)
    assert "3 blocks, 1 split, 1 incomplete" in elements.said()
    assert "no whole block" in elements.said()
    assert any("1 cell of 2 could not be compared" in sentence.text for sentence in answer_of(tree).sentences)


def test_the_page_asks_for_nothing_from_outside(report):
    for tag, attributes in Elements(report[1]).found:
        for name in ("src", "href", "data", "action", "srcset", "xlink:href", "background", "poster"):
            value = attributes.get(name) or ""
            assert not value or value.startswith(("#", "runs/", "data:,")), (tag, name, value)
    assert "@import" not in report[1]
    assert "default-src 'none'" in report[1]


def test_links_to_files_of_runs_lead_to_them(report):
    tree, page, _ = report
    links = [attributes["href"] for tag, attributes in Elements(page).found if tag == "a"]
    to_runs = [href for href in links if href.startswith("runs/") and href.endswith(".json")]
    assert len(to_runs) == 30
    assert all((tree.study.parent / href).is_file() for href in to_runs)


def test_links_are_relative_to_the_page_and_quoted():
    assert run_link(Path("results/studies/s/runs/a b/1.json"), Path("results")) == "studies/s/runs/a%20b/1.json"
    assert ":" not in run_link(Path("javascript:alert(1)"), Path())


def test_markup_in_any_text_comes_out_as_text(odd):
    elements = Elements(odd[1])
    assert not elements.names() & {"img", "iframe", "object", "embed", "form"}
    assert not [attributes for _, attributes in elements.found if any(name.startswith("on") for name in attributes)]
    assert [tag for tag, _ in elements.found].count("script") == 1
    assert "{{ 7*7 }}" in elements.said()
    for place in ("title", "server died with signal 11 during warm-up", "innodb_buffer_pool_size=1G", "EPYC"):
        assert place == "title" or place in elements.said()


def test_markup_comes_out_as_text_in_the_summary_too(odd):
    assert "<img" not in odd[2]
    assert "&lt;img" in odd[2]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", "a\\|b"),
        ("a_b*c", "a\\_b\\*c"),
        ("<b>", "&lt;b&gt;"),
        ("two\nlines", "two lines"),
        ("[x](y)", "\\[x\\](y)"),
    ],
)
def test_markdown_is_escaped(text, escaped):
    assert markdown(text) == escaped


def test_every_run_is_a_row_that_unfolds(report):
    elements = Elements(report[1])
    rows = [
        attributes for tag, attributes in elements.found if tag == "details" and "run" in attributes.get("class", "")
    ]
    assert len(rows) == 30
    assert elements.said().count("--report-interval=1") >= 30


def test_a_failed_run_is_a_row_with_its_reason(report_with_holes):
    elements = Elements(report_with_holes[1])
    lost = [attributes for tag, attributes in elements.found if attributes.get("class") == "run lost"]
    assert len(lost) == 6
    assert elements.said().count("server died with signal 11") >= 6


def test_the_same_records_give_the_same_bytes(report, tmp_path):
    again = rendered(synthetic.Plan(workloads=("simple_select", "oltp")), tmp_path)
    assert again[1] == report[1]
    assert again[2] == report[2]


def test_a_missing_figure_leaves_no_half_report(report, tmp_path):
    tree, _, _ = report
    out = tmp_path / "report.html"
    folders = (tree.study, tree.runs_list, dictionary.files(tree.tables), tmp_path / "no-figures")
    none = {kind: [] for kind in render_report.RECORDS}
    with pytest.raises(FileNotFoundError, match=r"answer\.svg"):
        render_report.main(*folders, out, tmp_path / "summary.md", tmp_path / "answer.json", **none)
    assert not out.exists()


def test_spark_line_starts_at_zero_and_needs_two_seconds():
    assert spark(record_of({"series": {"tps": [0.0, 10.0]}})) == "0.0,35.0 240.0,1.0"
    assert spark(record_of({"series": {"tps": [10.0]}})) == ""
    assert spark(record_of({"series": None})) == ""
