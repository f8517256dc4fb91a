"""The tables that are computed from runs.csv: every column with its meaning and unit."""

from scripts.report.analysis.columns import (
    BOOLEAN,
    BUSY,
    BYTES,
    COUNT,
    LOG_RATIO,
    MINUTES,
    NUMBER,
    OF_METRIC,
    PROBABILITY,
    RATIO,
    SECONDS,
    SHARE,
    TEXT,
    Column,
    CsvTable,
)

VARIANT = Column(
    "variant", "arm of the experiment; aa is the reference a second time, relinked its objects in other orders", TEXT
)
WORKLOAD = Column("workload", "name of the load", TEXT)
CLIENTS = Column("clients", "concurrent connections", COUNT)
REPETITION = Column("repetition", "number of the repetition, from 1", COUNT)
BLOCK = Column("block", "the block it was measured in, with the reference it is compared with", TEXT)
CELL_KEY = (VARIANT, WORKLOAD, CLIENTS)
METRIC = Column("metric", "column of runs.csv that is compared, see Metrics", TEXT)

COMPARISONS = CsvTable("comparisons", "a run beside the reference of its block, and metric", (
    *CELL_KEY,
    REPETITION,
    BLOCK,
    Column("status", "paired; split: not the same host, boot or sysbench; incomplete: the run or each run of the "
           "reference is not ok; unpaired: imported, blocks unknown", TEXT),
    Column("note", "why the run is not compared", TEXT),
    Column("flagged", "one of these runs has a warning that not every run of the study has", BOOLEAN),
    METRIC,
    Column("value", "of the variant's run", OF_METRIC),
    Column("reference_value", "geometric mean of the reference's runs of the block, A/A among them; for A/A the "
           "reference's alone", OF_METRIC),
    Column("n_reference", "runs behind reference_value: 2, or 1 where one of them has no value", COUNT),
    Column("log_ratio", "log of value over reference_value; empty unless paired and both above zero", LOG_RATIO),
    Column("ratio", "value over reference_value; empty where log_ratio is", RATIO),
))  # fmt: skip

N_RUNS = Column("n_runs", "planned runs of the cell", COUNT)
RATIO_OF_LOGS = Column("ratio", "exp of log_ratio: the geometric mean of the ratios", RATIO)
RATIO_LOW = Column("ratio_low", "lower end of the 95 % interval", RATIO)
RATIO_HIGH = Column("ratio_high", "upper end of the 95 % interval", RATIO)
INTERVAL = (
    RATIO_LOW,
    RATIO_HIGH,
    Column("basis", "the spread that sets its width: pooled, own, clustered or slices", TEXT),
    Column("p", "two-sided p of no difference", PROBABILITY),
    Column("p_beyond", "two-sided p of a difference of at most the study's `matters`", PROBABILITY),
    Column("p_same", "p of a difference of at least `matters`, by two one-sided tests", PROBABILITY),
)
P_HOLM = Column("p_holm", "p adjusted by Holm over all variants and cells of the metric, without A/A", PROBABILITY)
P_BEYOND_HOLM = Column("p_beyond_holm", "p_beyond adjusted in the same way", PROBABILITY)
VERDICT = Column(
    "verdict",
    "far_above, far_below: the ratio lies above or below 1 by more than `matters`; above, below: it lies there; same: "
    "within `matters`; open: none of these is shown; too_few_blocks; unpaired. Empty for A/A and for metrics other "
    "than TPS and, of timed SQL, the cold time",
    TEXT,
)
# Of a variant beside the reference in one cell.
BESIDE_REFERENCE = (
    Column("n_blocks", "blocks in which it is compared with the reference; empty for the reference", COUNT),
    Column("n_split", "runs left out because they are split", COUNT),
    Column("n_incomplete", "runs left out because they or the reference are not ok", COUNT),
    Column("log_ratio", "mean over blocks of the log ratio", LOG_RATIO),
    RATIO_OF_LOGS,
    *INTERVAL,
)
CELLS = CsvTable("cells", "a metric in a cell", (
    *CELL_KEY,
    N_RUNS,
    Column("n_ok", "runs that gave a measurement", COUNT),
    METRIC,
    Column("value", "geometric mean over the blocks behind `ratio`; without a ratio, and for the reference, over the "
           "runs that gave a measurement", OF_METRIC),
    Column("reference_value", "geometric mean of the reference over the same blocks, so that `ratio` is value over "
           "reference_value; empty without a ratio", OF_METRIC),
    *BESIDE_REFERENCE,
    P_HOLM,
    P_BEYOND_HOLM,
    VERDICT,
))  # fmt: skip

