"""Words that several layers share: the keys of the tables, the arm A/A, the kinds of passes, the codes of verdicts."""

from enum import StrEnum

# When the servers of a study start anew: value of `restart`.
NEVER = "never"
# Servers put nothing off for their next start: value of `stop`.
SLOW = "slow"
# The length of slices is chosen by the load: value of `slice_s`; they are no shorter than this.
AUTOMATIC = "automatic"
SHORTEST_SLICE_S = 0.1
# How a block is measured: side by side in slices, timed SQL statement by statement, or one server after the other.
SLICES, STATEMENTS, TURNS = "slices", "statements", "turns"
AA = "aa"
# The reference's own objects linked in another order, one order per repetition.
RELINKED = "relinked"
# The arms that measure the reference itself: no variants of a study, without verdicts.
CONTROLS = (AA, RELINKED)

RUN = ("variant", "workload", "clients", "repetition")
# The record of a block, beside those of its arms.
BLOCK_FILE = "block.json"
BLOCK = ("workload", "clients", "repetition")
CELL = ("variant", "workload", "clients")
WORKLOAD_CLIENTS = ("workload", "clients")

# Column of a kind of operation -> share of its calls that took no longer.
OPERATION_SHARES = {"p50_ms": 0.50, "p95_ms": 0.95, "p99_ms": 0.99}

# Under as many blocks nothing gets a verdict.
MIN_BLOCKS = 5

# The passes of timed SQL: the first after the server's start, and the others.
COLD, WARM = "cold", "warm"


class CountedBy(StrEnum):
    """Whose counts of transactions and latency a run has: our gate's, or those that sysbench printed."""

    GATE = "gate"
    SYSBENCH = "sysbench"


class PairStatus(StrEnum):
    """Whether a run counts beside the reference of its block; the tables hold these codes."""

    PAIRED = "paired"
    SPLIT = "split"
    INCOMPLETE = "incomplete"
    UNPAIRED = "unpaired"


class Verdict(StrEnum):
    """What a comparison with the reference shows; the tables hold these codes.

    Far above and below: by more than the smallest difference of interest. Same: by less than it.
    """

    FAR_ABOVE = "far_above"
    ABOVE = "above"
    SAME = "same"
    OPEN = "open"
    BELOW = "below"
    FAR_BELOW = "far_below"
    TOO_FEW_BLOCKS = "too_few_blocks"
    UNPAIRED = "unpaired"


class Decision(StrEnum):
    """Whether a study with a `precision` measures another repetition; its decisions hold these codes."""

    ENOUGH = "enough"
    ANOTHER = "another"
    TIME_IS_UP = "time_is_up"


class FailureKind(StrEnum):
    """Why something failed; records of failed runs and builds hold these codes."""

    OPTION = "option"  # the server refuses an option, and does not start
    VALUE = "value"  # it runs, with another value of an option than it was given
    NOT_STARTED = "not_started"  # it ends before it is ready, for another reason
    SERVER = "server"  # it died, gave no answer or did not stop cleanly
    OUT_OF_MEMORY = "out_of_memory"  # the same, after the kernel killed programs for lack of memory
    LOAD = "load"  # sysbench could not finish its load
    LOAD_KILLED = "load_killed"  # a signal from outside ended sysbench
    COMMAND = "command"  # a compiler or another command ended with a status other than 0
    REFUSED = "refused"  # what was made cannot be used: a lost profile, other answers than those of the reference
    # Of the host. What fails for these causes is no result, and stands in no record.
    FULL_DISK = "full_disk"
    NO_MEMORY = "no_memory"
    KILLED = "killed"
    HOST_LOST = "host_lost"  # the client host, or its connection to the server

    @property
    def comes_again(self) -> bool:
        """Whether every further attempt fails in the same way until the study is changed."""
        return self in (FailureKind.OPTION, FailureKind.VALUE, FailureKind.NOT_STARTED)

    @property
    def of_host(self) -> bool:
        """Whether this host, another one or the way to it failed, and not what was tried there."""
        return self in (FailureKind.FULL_DISK, FailureKind.NO_MEMORY, FailureKind.KILLED, FailureKind.HOST_LOST)


ABOVE, BELOW = (Verdict.FAR_ABOVE, Verdict.ABOVE), (Verdict.FAR_BELOW, Verdict.BELOW)
DIFFERENCES = ABOVE + BELOW
UNDECIDED = (Verdict.TOO_FEW_BLOCKS, Verdict.UNPAIRED)
