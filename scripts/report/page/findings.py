"""Whether the figures can be trusted: findings on runs, blocks, noise, builds, and servers that were not warm."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import AA, BLOCK, CELL, CONTROLS, PairStatus, Verdict
from scripts.lib.wording import interval, listing, missing, percent, plural, ratio, size
from scripts.report.analysis import stats
from scripts.report.analysis.comparison import warning_set
from scripts.report.analysis.metrics import EVERY, SCRIPT, Metric, leading
from scripts.report.analysis.table_rows import CalibrationRow, OverallRow, StatementRow
from scripts.report.page import build_findings, failures_section
from scripts.report.page.build_findings import Built, audited, checked, proven
from scripts.report.page.document import FindingList, Fold, Heading, PageBlock, Prose, Section, grid
from scripts.report.page.failures_section import failure_lines
from scripts.report.page.finding import Finding, State, Topic
from scripts.report.page.measuring_section import (
    method_finding,
    overlaps,
    own_share,
    phase_split,
    run_name,
    run_order,
    supplies_finding,
)
from scripts.report.page.relink_section import relinks_finding
from scripts.report.page.slices_section import waiting_finding
from scripts.report.page.verdict import measured
from scripts.report.page.words import verdict_word

TRUST = "Can I trust it?"
AA_TOPIC = Topic(
    "aa",
    "The same build against itself",
    "Intervals that are too narrow were widened, so that the answers stand; other programs on the machine are a cause.",
)
RUNS = Topic("runs", "Runs", "Cells without runs are left out of the means.")
BLOCKS = Topic("blocks", "Blocks", "Intervals are wider without these runs.")
ANEW = "A new campaign measures those of another host, boot or program again."
SAME_ROWS = Topic(
    "same_rows",
    "Same rows",
    "A statement with another answer did other work: it gets no ratio, and totals that include it mislead.",
)
WARNINGS = Topic("warnings", "Warnings", "The table of warnings below says what each one means and what helps.")
COUNTS = Topic(
    "counts",
    "Whose counts",
    "Both ways agree within 0.5 % on scripts that print nothing of their own (benchmarks/counts.csv). A new campaign "
    "measures all runs in one way.",
)
STEAL = Topic("steal", "Steal")
ONE_MACHINE = Topic(
    "one_machine",
    "One machine",
    "Runs are compared within one host, boot and sysbench program only. A new campaign measures all on one.",
)
WARM = Topic(
    "warm",
    "Warm servers",
    "Ratios are those of servers that still warm up, not those of a server that runs for long. Raise `warmup_s`.",
)


LIMIT_HEAD = ("warning", "meaning, as worded for the first run beyond the limit", "limit", "what helps", "runs")


def trust_section(findings: Sequence[Finding], limits: Sequence[tuple[str, ...]]) -> Section:
    """Return the findings, those to look at first, and the limits for warnings, if any: rows of `warning_rows`."""
    failing = [finding for finding in findings if finding.state is State.LOOK]
    others = [finding for finding in findings if finding.state is not State.LOOK]
    more = ", and the limits for warnings" if limits else ""
    blocks: list[PageBlock] = [FindingList(others)] if others else []
    if limits:
        fired, rest = [row for row in limits if row[-1] != "0"], [row for row in limits if row[-1] == "0"]
        text = Prose("A run beyond a limit is shown and counted, never dropped.")
        blocks += [Heading("Limits for warnings"), text, *([grid(LIMIT_HEAD, fired, 4)] if fired else [])]
        blocks.append(Fold(f"{len(rest)} limits that no run was beyond", (grid(LIMIT_HEAD, rest, 4),)))
    shown = [FindingList(failing)] if failing else []
    fold = Fold(f"All {len(findings)} findings{more}", blocks)
    return Section("trust", TRUST, (Prose(passed_sentence(findings)), *shown, fold), nav=TRUST)


def passed_sentence(findings: Iterable[Finding]) -> str:
    """Return the proofs in one line: how many checks passed, and which."""
    judged = [finding for finding in findings if finding.state is not State.PLAIN]
    passed = [finding.title.lower() for finding in judged if finding.state is State.GOOD]
    if not passed:
        return f"None of {plural(len(judged), 'check')} passed." if judged else "Nothing was checked."
    counted = "All" if len(passed) == len(judged) else f"{len(passed)} of"
    return f"{counted} {plural(len(judged), 'check')} passed: {', '.join(passed)}."


def statement_findings(statements: pd.DataFrame) -> list[Finding]:
    """Return the finding on the answers in statements.csv; nothing where no SQL was timed."""
    if statements.empty:
        return []
    lines = tuple(dict.fromkeys(line for row in statements.itertuples() if (line := _statement_line(row))))
    statements_sent = statements[["workload", "statement"]].drop_duplicates()
    if lines:
        text = "Some answers differ in number or content of their rows; these pairs give no ratio for the statement."
        return [SAME_ROWS.look(text, lines)]
    text = f"{plural(len(statements_sent), 'timed statement')} had the same number of rows with the same checksum"
    return [SAME_ROWS.good(f"{text} in every variant, pass and run.")]


def _statement_line(row: StatementRow) -> str:
    where = f"{row.variant}, {row.workload}, {row.statement}, {row.cache}"
    if row.n_answers > 1:
        return f"{where}: {int(row.n_answers)} different answers in {plural(int(row.n_ok), 'run')}"
    if row.variant not in CONTROLS and not missing(row.n_differ) and row.n_differ:
        return f"{where}: an answer different from the reference's in {plural(int(row.n_differ), 'block')}"
    return ""


def findings(study: ResolvedStudy, runs: pd.DataFrame, tables: dict[str, pd.DataFrame], built: Built) -> list[Finding]:
    """Return all findings in the order to show.

    `tables` holds comparisons, cells, overall, overall_unflagged, calibration and relinked by name.
    """
    of_builds = [audited(study, built), checked(study, built), proven(study, built)]
    failed = build_findings.failed_builds_finding(study, built)
    foreign = build_findings.foreign_flags_finding(built)
    return [
        *([failed] if failed else []),
        *([foreign] if foreign and foreign.state is State.LOOK else []),
        *(finding for finding in of_builds[:1] if finding.state is State.LOOK),
        aa_finding(runs, tables, study.reference),
        method_finding(study, runs),
        *([relinks] if (relinks := relinks_finding(study, tables["relinked"])) else []),
        *([waiting] if (waiting := waiting_finding(runs)) else []),
        *([counts] if (counts := counts_finding(runs)) else []),
        *([warm] if (warm := warm_finding(runs, study.matters)) else []),
        *(finding for finding in of_builds[:1] if finding.state is not State.LOOK),
        *of_builds[1:],
        *([foreign] if foreign and foreign.state is not State.LOOK else []),
        *([supplies] if (supplies := supplies_finding(study, runs)) else []),
        outcomes_finding(runs),
        blocks_finding(tables["comparisons"]),
        *statement_findings(tables["statements"]),
        run_order(study, runs),
        overlaps(runs),
        warnings_finding(runs, tables, study.matters),
        steal_finding(runs),
        hosts_finding(runs),
        own_share(runs),
        phase_split(runs),
    ]


def aa_finding(runs: pd.DataFrame, tables: dict[str, pd.DataFrame], reference: str) -> Finding:
    """Compare A/A with the reference: overall ratios, intervals that miss 1, whether the bytes were the same."""
    rows = {row.metric: row for row in tables["overall"].itertuples() if row.variant == AA and row.n_cells}
    if not rows:
        return AA_TOPIC.look("The reference was not measured a second time, so nothing checks the intervals.")
    lead = leading(rows)
    # The programs of MySQL 5.5 have no build-id.
    both = runs[runs["variant"].isin((reference, AA))]
    key, noun = ("build_id", "build-id") if both["build_id"].notna().any() else ("server_sha256", "program")
    builds = [set(both.loc[both["variant"] == name, key].dropna()) for name in (reference, AA)]
    same = builds[0] == builds[1] and len(builds[0]) == 1
    text = f"{lead.label}: {measured(rows[lead.name])}. {_misses(tables['calibration'])} "
    text += f"Both ran the same {noun}." if same else f"The two did not run the same {noun}: this is not A/A."
    others = [name for name in ("p95_ms", "cpu_us_per_tx", *SCRIPT) if name in rows and name != lead.name]
    widened = [row for row in tables["calibration"].itertuples() if row.widened > 1]
    more = [f"{EVERY[name].label}: {measured(rows[name])}" for name in others]
    more += [_widened_text(row) for row in widened]
    return AA_TOPIC.judged(same and not widened, text, tuple(more))


def _misses(calibration: pd.DataFrame) -> str:
    missed, of = int(calibration["n_missing"].sum()), int(calibration["n_cells"].sum())
    return f"Of {plural(of, 'interval')} in all cells and quantities {missed} miss 1; by chance at most 1 in 20 does."


def _widened_text(row: CalibrationRow) -> str:
    why = f"the reference differs from itself by more than the intervals say (chi² {row.chi2:.0f} over "
    cells = plural(int(row.n_cells), "cell")
    return f"{EVERY[row.metric].label}: {why}{cells}), so all intervals were made {row.widened:.1f} times as wide."


def outcomes_finding(runs: pd.DataFrame, topic: Topic = RUNS) -> Finding:
    """Count the runs that are ok; list the others with their reasons, equal ones of a variant in one line."""
    lost = runs[runs["outcome"] != "ok"]
    holes = failure_lines(lost)
    counts = [f"{amount} {outcome}" for outcome, amount in lost["outcome"].value_counts().items()]
    text = f"{len(runs) - len(lost)} of {plural(len(runs), 'planned run')} gave a measurement"
    text += f"; {listing(counts)}." if counts else "."
    if topic is RUNS and (lost["outcome"] == "failed").any():
        topic = replace(topic, remedy=failures_section.remedy(runs))
    return topic.judged(not holes, text, holes)


def blocks_finding(comparisons: pd.DataFrame) -> Finding:
    """Count the runs that are compared with the reference of their block; list the split ones with their reasons."""
    pairs = comparisons[["variant", "status", "note", *BLOCK, "block"]].drop_duplicates()
    status = pairs["status"].value_counts()
    paired = status.get(PairStatus.PAIRED, 0)
    split = pairs[pairs["status"] == PairStatus.SPLIT]
    text = f"{paired} of {plural(len(pairs), 'run')} have a reference in their block"
    incomplete = status.get(PairStatus.INCOMPLETE, 0)
    text += f"; {incomplete} have none or failed" if incomplete else ""
    text += (
        f"; {len(split)} were made on another host, boot or sysbench program and are not compared" if len(split) else ""
    )
    text += "."
    notes = tuple(f"{run_name(row)}: {row.note}" for row in split.itertuples())
    remedy = " ".join([BLOCKS.remedy, *([ANEW] if len(split) else []), *(["See Runs."] if incomplete else [])])
    return replace(BLOCKS, remedy=remedy).judged(paired == len(pairs), text, notes)


def warnings_finding(runs: pd.DataFrame, tables: dict[str, pd.DataFrame], matters: float) -> Finding:
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
    again, with_flagged = (
        {row.variant: row for row in table[table["metric"] == lead.name].itertuples() if row.variant != AA}
        for table in (tables["overall_unflagged"], tables["overall"])
    )
    decided = {name: row for name, row in again.items() if row.n_cells and row.verdict != Verdict.TOO_FEW_BLOCKS}
    lines = [_restricted(row, with_flagged[name], lead, matters) for name, row in decided.items()]
    if few := [name for name in again if name not in decided]:
        lines.append(_too_few(few, again, with_flagged))
    return WARNINGS.look(text, tuple(lines))


def _too_few(names: list[str], again: dict[str, OverallRow], with_flagged: dict[str, OverallRow]) -> str:
    """Return how many pairs of these variants are left without the runs that stand out by a warning."""
    n_left, of = (
        sum(0 if missing(rows[name].n_pairs) else int(rows[name].n_pairs) for name in names)
        for rows in (again, with_flagged)
    )
    return (
        f"{listing(names)}: {n_left} of {plural(of, 'pair')} have no run that stands out by a warning, too few for an "
        "answer without the others"
    )


def _restricted(row: OverallRow, with_flagged: OverallRow, lead: Metric, matters: float) -> str:
    """Return the answer for one variant without the runs that stand out by a warning, and with them."""
    over = f"{row.n_cells} of {plural(row.n_cells_planned, 'cell')}"
    without = f"without the runs that stand out by a warning {measured(row)} the {lead.label.lower()} over {over}"
    words = [
        "none" if missing(answer.verdict) else verdict_word(lead, answer.verdict, matters)
        for answer in (row, with_flagged)
    ]
    word = "" if row.verdict == with_flagged.verdict else f"; the verdict is then {words[0]}, not {words[1]}"
    return f"{row.variant}: {without}, with them {measured(with_flagged)}{word}"


def counts_finding(runs: pd.DataFrame) -> Finding | None:
    """Name the cells whose runs have counts of the gate and counts of sysbench; None where each has one kind."""
    if "counted_by" not in runs:
        return None
    cells = runs.dropna(subset="counted_by").groupby([*CELL], sort=False)["counted_by"]
    mixed = [
        f"{variant}, {workload}, {plural(int(clients), 'client')}: "
        + listing([f"{plural(amount, 'run')} counted by {whose}" for whose, amount in counted.value_counts().items()])
        for (variant, workload, clients), counted in cells
        if counted.nunique() > 1
    ]
    if not mixed:
        return None
    text = f"In {plural(len(mixed), 'cell')} the transactions of runs were counted in two ways."
    return COUNTS.look(text, tuple(mixed))


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


def warm_finding(runs: pd.DataFrame, matters: float) -> Finding | None:
    """Report loads whose throughput rose within the blocks by more than `matters`; None without runs of a load.

    A rise is that of a block, as the mean over its servers, from the first half of its slices, or of its seconds by
    turns, to the second.
    """
    risen = runs[runs["outcome"] == "ok"].dropna(subset="rise") if "rise" in runs else pd.DataFrame()
    if risen.empty:
        return None
    blocks = risen.groupby(["workload", "clients", "block"], sort=False)["rise"].mean()
    cells = [(cell, *_rise_and_bounds(rises)) for cell, rises in blocks.groupby(["workload", "clients"], sort=False)]
    rising = [_rising_line(*cell) for cell in cells if cell[2] > np.log1p(matters)]
    middle, low, high = map(np.exp, _rise_and_bounds(blocks))
    within = "" if missing(low) else f" ({interval(low, high)})"
    halves = f"Throughput in the second half of the blocks over the first: {ratio(middle)}{within}."
    return WARM.judged(not rising, f"{halves} {_filled_text(risen)}".strip(), tuple(rising))


def _rise_and_bounds(rises: pd.Series) -> tuple[float, float, float]:
    """Return mean and bounds of log rises; the bounds of a single block are missing."""
    mean, low, high = map(float, stats.t_interval(rises))
    return mean, low, high


def _rising_line(cell: tuple[str, int], *logs: float) -> str:
    middle, low, high = map(np.exp, logs)
    where = f"{cell[0]}, {plural(int(cell[1]), 'client')}"
    return f"{where}: throughput still rose, second half over first {ratio(middle)} ({interval(low, high)})"


def _filled_text(runs: pd.DataFrame) -> str:
    """Return in how many runs the tables were read into the pool before the warm-up; empty where it is not recorded."""
    filled = runs.dropna(subset=["pool_bytes", "table_bytes"])
    if filled.empty:
        return ""
    read, over = filled["fill_s"].notna(), filled["table_bytes"] > filled["pool_bytes"]
    sizes = f"tables up to {size(filled['table_bytes'].max())}, pool {size(filled['pool_bytes'].min())}"
    text = f"In {read.sum()} of {plural(len(filled), 'run')} tables were read into the buffer pool before the warm-up"
    return f"{text} ({sizes}){f'; in {over.sum()} the pool cannot hold them' if over.any() else ''}."
