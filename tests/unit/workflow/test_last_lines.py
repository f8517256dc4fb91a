"""The terminal ends with the answer of the summary, as plain text."""

from scripts.workflow.last_lines import last_lines

SUMMARY = r"""## A title with \*stars\* &amp; more

Faster: PGO alone 1.30 × (1.18–1.43).

1 of 2 runs has a warning.

| ratio to base\_line | TPS | p95 \| latency |
|---|---|---|
| pgo\_lto | 1.30\* (1.18–1.43) | 0.80 |
| base\_line again (A/A) | 1.01 | 0.99 |

\* established: in the first column

The question?
"""


def test_answer_and_table_are_shown_without_markdown(tmp_path):
    (tmp_path / "summary.md").write_text(SUMMARY, encoding="utf-8")
    assert last_lines(tmp_path / "summary.md").splitlines() == [
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
        "* established: in the first column",
        "",
        f"Report: {tmp_path / 'report.html'}",
    ]


def test_a_study_without_summary_has_no_last_lines(tmp_path):
    assert last_lines(tmp_path / "summary.md") == ""


def test_a_summary_without_a_table_shows_the_report_alone(tmp_path):
    (tmp_path / "summary.md").write_text("## A title\n", encoding="utf-8")
    assert last_lines(tmp_path / "summary.md") == f"\n\nReport: {tmp_path / 'report.html'}\n"
