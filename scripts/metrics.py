"""The measured quantities that are compared, with their units and the words a verdict may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One column of tables/runs.csv that is compared as a ratio to the reference.

    `above` and `below` are the words for a ratio shown to lie above or below 1; `worse` is the bad one of the two.
    """

    name: str
    label: str
    unit: str
    above: str
    below: str
    worse: str
    meaning: str

    @property
    def heading(self) -> str:
        """The label with its unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


TPS = Metric(
    "tps",
    "Transactions per second",
    "",
    "faster",
    "slower",
    "slower",
    "transactions between the first and the last per-second report of sysbench, over the time between them",
)


def _lower_is_better(name: str, label: str, unit: str, meaning: str) -> Metric:
    return Metric(name, label, unit, "higher", "lower", "higher", meaning)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        TPS,
        _lower_is_better("p50_ms", "Median latency", "ms", "50th percentile of latency, from sysbench's histogram"),
        _lower_is_better("p95_ms", "p95 latency", "ms", "95th percentile of latency, from sysbench's histogram"),
        _lower_is_better("p99_ms", "p99 latency", "ms", "99th percentile of latency, from sysbench's histogram"),
        _lower_is_better(
            "cpu_us_per_tx",
            "Server CPU per transaction",
            "µs",
            "user and system CPU time of the server's processes in the window, divided by its transactions",
        ),
        _lower_is_better(
            "cpu_user_us_per_tx",
            "User CPU per transaction",
            "µs",
            "user CPU time of the server's processes in the window, divided by its transactions",
        ),
        _lower_is_better(
            "cpu_system_us_per_tx",
            "System CPU per transaction",
            "µs",
            "system CPU time of the server's processes in the window, divided by its transactions",
        ),
        _lower_is_better(
            "host_cpu_us_per_tx",
            "Host CPU per transaction, without the client",
            "µs",
            "user, system and interrupt CPU time of the whole host minus sysbench's, divided by the transactions; "
            "holds the kernel's work for the server",
        ),
    )
}
