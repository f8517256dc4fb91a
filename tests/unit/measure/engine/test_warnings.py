"""Which runs get which warnings, and which do not."""

import copy
import random

import pytest

from scripts.measure.engine.warnings import THRESHOLDS, drift, warnings_of
from tests.made.run import record_of

QUIET = {
    "times": {"window_started_at": 1e9, "window_ended_at": 1e9 + 5},
    "window": {"duration_s": 5.0, "transactions": 10000, "errors": 0, "reconnects": 0},
    "placement": {"mode": "automatic", "server_cpus": [0], "client_cpus": [1]},
    "host": {"governor": None},
    "cpu": {
        **{"cpus": 2, "server_user_s": 3.5, "server_system_s": 1.4, "client_user_s": 2.0, "client_system_s": 1.0},
        **{"host_user_s": 5.6, "host_system_s": 2.4, "host_irq_s": 0.1},
        **{"host_steal_s": 0.1, "host_iowait_s": 0.2, "host_idle_s": 1.6},
    },
    "pressure": {"cpu_some_s": 1.0, "io_some_s": 0.1, "memory_some_s": 0.0},
    "memory": {
        **{"available_mib_before": 4000.0, "available_mib_after": 3990.0},
        **{"swap_used_mib_before": 0.0, "swap_used_mib_after": 0.0, "oom_kills": 0},
    },
    "io": {"read_bytes": 0, "write_bytes": 10, "context_switches": 5},
    "series": {"tps": [1500.0, 2000.0, 2030.0, 1980.0, 2010.0, 1990.0]},
}


def changed(path: str, value) -> dict:
    facts = copy.deepcopy(QUIET)
    *parents, last = path.split(".")
    place = facts
    for name in parents:
        place = place[name]
    place[last] = value
    return facts


def codes(facts: dict) -> list[str]:
    return [warning.code for warning in warnings_of(record_of(facts))]


def test_quiet_run_has_no_warning():
    assert warnings_of(record_of(QUIET)) == []


@pytest.mark.parametrize(
    ("path", "good", "bad", "code"),
    [
        ("cpu.host_steal_s", 0.19, 0.21, "steal"),
        ("cpu.host_user_s", 5.9, 6.1, "others"),
        ("cpu.host_iowait_s", 0.99, 1.01, "iowait"),
        ("memory.swap_used_mib_after", 0.0, 3.0, "swap"),
        ("memory.oom_kills", 0, 1, "oom_kills"),
        ("host.governor", "performance", "powersave", "governor"),
        ("cpu.client_user_s", 2.0, 3.9, "client_full"),
        ("window.errors", 100, 110, "errors"),
        ("window.reconnects", 0, 1, "reconnects"),
        ("times.window_ended_at", 1e9 + 5.4, 1e9 + 65, "clock"),
        ("times.window_ended_at", 1e9 + 4.6, 1e9 - 3595, "clock"),
        ("series.tps", [9.0, 100, 104, 97, 102, 99, 101], [9.0, 100, 104, 108, 113, 118, 121], "unsteady"),
    ],
)
def test_value_beyond_its_limit_is_warned_of(path, good, bad, code):
    assert codes(changed(path, good)) == []
    assert code in codes(changed(path, bad))


def test_interrupts_of_the_disk_are_no_other_programs():
    assert codes(changed("cpu.host_irq_s", 1.5)) == []


def test_drift_of_a_run_in_slices_is_the_one_beside_the_other_servers():
    rising = changed("series.tps", [9.0, 100, 104, 108, 113, 118, 121])
    assert codes(rising | {"sliced": {"method": "slices", "drift": 0.02, "drift_error": 0.01}}) == []
    apart = changed("sliced", {"method": "slices", "drift": -0.12, "drift_error": 0.03})
    (warning,) = warnings_of(record_of(apart))
    assert (warning.code, warning.value) == ("unsteady", -0.12)
    assert "moved by -12% from start to end beside the other servers of its block" in warning.text
    assert codes(changed("sliced", {"method": "slices", "drift": 0.12, "drift_error": 0.05})) == []


def test_client_that_uses_more_than_all_else_is_warned_of():
    facts = changed("placement.client_cpus", [0, 1])
    facts["cpu"] |= {"server_user_s": 2.0, "server_system_s": 1.0, "client_user_s": 3.0, "client_system_s": 2.0}
    assert codes(facts) == ["client_share"]


def test_warning_holds_value_threshold_and_a_sentence():
    (warning,) = warnings_of(record_of(changed("cpu.host_steal_s", 1.2)))
    assert (warning.value, warning.threshold) == (0.12, 0.02)
    assert warning.text.startswith("the hypervisor took 12.0% of the CPU time of the window; the hypervisor gave")


def test_one_process_killed_for_lack_of_memory_is_told_as_one():
    (warning,) = warnings_of(record_of(changed("memory.oom_kills", 1)))
    assert warning.text.startswith("1 process killed for lack of memory; the kernel killed")


def test_what_could_not_be_measured_is_not_called_bad():
    facts = changed("pressure.io_some_s", None)
    facts["io"] = None
    (warning,) = warnings_of(record_of(facts))
    assert (warning.code, warning.value, warning.threshold) == (
        "not_measured",
        ["io", "pressure.io_some_s"],
        None,
    )


def test_unmeasured_cpu_gives_no_verdict_on_steal():
    assert codes(changed("cpu", None)) == ["not_measured"]


def test_direction_of_a_drift_is_told():
    (warning,) = warnings_of(record_of(changed("series.tps", [9.0, 120, 116, 112, 108, 104, 100])))
    assert warning.value == pytest.approx(-20 / 110, abs=0.001)


def test_first_second_is_no_drift():
    assert codes(changed("series.tps", [10.0, 200.0, 201.0, 199.0, 200.0, 200.5])) == []


def test_one_slow_second_is_no_drift():
    assert codes(changed("series.tps", [200.0, 200.0, 201.0, 90.0, 200.0, 199.5, 200.0])) == []


def test_noise_without_drift_is_seldom_called_drift():
    source = random.Random(5)
    runs = [[1000.0] + [source.gauss(1000, 100) for _ in range(30)] for _ in range(300)]
    assert sum(codes(changed("series.tps", run)) != [] for run in runs) < 0.03 * len(runs)


def test_drift_in_noise_is_found():
    source = random.Random(5)
    runs = [[1000.0] + [source.gauss(1000 - 10 * second, 50) for second in range(30)] for _ in range(100)]
    assert sum(codes(changed("series.tps", run)) == ["unsteady"] for run in runs) > 90


def test_drift_of_a_straight_line_is_its_rise():
    assert drift([100.0, 110.0, 120.0, 130.0, 140.0]) == pytest.approx((40 / 120, 0.0))


def test_long_series_is_thinned_without_losing_its_drift():
    change, _ = drift([1000.0 + second for second in range(3600)])
    assert change == pytest.approx(3600 / 2800, rel=0.02)


@pytest.mark.parametrize("tps", [[], [1.0, 2.0, 3.0, 4.0], [0.0] * 10])
def test_too_little_to_judge_gives_none(tps):
    assert drift(tps) == (None, 0.0)


def test_every_limit_has_a_reason():
    assert all(len(limit.reason) > 20 for limit in THRESHOLDS.values())
