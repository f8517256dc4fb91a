"""Words that several layers share: the keys of the tables, the arm A/A, the kinds of passes, the codes of verdicts."""

from enum import StrEnum

AA = "aa"

RUN = ("variant", "workload", "clients", "repetition")
BLOCK = ("workload", "clients", "repetition")
CELL = ("variant", "workload", "clients")
WORKLOAD_CLIENTS = ("workload", "clients")

# Column of a kind of operation -> share of its calls that took no longer.
OPERATION_SHARES = {"p50_ms": 0.50, "p95_ms": 0.95, "p99_ms": 0.99}

# The passes of timed SQL: the first after the server's start, and the others.
COLD, WARM = "cold", "warm"


class PairStatus(StrEnum):
    """Whether a run and the reference's run of the same block count as a pair; the tables hold these codes."""

    PAIRED = "paired"
    SPLIT = "split"
    INCOMPLETE = "incomplete"
    UNPAIRED = "unpaired"


class Verdict(StrEnum):
    """What a comparison with the reference shows; the tables hold these codes."""

    ABOVE = "above"
    BELOW = "below"
    NO_DIFFERENCE = "no_difference"
    TOO_FEW_BLOCKS = "too_few_blocks"
    NO_NOISE_FLOOR = "no_noise_floor"


DIFFERENCES = (Verdict.ABOVE, Verdict.BELOW)
UNDECIDED = (Verdict.TOO_FEW_BLOCKS, Verdict.NO_NOISE_FLOOR)