# Of a mean over cells: of a variant, or of a factor.
OVER_CELLS = (
    Column("log_ratio", "mean over cells of each cell's mean log ratio", LOG_RATIO),
    RATIO_OF_LOGS,
    *INTERVAL,
    Column("detectable_ratio", "the ratio above 1 that a study like this finds with a chance of 80 %", RATIO),
    Column("n_cells", "cells compared in at least one block", COUNT),
    Column("n_cells_planned", "cells of the study", COUNT),
    Column("n_repetitions", "repetitions in which every compared cell has its block; of imported logs those of the "
           "cell with the most", COUNT),
    Column("n_blocks_least", "blocks of the cell that has fewest", COUNT),
    Column("n_pairs", "blocks of all cells that count", COUNT),
)  # fmt: skip
ENDS = tuple(
    Column(f"{end}_{key}", f"{what} of the cell with the {end} ratio", unit)
    for end in ("lowest", "highest")
    for key, what, unit in (("ratio", "ratio", RATIO), ("workload", "workload", TEXT), ("clients", "clients", COUNT))
)
OVERALL = CsvTable("overall", "a variant and metric, over all cells", (
    VARIANT,
    METRIC,
    *OVER_CELLS,
    Column("settling_repetitions", "repetitions in all after which the interval is ±`matters`, estimated", COUNT),
    Column("settling_min", "minutes that those still to measure take, estimated from the runs' times", MINUTES),
    *ENDS,
    Column("n_above", "cells with the verdict above or far_above", COUNT),
    Column("n_below", "cells with the verdict below or far_below", COUNT),
    Column("n_same", "cells with the verdict same", COUNT),
    Column("n_open", "cells with the verdict open", COUNT),
    Column("n_undecided", "cells with too few blocks, or imported", COUNT),
    Column("n_flagged", "blocks that count and of which a run has a warning that not every run of the study "
           "has", COUNT),
    P_HOLM.meaning_here("p adjusted by Holm over the variants of the metric, without A/A"),
    P_BEYOND_HOLM,
    VERDICT.meaning_here("the verdict on the mean over cells, as in cells.csv"),
))  # fmt: skip
OVERALL_UNFLAGGED = CsvTable(
    "overall_unflagged",
    "a variant and metric: overall.csv as if the runs that stand out by a warning had not been measured",
    OVERALL.columns,
)
CALIBRATION = CsvTable(
    "calibration",
    "a metric: how often the reference, measured a second time, differs from itself",
    (
        METRIC,
        Column("n_cells", "cells with an interval of A/A beside the reference alone", COUNT),
        Column("n_missing", "of these, cells whose 95 % interval misses 1", COUNT),
        Column("n_blocks", "blocks of all these cells", COUNT),
        Column("chi2", "sum of squares of the normal deviates with the p values of these cells", NUMBER),
        Column("p_chi2", "probability of a chi² as large, if the intervals are right", PROBABILITY),
        Column("widened", "factor that widens all intervals of the metric: the root of chi² over the cells where "
               "p_chi2 is under 0.01, else 1", RATIO),
    ),
)  # fmt: skip
RELINKS = CsvTable(
    "relinked",
    "a metric, over all cells, then cell by cell: what relinking the reference moves; none for a study without relinks",
    (
        WORKLOAD.meaning_here(f"{WORKLOAD.meaning}; empty over all cells"),
        CLIENTS.meaning_here(f"{CLIENTS.meaning}; empty over all cells"),
        METRIC,
        Column("n_relinks", "links of the reference's objects in other orders, one per repetition", COUNT),
        Column("ratio", "geometric mean over the relinks of their ratio to the reference", RATIO),
        Column("sd", "standard deviation between relinks of the log ratio, less the noise of a block", LOG_RATIO),
        Column("noise_sd", "standard deviation of the log ratio that the noise of a block alone makes", LOG_RATIO),
        Column("moved", "exp of sd, less 1: by how much relinking alone moves the reference", SHARE),
        Column("moved_low", "lower end of its 95 % interval", SHARE),
        Column("moved_high", "upper end of its 95 % interval", SHARE),
    ),
)
FACTORS = CsvTable("factors", "a factor of the builds and metric, over all cells", (
    Column("factor", "what the variants differ in, or the interaction of two factors", TEXT),
    Column("formula", "variants whose values are divided", TEXT),
    Column("server", "server they are builds of", TEXT),
    Column("interaction", "whether it is the interaction of two factors", BOOLEAN),
    METRIC,
    *OVER_CELLS,
    P_HOLM.meaning_here("p adjusted by Holm over the factors of the metric, without interactions and without variants "
                        "beside the reference, which have theirs of overall.csv"),
    P_BEYOND_HOLM,
    VERDICT.meaning_here("the verdict, as in cells.csv; empty for an interaction"),
))  # fmt: skip
PERCENT = "%"
LEVELS = CsvTable(
    "levels",
    "a variant, metric and level of an axis of imported logs, over the level's cells; in imported studies only",
    (
        VARIANT,
        METRIC,
        Column("axis", "all, workload, clients, a further part of the logs' paths, or means for chosen client "
               "counts", TEXT),
        Column("level", "level of the axis; empty over all cells", TEXT),
        Column("log_ratio", "mean over cells of the difference of the two sides' mean logs", LOG_RATIO),
        RATIO_OF_LOGS,
        RATIO_LOW,
        RATIO_HIGH,
        Column("change", "ratio less 1, in per cent", PERCENT),
        Column("change_low", "lower end of the 95 % interval, in per cent", PERCENT),
        Column("change_high", "upper end of the 95 % interval, in per cent", PERCENT),
        Column("arithmetic_change", "arithmetic mean over cells of the change, in per cent, of the arithmetic mean "
               "over repetitions", PERCENT),
        Column("n_cells", "cells of the level that have a ratio", COUNT),
        Column("n_cells_planned", "cells of the level", COUNT),
        Column("n_repetitions", "logs of the side and cell that has fewest", COUNT),
    ),
)  # fmt: skip
# What `OVER_CELLS` means where several variants take the place of one beside the reference.
OF_WHOLE_BLOCKS = {
    "n_cells": "cells with at least one whole repetition",
    "n_repetitions": "repetitions in which every compared cell has all its variants",
    "n_blocks_least": "whole repetitions of the cell that has fewest",
    "n_pairs": "whole repetitions of all cells that count",
}
EFFECTS = CsvTable("effects", "an effect of the matrix and metric, over all cells, then cell by cell", (
    Column("factor", "factor of the matrix, or factors of an interaction", TEXT),
    Column("formula", "levels set against each other; in the mean of logs over the levels of all other factors", TEXT),
    Column("n_factors", "factors that take part: 1 for a main effect", COUNT),
    WORKLOAD.meaning_here(f"{WORKLOAD.meaning}; empty over all cells"),
    CLIENTS.meaning_here(f"{CLIENTS.meaning}; empty over all cells"),
    METRIC,
    *(column.meaning_here(OF_WHOLE_BLOCKS.get(column.name, column.meaning)) for column in OVER_CELLS),
    P_HOLM.meaning_here("p adjusted by Holm over all effects of the metric; empty for a cell"),
    P_BEYOND_HOLM,
    VERDICT.meaning_here("the verdict, as in cells.csv, over all cells only"),
))  # fmt: skip

