"""Whether the figures can be trusted: findings on runs, blocks, noise and builds."""

import numpy as np
import pandas as pd

from scripts.analysis.comparison import warning_set
from scripts.analysis.metrics import EVERY, SCRIPT, Metric, leading
from scripts.analysis.run_tables import PHASE_NAMES
from scripts.report import build_findings
from scripts.report.build_findings import Built, audited, checked, proven
from scripts.report.finding import Finding, State, Topic
from scripts.report.value_tables import repetitions
from scripts.report.verdict import measured, noise_sentence
from scripts.report.words import verdict_word
from scripts.vocabulary import AA, BLOCK, CELL, PairStatus
from scripts.wording import brief, duration, floor_percent, listing, missing, percent, plural

AA_TOPIC = Topic(
    "aa",
    "The same build against itself",
    "An effect no larger than this one may be chance. More repetitions make it smaller.",
)
NOISE_FLOOR = Topic(
    "noise_floor",
    "Noise floor",
    "No cell is called faster or slower. Measure the reference a second time: the variant `aa` does that.",
)
RUNS = Topic("runs", "Runs", "Cells without runs are left out of the means. `make retry` measures failed runs again.")
BLOCKS = Topic("blocks", "Blocks", "Intervals are wider without these pairs. A new campaign measures them again.")
SAME_ROWS = Topic(
    "same_rows",
    "Same rows",
    "A statement with another answer did other work: it gets no ratio, and totals that include it mislead.",
)
ORDER = Topic(
    "order", "Order", "A drift of the machine can look like an effect. A new campaign measures in the drawn order."
)
ALONE = Topic(
    "alone", "Alone", "Runs that overlap slow each other down. Measure them again while nothing else is running."
)
WARNINGS = Topic("warnings", "Warnings", "The table of warnings below says what each one means and what helps.")
OWN_COST = Topic(
    "workflow_cost", "Cost of the workflow", "The figures are not affected; the study took longer than necessary."
)
RUN_TIME = Topic("run_time", "Time of a run")
STEAL = Topic("steal", "Steal")
ONE_MACHINE = Topic(
    "one_machine",
    "One machine",
    "Pairs across hosts, boots or sysbench programs do not count. A new campaign measures all on one.",
)


def statement_findings(statements: pd.DataFrame) -> list[Finding]:
    """Return the finding on the answers in statements.csv; nothing where no SQL was timed."""
    if statements.empty:
        return []
    lines = tuple(dict.fromkeys(line for row in statements.itertuples() if (line := _statement_line(row))))
    asked = statements[["workload", "statement"]].drop_duplicates()
    if lines:
        text = "Some answers differ in number or content of their rows; these pairs give no ratio for the statement."
        return [SAME_ROWS.look(text, lines)]
    text = f"{plural(len(asked), 'timed statement')} had the same number of rows with the same checksum"
    return [SAME_ROWS.good(f"{text} in every variant, pass and run.")]


def _statement_line(row: tuple) -> str:
    where = f"{row.variant}, {row.workload}, {row.statement}, {row.cache}"
    if row.n_answers > 1:
        return f"{where}: {int(row.n_answers)} different answers in {plural(int(row.n_ok), 'run')}"
    if row.variant != AA and not missing(row.n_differ) and row.n_differ:
        return f"{where}: an answer different from the reference's in {plural(int(row.n_differ), 'block')}"
    return ""


PAUSE_S = 60
OWN_SHARE_GOAL = 0.01


def run_name(row: tuple) -> str:
    """Return the name of a run: variant, workload, clients, repetition."""
    return f"{row.variant}, {row.workload}, {plural(int(row.clients), 'client')}, repetition {int(row.repetition)}"


