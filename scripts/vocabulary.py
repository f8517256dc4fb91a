"""Tidy tables from the raw facts of runs: one row a run, one row a second; and what every column means."""

AA = "aa"
TOO_FEW = "too few blocks"
NO_FLOOR = "no noise floor"
NO_DIFFERENCE = "no difference shown"
WORDLESS = (TOO_FEW, NO_FLOOR)


RUN = ("variant", "workload", "clients", "repetition")
BLOCK = ("workload", "clients", "repetition")
CELL = ("variant", "workload", "clients")
