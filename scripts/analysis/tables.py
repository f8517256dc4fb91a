"""The tables that are computed from runs.csv: every column with its meaning and unit."""

from scripts.analysis.columns import (
    BOOLEAN,
    BUSY,
    BYTES,
    COUNT,
    LOG_RATIO,
    OF_METRIC,
    PROBABILITY,
    RATIO,
    SECONDS,
    SHARE,
    TEXT,
    Column,
    Table,
)

VARIANT = Column("variant", "arm of the experiment; aa is the reference a second time", TEXT)
WORKLOAD = Column("workload", "name of the load", TEXT)
CLIENTS = Column("clients", "concurrent connections", COUNT)
REPETITION = Column("repetition", "number of the repetition, from 1", COUNT)
CELL_KEY = (VARIANT, WORKLOAD, CLIENTS)
METRIC = Column("metric", "column of runs.csv that is compared, see Metrics", TEXT)

COMPARISONS = Table(
    "comparisons",
    "a run beside the reference's of its block, and metric",
    (
        *CELL_KEY,
        REPETITION,
        Column(
            "status",
            "paired; split: not the same host, boot or sysbench, or too far apart; incomplete: one run is not ok; "
            "unpaired: imported, blocks unknown",
            TEXT,
        ),
        Column("note", "why the pair does not count", TEXT),
        Column("flagged", "one of the two runs has a warning that not every run of the study has", BOOLEAN),
        METRIC,
        Column("value", "of the variant's run", OF_METRIC),
        Column("reference_value", "of the reference's run in the same block", OF_METRIC),
        Column("log_ratio", "log of value over reference_value; empty unless paired and both above zero", LOG_RATIO),
        Column("ratio", "value over reference_value; empty where log_ratio is", RATIO),
    ),
)

N_RUNS = Column("n_runs", "planned runs of the cell", COUNT)
RATIO_OF_LOGS = Column("ratio", "exp of log_ratio: the geometric mean of the ratios", RATIO)
FLOOR = Column("floor_log_ratio", "noise floor of the metric, as in noise.csv", LOG_RATIO)
P_HOLM = Column("p_holm", "p_t adjusted by Holm over all variants and cells of the metric, without A/A", PROBABILITY)
VERDICT = Column(
    "verdict",
    "above or below: a ratio above or below 1 is shown; no_difference, too_few_blocks, no_noise_floor",
    TEXT,
)
# Of a variant beside the reference in one cell.
BESIDE_REFERENCE = (
    Column("n_blocks", "pairs with the reference that count; empty for the reference", COUNT),
    Column("n_split", "pairs left out because they are split", COUNT),
    Column("n_incomplete", "pairs left out because one of the two runs is not ok", COUNT),
    Column("log_ratio", "mean over blocks of the log ratio", LOG_RATIO),
    RATIO_OF_LOGS,
    Column("ratio_low", "lower end of the 95 % t interval", RATIO),
    Column("ratio_high", "upper end of the 95 % t interval", RATIO),
    Column("p_t", "two-sided p of the paired t test on the log ratios", PROBABILITY),
    Column("p_sign_flip", "exact two-sided p of the sign-flip test, shown and not deciding", PROBABILITY),
)
CELLS = Table(
    "cells",
    "a metric in a cell",
    (
        *CELL_KEY,
        N_RUNS,
        Column("n_ok", "runs that gave a measurement", COUNT),
        METRIC,
        Column("value", "geometric mean over the runs that gave a measurement", OF_METRIC),
        *BESIDE_REFERENCE,
        P_HOLM,
        FLOOR,
        VERDICT,
    ),
)