N_CPUS = (
    Column("n_server_cpus", "CPUs the server could run on", COUNT),
    Column("n_client_cpus", "CPUs sysbench could run on", COUNT),
    Column("n_shared_cpus", "CPUs both could run on", COUNT),
)
VIRTUALISATION = Column("virtualisation", "kind of virtual machine the host is, empty for none", TEXT)
BOUNDS = CsvTable("bounds", "a cell: who used the CPUs", (
    *CELL_KEY,
    N_RUNS,
    Column("n_measured", "ok runs whose CPU time is known: all that follows is over these", COUNT),
    *N_CPUS,
    VIRTUALISATION,
    Column("server_share", "CPU time of the server's processes, of all CPU time of the host in the windows", SHARE),
    Column("client_share", "CPU time of sysbench, of the same", SHARE),
    Column("other_share", "CPU time of everything else on the host, of the same", SHARE),
    Column("iowait_share", "idle with a disk at work, of the same", SHARE),
    Column("steal_share", "given to others by the hypervisor, of the same", SHARE),
    Column("idle_share", "the rest", SHARE),
    Column("server_busy", "CPU time of the server, of what it could use: a CPU for each connection, up to its "
           "CPUs", BUSY),
    Column("client_busy", "CPU time of sysbench, of what it could use", BUSY),
    Column("bound", "what set the pace: server_cpu, load_generator, or waiting", TEXT),
))  # fmt: skip

