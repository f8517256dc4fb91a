"""The worked example of docs/import.md gives what its text says."""

import re

import pytest

from scripts import ROOT
from scripts.commands.import_logs import __main__ as import_logs
from scripts.lib.json_record import read
from scripts.lib.wording import interval, ratio
from scripts.report.analysis.run_tables import read_csv
from tests.made import logs as made_logs
from tests.made.rendering import Elements

TEXT = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")
PATTERN = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[1]
STUDY = import_logs.STUDIES / "theirs"


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The folder in which the example was imported, and what the terminal showed."""
    root = tmp_path_factory.mktemp("example")
    logs = made_logs.tiered(root / "logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        shown = []
        patch.setattr(import_logs, "say", shown.append)
        import_logs.main(logs, "theirs", made_logs.write(root, "theirs.yaml", PATTERN))
    return root, shown


def test_the_terminal_shows_the_line_of_the_text(example):
    assert example[1][-1] in TEXT


def test_the_means_are_those_of_the_table(example):
    root, _ = example
    levels = read_csv(root / STUDY / "tables" / "levels.csv")
    rows = levels[(levels["metric"] == "tps") & levels["axis"].isin(["all", "tier"])]
    lines = [
        f"| {'all cells' if row.axis == 'all' else f'{row.axis} {row.level}'} | {ratio(row.ratio)} "
        f"({interval(row.ratio_low, row.ratio_high)}) | {row.change:+.1f} % | {row.arithmetic_change:+.1f} % |"
        for row in rows.itertuples()
    ]
    assert len(lines) == 4
    assert [line for line in lines if line not in TEXT] == []


def test_names_are_joined_renamed_and_ordered_as_written(example):
    study = read(example[0] / STUDY / "study.json")
    assert list(study["variants"]) == ["mysql 9.7.0 base", "mysql 9.7.0 pgo"]
    assert list(study["workloads"]) == [f"oltp_read_write {tier} GB" for tier in (2, 12, 32)]
    assert study["imported"]["axes"]["tier"]["levels"] == ["2 GB", "12 GB", "32 GB"]
    assert study["imported"]["left_out"] == [["README.md", "left out by `leave_out`: path"]]


def test_the_page_has_the_means_and_no_method_that_was_not_used(example):
    page = (example[0] / STUDY / "report.html").read_text(encoding="utf-8")
    said = Elements(page[page.index('id="levels"') : page.index('id="where"')]).said()
    assert re.findall(r"(all cells|tier \d+ GB|\d+ clients|oltp\S+ \S+ GB) mysql", said) == [
        "all cells",
        "tier 2 GB",
        "tier 12 GB",
        "tier 32 GB",
        "16 clients",
        "64 clients",
    ]
    assert "+13.2\u202f% +13.2\u202f%" in said
    method = page[page.index('id="method"') :]
    for word in ("Holm", "A/A", "seed", "first and last"):
        assert word not in method[: method.index("Columns of tables/runs.csv")]
    assert "In the order of measuring" not in page
    assert "Runs overlap: several machines, or wrong dates." in page
