"""Arms that got other supplies of the machine than their neighbours are named; others are not."""

import pandas as pd
import pytest

from scripts.lib.resolved_study import ResolvedStudy
from scripts.measure.engine.machine_parts import SuppliesFacts
from scripts.report.analysis.run_columns import RUNS
from scripts.report.page.measuring_section import NAMES, supplies_finding
from tests.made.run import record_of

STUDY = {
    "variants": {
        **{name: {"server": "postgresql-15", "options": {}} for name in ("baseline", "aa", "pgo")},
        "without": {"server": "postgresql-15", "options": {"huge_pages": False}},
    }
}


def runs(**columns):
    rows = [(name, block) for block in ("one", "two") for name in STUDY["variants"]]
    made = pd.DataFrame(rows, columns=["variant", "block"]).assign(outcome="ok", **dict.fromkeys(NAMES, 0.0))
    return made.assign(**columns)


def test_arm_that_got_no_huge_pages_is_named_with_its_blocks():
    found = supplies_finding(ResolvedStudy.of(STUDY), runs(huge_pages_mib=[144, 144, 0, 0, 144, 144, 144, 0]))
    assert (found.code, found.state) == ("supplies", "look")
    assert found.details == ("huge pages, in 1 of 2 blocks: 144 MiB: baseline (1), aa (1); none: pgo (1)",)
    assert "vm.nr_hugepages" in found.remedy


def test_arms_with_other_options_may_get_other_supplies():
    found = supplies_finding(ResolvedStudy.of(STUDY), runs(huge_pages_mib=[144, 144, 144, 0] * 2))
    assert (found.state, found.details) == ("good", ())
    assert found.text == "In 2 blocks all servers with the same options got the same: huge pages."


def test_failed_arm_got_nothing_that_counts():
    outcome = ["ok", "ok", "failed", "ok"] * 2
    assert (
        supplies_finding(ResolvedStudy.of(STUDY), runs(huge_pages_mib=[144, 144, 0, 0] * 2, outcome=outcome)).state
        == "good"
    )


@pytest.mark.parametrize("column", list(NAMES))
def test_each_supply_is_judged(column):
    found = supplies_finding(ResolvedStudy.of(STUDY), runs(**{column: [2.0, 1.0, 2.0, 2.0] * 2}))
    assert found.details[0].startswith(f"{NAMES[column]}, in 2 of 2 blocks: 2")


def test_study_without_supplies_or_of_before_has_no_finding():
    assert supplies_finding(ResolvedStudy.of(STUDY), runs()) is None
    assert supplies_finding(ResolvedStudy.of(STUDY), runs(**dict.fromkeys(NAMES, None))) is None
    assert supplies_finding(ResolvedStudy.of(STUDY), runs().drop(columns="aio_contexts")) is None


def test_columns_and_record_have_the_same_supplies():
    about = {"huge_pages_mib": 144.0, "aio_contexts": 10, "io_urings": 0, "locked_mib": 0.0}
    run = record_of({"variant": "pgo", "workload": "oltp", "clients": 8, "supplies": about})
    assert {name: RUNS[name].value(run) for name in NAMES} == about
    assert set(NAMES) == set(SuppliesFacts().values())
