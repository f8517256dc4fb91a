"""Tidy tables from the raw facts of runs: one row a run, one row a second; and what every column means."""

AA = "aa"
TOO_FEW = "too few blocks"
NO_FLOOR = "no noise floor"
NO_DIFFERENCE = "no difference shown"
WORDLESS = (TOO_FEW, NO_FLOOR)


RUN = ("variant", "workload", "clients", "repetition")
BLOCK = ("workload", "clients", "repetition")
CELL = ("variant", "workload", "clients")

# Column of a kind of operation -> share of its calls that took no longer.
OPERATION_SHARES = {"p50_ms": 0.50, "p95_ms": 0.95, "p99_ms": 0.99}