def run_order(study: dict, runs: pd.DataFrame) -> Finding:
    """Compare the order in which each block's runs began with the order drawn from the seed."""
    began = runs.dropna(subset="started_at").sort_values("started_at")
    actual = {key: list(group["variant"]) for key, group in began.groupby(list(BLOCK))}
    planned = {tuple(block[:3]): list(block[3]) for block in study.get("order") or []}
    kept = sum([name for name in planned.get(key, []) if name in ran] == ran for key, ran in actual.items())
    text = f"{kept} of {plural(len(actual), 'block')} ran in the order drawn from seed {study.get('seed')}."
    return ORDER.judged(kept == len(actual), text)


def overlaps(runs: pd.DataFrame) -> Finding:
    """Report runs that began before an earlier run on the same host had ended."""
    timed = runs.dropna(subset=["started_at", "ended_at"]).sort_values("started_at")
    ends = timed.groupby("machine_id")["ended_at"].transform(lambda ended: ended.cummax().shift())
    found = timed[timed["started_at"] < ends]
    text = (
        f"{plural(len(found), 'run')} began before another had ended." if len(found) else "No two runs overlap in time."
    )
    return ALONE.judged(found.empty, text, tuple(run_name(row) for row in found.itertuples()))


def own_gaps(runs: pd.DataFrame) -> tuple[float, float, list[float]]:
    """Return (seconds between consecutive runs, span in seconds, pauses in seconds).

    A gap lasts from one run's `ended_at` to the next run's `started_at`. The span lasts from the first start to the
    last end, without the pauses. A pause is a gap of more than 60 s, or one that contains a run without times: the
    study was stopped, something else was made, or a server failed.
    """
    timed = runs.dropna(subset=["started_at", "ended_at"]).sort_values("started_at")
    if timed.empty:
        return 0.0, 0.0, []
    lost = np.sort(runs.loc[runs["started_at"].isna(), "run_number"].dropna().to_numpy(dtype=float))
    lost_before = np.searchsorted(lost, timed["run_number"].to_numpy(dtype=float))
    gaps = np.maximum(timed["started_at"].to_numpy()[1:] - timed["ended_at"].to_numpy()[:-1], 0.0)
    pausing = (gaps > PAUSE_S) | (np.diff(lost_before) != 0)
    span_s = float(timed["ended_at"].max() - timed["started_at"].min() - gaps[pausing].sum())
    return float(gaps[~pausing].sum()), span_s, gaps[pausing].tolist()


def own_share(runs: pd.DataFrame) -> Finding:
    """Report which share of the study's time lay between runs: the cost of the workflow itself."""
    gaps_s, span_s, pauses = own_gaps(runs)
    if not span_s:
        return OWN_COST.plain("No run has times.")
    share = gaps_s / span_s
    text = f"{percent(share)} of {duration(span_s)} lay between one run's end and the next one's start"
    text += f" (goal: under {percent(OWN_SHARE_GOAL, 0)})."
    if pauses:
        text += f" Not counted: {plural(len(pauses), 'pause')}, {duration(sum(pauses))} in all."
    return OWN_COST.judged(share < OWN_SHARE_GOAL, text)


def phase_split(runs: pd.DataFrame) -> Finding:
    """Report the mean time of each phase of a run."""
    mean_s = runs[[f"phase_{name}_s" for name in PHASE_NAMES]].astype(float).mean()
    named = [(name, mean_s[f"phase_{name}_s"]) for name in PHASE_NAMES if not missing(mean_s[f"phase_{name}_s"])]
    if not named:
        return RUN_TIME.plain("No run has times.")
    total_s = sum(seconds for _, seconds in named)
    parts = [f"{name} {duration(seconds)} ({percent(seconds / total_s, 0)})" for name, seconds in named]
    rest_s = total_s - sum(seconds for name, seconds in named if name in ("warmup", "measure"))
    text = f"Mean {duration(total_s)}, of which {duration(rest_s)} are neither warm-up nor measuring"
    return RUN_TIME.plain(f"{text}: {', '.join(parts)}.")


