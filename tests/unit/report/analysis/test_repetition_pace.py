"""The time that more measuring takes: what blocks worked, not what they waited, and each arm once."""

import pandas as pd
import pytest

from scripts.report.analysis.repetition_pace import repetition_s, row_s
from tests.made import added_later, synthetic
from tests.made.compared import compared, of
from tests.made.run import PHASES_S

RUN_S = sum(PHASES_S.values()) - PHASES_S["wait_lock"]


def waiting(seconds):
    def edit(facts):
        facts["phases_s"] = {**facts["phases_s"], "wait_lock": seconds}
        facts["times"]["started_at"] -= seconds

    return edit


def test_a_repetition_of_blocks_that_share_the_starts_of_their_servers_counts_no_second_twice():
    rows = [
        {"workload": "oltp", "clients": 2**level, "repetition": repetition, "block": f"{level}/{repetition}",
         "variant": str(turn), "started_at": 1000 * repetition + 100 * turn + 10 * level,
         "ended_at": 1000 * repetition + 100 * turn + 10 * level + 10}
        for repetition in (1, 2) for turn in range(3) for level in range(10)
    ]  # fmt: skip
    assert repetition_s(pd.DataFrame(rows)) == 300


@pytest.mark.parametrize("waited_s", [0.0, 405.0])
def test_waiting_for_the_machine_is_no_pace(waited_s):
    found = compared(synthetic.Plan(workloads=("oltp",)), edit=waiting(waited_s))
    assert repetition_s(found.judged) == pytest.approx(3 * RUN_S)
    row = of(found.overall).iloc[0]
    more = row["settling_repetitions"] - row["n_blocks_least"]
    assert row["settling_min"] == pytest.approx(more * 3 * RUN_S / 60)
    assert row_s(found.judged.iloc[0]) == pytest.approx(RUN_S)


def test_the_next_repetition_measures_variants_of_several_blocks_in_one():
    runs = [{**facts, "phase_measure_s": 10.0, **facts["times"]} for facts in added_later.runs()]
    table = pd.DataFrame(runs)[["workload", "clients", "repetition", "block", "variant", "started_at", "ended_at"]]
    table["phase_measure_s"] = 10.0
    assert repetition_s(table) == pytest.approx(2 * 4 * 10)
    assert pd.isna(repetition_s(table.assign(ended_at=None)))