STATEMENT = Column("statement", "name of the statement", TEXT)
N_ROWS = Column("n_rows", "rows of its answer, or rows it changed", COUNT)
STATEMENT_COSTS = (
    Column("server_cpu_s", "CPU time of the server's processes meanwhile, counted in hundredths of a second", SECONDS),
    Column("read_bytes", "bytes the server read from storage meanwhile", BYTES),
    Column("write_bytes", "bytes the server wrote to storage meanwhile", BYTES),
)
EXECUTIONS = CsvTable("executions", "an execution of a statement of timed SQL", (
    *CELL_KEY,
    REPETITION,
    BLOCK,
    Column("pass", "number of the pass, from 1", COUNT),
    Column("cache", "cold in the first pass after the server's start, else warm", TEXT),
    STATEMENT,
    Column("statement_s", "seconds from sending it to the last row of its answer", SECONDS),
    N_ROWS,
    Column("answer_sha256", "SHA-256 of its answer's rows in whatever order; empty for one without rows", TEXT),
    *STATEMENT_COSTS,
))  # fmt: skip
LADDER = CsvTable("ladder", "a variant, workload and client count, of workloads with three client counts or more", (
    *CELL_KEY,
    Column("best_clients", "client count with the highest TPS, by the mean of logs", COUNT),
    Column("share", "TPS over that with best_clients, geometric mean over repetitions that have both", RATIO),
    Column("share_low", "lower end of the 95 % interval, a t interval over repetitions", RATIO),
    Column("share_high", "upper end of the 95 % interval, a t interval over repetitions", RATIO),
    Column("n_ok", "repetitions that have both", COUNT),
))  # fmt: skip
AGAINST = CsvTable(
    "against",
    "a variant, and a statement of timed SQL that its file compares with one above it by `against`",
    (
        *CELL_KEY,
        STATEMENT,
        Column("against", "name of the statement it is compared with", TEXT),
        Column("n_ok", "runs in which both were timed", COUNT),
        Column("ratio", "its cold seconds over those of the other in the same run, geometric mean over runs", RATIO),
        RATIO_LOW.meaning_here(f"{RATIO_LOW.meaning}, a t interval over runs"),
        RATIO_HIGH.meaning_here(f"{RATIO_HIGH.meaning}, a t interval over runs"),
    ),
)
STATEMENTS = CsvTable("statements", "a variant and statement of timed SQL, cold or warm", (
    *CELL_KEY,
    STATEMENT,
    Column("cache", "cold: the first pass after the server's start; warm: the mean of the others", TEXT),
    Column("n_ok", "runs it was timed in", COUNT),
    Column("value_s", "geometric mean of its seconds, over the same runs as `value` in cells.csv", SECONDS),
    Column("reference_value_s", "that of the reference beside it; empty without a ratio", SECONDS),
    *(cost.meaning_here(f"{cost.meaning}, mean over its executions") for cost in STATEMENT_COSTS),
    N_ROWS.meaning_here(f"{N_ROWS.meaning}; empty when not always the same"),
    Column("n_answers", "different answers it had, 1 when all were the same", COUNT),
    Column("n_differ", "pairs left out because the two answers differ in number or content of their rows", COUNT),
    *BESIDE_REFERENCE,
    P_HOLM.meaning_here("p adjusted by Holm over all variants and statements, cold and warm apart, without A/A"),
    P_BEYOND_HOLM,
    VERDICT,
))  # fmt: skip