def findings(study: dict, runs: pd.DataFrame, tables: dict[str, pd.DataFrame], built: Built) -> list[Finding]:
    """Return all findings in the order to show.

    `tables` holds comparisons, cells, overall, overall_unflagged and noise by name.
    """
    of_builds = [audited(study, built), checked(study, built), proven(study, built)]
    failed = build_findings.failed_builds_finding(study, built)
    return [
        *([failed] if failed else []),
        *(finding for finding in of_builds[:1] if finding.state is State.LOOK),
        aa_finding(runs, tables, study["reference"]),
        noise_floor_finding(tables["noise"]),
        *(finding for finding in of_builds[:1] if finding.state is not State.LOOK),
        *of_builds[1:],
        outcomes_finding(runs),
        blocks_finding(tables["comparisons"]),
        *statement_findings(tables["statements"]),
        run_order(study, runs),
        overlaps(runs),
        warnings_finding(runs, tables),
        steal_finding(runs),
        hosts_finding(runs),
        own_share(runs),
        phase_split(runs),
    ]


def aa_finding(runs: pd.DataFrame, tables: dict[str, pd.DataFrame], reference: str) -> Finding:
    """Compare A/A with the reference: overall ratios, intervals that hold 1, and whether the bytes were the same."""
    rows = {row.metric: row for row in tables["overall"].itertuples() if row.variant == AA and row.n_cells}
    if not rows:
        return AA_TOPIC.look("No A/A block has both runs, so noise and effects cannot be distinguished.")
    cells = tables["cells"]
    lead = leading(rows)
    tps = cells[(cells["variant"] == AA) & (cells["metric"] == lead.name) & cells["ratio_low"].notna()]
    holding = int(((tps["ratio_low"] <= 1) & (tps["ratio_high"] >= 1)).sum())
    # The programs of MySQL 5.5 have no build-id.
    ours = runs[runs["variant"].isin((reference, AA))]
    key, noun = ("build_id", "build-id") if ours["build_id"].notna().any() else ("server_sha256", "program")
    builds = [set(ours.loc[ours["variant"] == name, key].dropna()) for name in (reference, AA)]
    same = builds[0] == builds[1] and len(builds[0]) == 1
    text = f"{lead.label}: {measured(rows[lead.name])}; the interval holds 1 in {holding} of {len(tps)} cells. "
    text += f"Both ran the same {noun}." if same else f"The two did not run the same {noun}: this is not A/A."
    others = [name for name in ("p95_ms", "cpu_us_per_tx", *SCRIPT) if name in rows and name != lead.name]
    more = [f"{EVERY[name].label}: {measured(rows[name])}" for name in others]
    off = rows[lead.name].ratio_low > 1 or rows[lead.name].ratio_high < 1
    if off:
        more.append(
            "The interval over all cells excludes 1, which happens by chance in one study of twenty: effects of this "
        )
        more[-1] += "size are not credible here."
    return AA_TOPIC.judged(same and not off, text, tuple(more))


def noise_floor_finding(floors: pd.DataFrame) -> Finding:
    """Report the noise floor of every metric, and the number of blocks and cells behind it."""
    if floors["floor_log_ratio"].isna().all():
        return NOISE_FLOOR.look(noise_sentence(floors))
    known = floors[floors["floor_log_ratio"].notna()]
    each = [f"{EVERY[row.metric].label} {floor_percent(row.floor_log_ratio)}" for row in known.itertuples()]
    basis = f"{plural(int(floors['n_blocks'].max()), 'A/A block')} in {plural(int(floors['n_cells'].max()), 'cell')}"
    needed = f"To show a difference, the mean of a cell must differ by more than this: {'; '.join(each)}"
    return NOISE_FLOOR.plain(f"{needed}. Based on {basis}.")


def outcomes_finding(runs: pd.DataFrame, topic: Topic = RUNS) -> Finding:
    """Count the runs that are ok; list the others by cell with their reasons."""
    lost = runs[runs["outcome"] != "ok"]
    groups = lost.groupby([*CELL, "outcome", "reason"], sort=False)
    holes = [
        f"{variant}, {workload}, {plural(int(clients), 'client')}, {repetitions(rows)}: {outcome}, {brief(reason)}"
        for (variant, workload, clients, outcome, reason), rows in groups
    ]
    counts = [f"{amount} {outcome}" for outcome, amount in lost["outcome"].value_counts().items()]
    text = f"{len(runs) - len(lost)} of {plural(len(runs), 'planned run')} gave a measurement"
    text += f"; {listing(counts)}." if counts else "."
    return topic.judged(not holes, text, tuple(holes))