# Of a mean over cells: of a variant, or of a factor.
OVER_CELLS = (
    Column("log_ratio", "mean over cells of each cell's mean log ratio", LOG_RATIO),
    RATIO_OF_LOGS,
    Column("ratio_low", "lower end of the 95 % interval over repetitions", RATIO),
    Column("ratio_high", "upper end of the 95 % interval over repetitions", RATIO),
    Column("n_cells", "cells with at least one pair of runs", COUNT),
    Column("n_cells_planned", "cells of the study", COUNT),
    Column("n_repetitions", "repetitions in which every compared cell has its pair", COUNT),
    Column("n_blocks_least", "pairs of the cell that has fewest", COUNT),
    Column("n_pairs", "pairs of all cells that count", COUNT),
    Column("p_t", "two-sided p of the mean over cells, Student's t", PROBABILITY),
    FLOOR,
)
ENDS = tuple(
    Column(f"{end}_{key}", f"{what} of the cell with the {end} ratio", unit)
    for end in ("lowest", "highest")
    for key, what, unit in (
        ("ratio", "ratio", RATIO),
        ("workload", "workload", TEXT),
        ("clients", "clients", COUNT),
    )
)
OVERALL = Table(
    "overall",
    "a variant and metric, over all cells",
    (
        VARIANT,
        METRIC,
        *OVER_CELLS,
        *ENDS,
        Column("n_above", "cells in which a ratio above 1 is shown", COUNT),
        Column("n_below", "cells in which a ratio below 1 is shown", COUNT),
        Column("n_no_difference", "cells in which no difference is shown", COUNT),
        Column("n_undecided", "cells with too few blocks or without a noise floor", COUNT),
        Column(
            "n_flagged",
            "pairs that count and of which a run has a warning that not every run of the study has",
            COUNT,
        ),
        P_HOLM.meaning_here("p_t adjusted by Holm over the variants of the metric, without A/A"),
        VERDICT.meaning_here("the verdict on the mean over cells, as in cells.csv; empty for A/A"),
    ),
)
OVERALL_UNFLAGGED = Table(
    "overall_unflagged",
    "a variant and metric: overall.csv as if flagged pairs had not been measured",
    OVERALL.columns,
)
NOISE = Table(
    "noise",
    "a metric: how far apart the same bytes measure",
    (
        METRIC,
        FLOOR.meaning_here("noise floor: the larger of the next two"),
        Column(
            "floor_from_blocks",
            "95th percentile of |A/A log ratio| over all blocks, over the root of the blocks of a cell",
            LOG_RATIO,
        ),
        Column("floor_from_cells", "95th percentile over cells of |mean A/A log ratio|", LOG_RATIO),
        Column("n_cells", "cells with an A/A pair", COUNT),
        Column("n_blocks", "blocks with an A/A pair", COUNT),
    ),
)
FACTORS = Table(
    "factors",
    "a factor of the builds and metric, over all cells",
    (
        Column("factor", "what the variants differ in, or the interaction of two factors", TEXT),
        Column("formula", "variants whose values are divided", TEXT),
        Column("server", "server they are builds of", TEXT),
        Column("interaction", "whether it is the interaction of two factors", BOOLEAN),
        METRIC,
        *OVER_CELLS,
        P_HOLM.meaning_here("p_t adjusted by Holm over the factors of the metric, without interactions"),
        VERDICT.meaning_here("the verdict, as in cells.csv; empty for an interaction"),
    ),
)
# What `OVER_CELLS` means where blocks of several variants take the place of pairs.
OF_WHOLE_BLOCKS = {
    "n_cells": "cells with at least one whole block",
    "n_repetitions": "repetitions in which every compared cell has its whole block",
    "n_blocks_least": "whole blocks of the cell that has fewest",
    "n_pairs": "whole blocks of all cells that count",
    "floor_log_ratio": "noise floor of the metric, larger where the effect has more terms than a pair",
}
EFFECTS = Table(
    "effects",
    "an effect of the matrix and metric, over all cells, then cell by cell",
    (
        Column("factor", "factor of the matrix, or factors of an interaction", TEXT),
        Column(
            "formula",
            "levels set against each other; in the mean of logs over the levels of all other factors",
            TEXT,
        ),
        Column("n_factors", "factors that take part: 1 for a main effect", COUNT),
        WORKLOAD.meaning_here(f"{WORKLOAD.meaning}; empty over all cells"),
        CLIENTS.meaning_here(f"{CLIENTS.meaning}; empty over all cells"),
        METRIC,
        *(column.meaning_here(OF_WHOLE_BLOCKS.get(column.name, column.meaning)) for column in OVER_CELLS),
        P_HOLM.meaning_here("p_t adjusted by Holm over all effects of the metric; empty for a cell"),
        VERDICT.meaning_here("the verdict, as in cells.csv, over all cells only"),
    ),
)

N_CPUS = (
    Column("n_server_cpus", "CPUs the server could run on", COUNT),
    Column("n_client_cpus", "CPUs sysbench could run on", COUNT),
    Column("n_shared_cpus", "CPUs both could run on", COUNT),
)
VIRTUALISATION = Column("virtualisation", "kind of virtual machine the host is, empty for none", TEXT)
BOUNDS = Table(
    "bounds",
    "a cell: who used the CPUs",
    (
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
        Column(
            "server_busy",
            "CPU time of the server, of what it could use: a CPU for each connection, up to its CPUs",
            BUSY,
        ),
        Column("client_busy", "CPU time of sysbench, of what it could use", BUSY),
        Column("bound", "what set the pace: server_cpu, load_generator, or waiting", TEXT),
    ),
)

STATEMENT = Column("statement", "name of the statement", TEXT)
N_ROWS = Column("n_rows", "rows of its answer, or rows it changed", COUNT)
STATEMENT_COSTS = (
    Column("server_cpu_s", "CPU time of the server's processes meanwhile, counted in hundredths of a second", SECONDS),
    Column("read_bytes", "bytes the server read from storage meanwhile", BYTES),
    Column("write_bytes", "bytes the server wrote to storage meanwhile", BYTES),
)
EXECUTIONS = Table(
    "executions",
    "an execution of a statement of timed SQL",
    (
        *CELL_KEY,
        REPETITION,
        Column("pass", "number of the pass, from 1", COUNT),
        Column("cache", "cold in the first pass after the server's start, else warm", TEXT),
        STATEMENT,
        Column("statement_s", "seconds from sending it to the last row of its answer", SECONDS),
        N_ROWS,
        Column("answer_sha256", "SHA-256 of its answer's rows in whatever order; empty for one without rows", TEXT),
        *STATEMENT_COSTS,
    ),
)
STATEMENTS = Table(
    "statements",
    "a variant and statement of timed SQL, cold or warm",
    (
        *CELL_KEY,
        STATEMENT,
        Column("cache", "cold: the first pass after the server's start; warm: the mean of the others", TEXT),
        Column("n_ok", "runs it was timed in", COUNT),
        Column("value_s", "geometric mean over these runs of its seconds", SECONDS),
        *(cost.meaning_here(f"{cost.meaning}, mean over its executions") for cost in STATEMENT_COSTS),
        N_ROWS.meaning_here(f"{N_ROWS.meaning}; empty when not always the same"),
        Column("n_answers", "different answers it had, 1 when all were the same", COUNT),
        Column("n_differ", "pairs left out because the two answers differ in number or content of their rows", COUNT),
        *BESIDE_REFERENCE,
        P_HOLM.meaning_here("p_t adjusted by Holm over all variants and statements, cold and warm apart, without A/A"),
        FLOOR.meaning_here("noise floor over all statements, cold and warm apart"),
        VERDICT,
    ),
)