def blocks_finding(comparisons: pd.DataFrame) -> Finding:
    """Count the whole, split and incomplete pairs; list the split ones with their reasons."""
    pairs = comparisons[["variant", "status", "note", *BLOCK]].drop_duplicates()
    status = pairs["status"].value_counts()
    paired = status.get(PairStatus.PAIRED, 0)
    split = pairs[pairs["status"] == PairStatus.SPLIT]
    text = f"{paired} of {plural(len(pairs), 'pair')} (variant and reference in one block) are whole"
    incomplete = status.get(PairStatus.INCOMPLETE, 0)
    text += f", {len(split)} split, {incomplete} incomplete. Split pairs are left out of intervals."
    notes = tuple(f"{run_name(row)}: {row.note}" for row in split.itertuples())
    return BLOCKS.judged(paired == len(pairs), text, notes)


def warnings_finding(runs: pd.DataFrame, tables: dict[str, pd.DataFrame]) -> Finding:
    """Count the warnings, and repeat the answer without the runs that stand out by a warning."""
    named = runs["warning_codes"].astype(object).fillna("").map(warning_set)
    codes = named.map(sorted).explode().value_counts()
    if codes.empty:
        return WARNINGS.good("No run has a warning.")
    text = f"{int(named.map(bool).sum())} of {plural(len(runs), 'run')} have a warning: "
    text += listing([f"{code} in {plural(amount, 'run')}" for code, amount in codes.items()]) + ". None was dropped."
    if not tables["comparisons"]["flagged"].astype(bool).any():
        return WARNINGS.look(text, ("Every run has the same warnings, so none stands out.",))
    lead = leading(tables["overall"]["metric"])
    again, every = (
        {row.variant: row for row in table[table["metric"] == lead.name].itertuples() if row.variant != AA}
        for table in (tables["overall_unflagged"], tables["overall"])
    )
    lines = tuple(_restricted(row, every[name], lead) for name, row in again.items())
    return WARNINGS.look(text, lines)


def _restricted(row: tuple, every: tuple, lead: Metric) -> str:
    """Return the answer for one variant without the runs that stand out by a warning, and with them."""
    if not row.n_cells:
        return f"{row.variant}: without the runs that stand out by a warning no pair is left"
    over = f"{row.n_cells} of {plural(row.n_cells_planned, 'cell')}"
    without = f"without the runs that stand out by a warning {measured(row)} the {lead.label.lower()} over {over}"
    words = [verdict_word(lead, each.verdict) for each in (row, every)]
    word = "" if row.verdict == every.verdict else f"; the verdict is then {words[0]}, not {words[1]}"
    return f"{row.variant}: {without}, with them {measured(every)}{word}"


def steal_finding(runs: pd.DataFrame) -> Finding:
    """Report how much CPU time the hypervisor gave to others during the windows."""
    shares = runs["steal_share"].dropna()
    if shares.empty:
        return STEAL.plain("The kernel does not report steal.")
    text = f"Share of CPU time the hypervisor gave to others in a window: median {percent(shares.median())}"
    return STEAL.plain(f"{text}, largest {percent(shares.max())}.")


def hosts_finding(runs: pd.DataFrame) -> Finding:
    """Count hosts, boots and sysbench programs: the two runs of a pair must share all three."""
    nouns = {"machine_id": ("host", None), "boot_id": ("boot", None), "sysbench_sha256": ("sysbench program", None)}
    amounts = {key: runs[key].nunique() for key in nouns}
    text = listing([plural(amounts[key], *noun) for key, noun in nouns.items()])
    return ONE_MACHINE.judged(max(amounts.values()) <= 1, f"All runs: {text}.")
