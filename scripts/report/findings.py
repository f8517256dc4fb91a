"""Can the figures be trusted: what the runs, blocks and builds themselves say about it."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from scripts.analysis.comparison import warning_set
from scripts.analysis.metrics import EVERY, SCRIPT, Metric, leading
from scripts.analysis.runs import PHASE_NAMES
from scripts.report import build_findings
from scripts.report.build_findings import Built, audited, checked, proven
from scripts.report.value_tables import repetitions
from scripts.report.verdict import Finding, measured, noise_sentence
from scripts.vocabulary import AA, BLOCK, CELL
from scripts.wording import brief, duration, floor_percent, listing, missing, percent, plural

REMEDIES = {
    "Builds that failed": "They have no figures. Read the reason under Builds, mend it, and make the report again.",
    "Profile used": "A build without its profile is no profile-guided build. Train it again with the same source tree.",
    "Same answers": "A build that answers differently, or was not asked, may be fast because it is wrong.",
    "Builds differ as declared": "An effect may come from something else than what the variants are named after.",
    "The same build against itself": "An effect no larger than this one is chance. More repetitions make it smaller.",
    "Noise floor": "No cell is called faster or slower. Measure the reference twice: variant aa does.",
    "Runs": "Holes leave cells out of the means. `make retry` measures failed runs again.",
    "Blocks": "Pairs that are not whole make intervals wider. A new campaign measures them again.",
    "Same rows": "A statement that answers otherwise is another question: its ratio is left out, and totals mislead.",
    "Order": "A drift of the machine can look like an effect. A new campaign measures in the drawn order.",
    "Alone": "Two runs at a time slow each other down. Measure these again with nothing else running.",
    "Warnings": "What each means and what helps stands in the table below.",
    "Cost of the workflow": "The figures are not affected; the study took longer than it must.",
    "One machine": "Pairs across hosts, boots or programs are split. A new campaign measures all on one.",
}  # fmt: skip


def advised(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, those that are to be read first with what they mean and what helps."""
    return [replace(each, remedy=REMEDIES.get(each.title, "")) if each.state == "look" else each for each in findings]


def statement_findings(statements: pd.DataFrame) -> list[Finding]:
    """Return what to know of the answers in statements.csv; nothing where no SQL was timed."""
    if statements.empty:
        return []
    told = tuple(dict.fromkeys(line for row in statements.itertuples() if (line := _statement_line(row))))
    asked = statements[["workload", "statement"]].drop_duplicates()
    if told:
        text = "Number or content of the rows are not always the same; these pairs give no ratio of the statement."
        return [Finding("Same rows", "look", text, told)]
    text = f"{plural(len(asked), 'timed statement')} had the same number of rows with the same checksum"
    return [Finding("Same rows", "good", f"{text} in every variant, pass and run.")]


def _statement_line(row: tuple) -> str:
    where = f"{row.variant}, {row.workload}, {row.statement}, {row.cache}"
    if row.n_answers > 1:
        return f"{where}: {int(row.n_answers)} different answers in {plural(int(row.n_ok), 'run')}"
    if row.variant != AA and not missing(row.n_differ) and row.n_differ:
        return f"{where}: another answer than the reference in {plural(int(row.n_differ), 'block')}"
    return ""


PAUSE_S = 60
OWN_SHARE_GOAL = 0.01


def run_name(row: tuple) -> str:
    """Write which run it is in words."""
    return f"{row.variant}, {row.workload}, {plural(int(row.clients), 'client')}, repetition {int(row.repetition)}"


def run_order(study: dict, runs: pd.DataFrame) -> Finding:
    """Compare the order in which each block's runs began with the order drawn from the seed."""
    began = runs.dropna(subset="started_at").sort_values("started_at")
    actual = {key: list(group["variant"]) for key, group in began.groupby(list(BLOCK))}
    planned = {tuple(block[:3]): list(block[3]) for block in study.get("order") or []}
    kept = sum([name for name in planned.get(key, []) if name in ran] == ran for key, ran in actual.items())
    text = f"{kept} of {plural(len(actual), 'block')} ran in the order drawn from seed {study.get('seed')}."
    return Finding("Order", "good" if kept == len(actual) else "look", text)


def overlaps(runs: pd.DataFrame) -> Finding:
    """Look for a run that began before an earlier one had ended, on one host."""
    timed = runs.dropna(subset=["started_at", "ended_at"]).sort_values("started_at")
    ends = timed.groupby("machine_id")["ended_at"].transform(lambda ended: ended.cummax().shift())
    found = timed[timed["started_at"] < ends]
    text = (
        f"{plural(len(found), 'run')} began before another had ended." if len(found) else "No two runs overlap in time."
    )
    return Finding("Alone", "look" if len(found) else "good", text, tuple(run_name(row) for row in found.itertuples()))


def own_gaps(runs: pd.DataFrame) -> tuple[float, float, list[float]]:
    """Return (seconds between consecutive runs, span in seconds, pauses in seconds).

    A gap runs from one run's ended_at to the next one's started_at; the span from the first start to the last end,
    without the pauses. A pause is a gap of more than 60 s, or one in which a run lies that left no times: then the
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
    """Tell which share of the study's time lay between runs: what the workflow itself costs."""
    gaps_s, span_s, pauses = own_gaps(runs)
    if not span_s:
        return Finding("Cost of the workflow", "plain", "No run has times.")
    share = gaps_s / span_s
    text = f"{percent(share)} of {duration(span_s)} lay between one run's end and the next one's start"
    text += f" (goal: under {percent(OWN_SHARE_GOAL, 0)})."
    if pauses:
        text += f" Not counted: {plural(len(pauses), 'pause')}, {duration(sum(pauses))} in all."
    return Finding("Cost of the workflow", "good" if share < OWN_SHARE_GOAL else "look", text)


def phase_split(runs: pd.DataFrame) -> Finding:
    """Tell what the runs spent their time on."""
    mean_s = runs[[f"phase_{name}_s" for name in PHASE_NAMES]].astype(float).mean()
    named = [(name, mean_s[f"phase_{name}_s"]) for name in PHASE_NAMES if not missing(mean_s[f"phase_{name}_s"])]
    if not named:
        return Finding("Time of a run", "plain", "No run has times.")
    total_s = sum(seconds for _, seconds in named)
    parts = [f"{name} {duration(seconds)} ({percent(seconds / total_s, 0)})" for name, seconds in named]
    rest_s = total_s - sum(seconds for name, seconds in named if name in ("warmup", "measure"))
    text = f"Mean {duration(total_s)}, of which {duration(rest_s)} are neither warming up nor measuring"
    return Finding("Time of a run", "plain", f"{text}: {', '.join(parts)}.")


def findings(study: dict, runs: pd.DataFrame, tables: dict[str, pd.DataFrame], built: Built) -> list[Finding]:
    """Return all findings in the order to show.

    `tables` holds comparisons, cells, overall, overall_unflagged and noise by name.
    """
    of_builds = [audited(study, built), checked(study, built), proven(study, built)]
    failed = build_findings.failed_builds_finding(study, built)
    return [
        *([failed] if failed else []),
        *(finding for finding in of_builds[:1] if finding.state == "look"),
        aa_finding(runs, tables, study["reference"]),
        noise_floor_finding(tables["noise"]),
        *(finding for finding in of_builds[:1] if finding.state != "look"),
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
    title = "The same build against itself"
    rows = {row.metric: row for row in tables["overall"].itertuples() if row.variant == AA and row.n_cells}
    if not rows:
        return Finding(title, "look", "No A/A block has both runs, so nothing here tells noise from effect.")
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
            "The interval over all cells excludes 1, as chance does in one study of twenty: effects of this size "
        )
        more[-1] += "are not to be believed here."
    return Finding(title, "good" if same and not off else "look", text, tuple(more))


def noise_floor_finding(floors: pd.DataFrame) -> Finding:
    """Give the noise floor of every metric, and what it rests on."""
    if floors["floor_log_ratio"].isna().all():
        return Finding("Noise floor", "look", noise_sentence(floors))
    known = floors[floors["floor_log_ratio"].notna()]
    each = [f"{EVERY[row.metric].label} {floor_percent(row.floor_log_ratio)}" for row in known.itertuples()]
    basis = f"{plural(int(floors['n_blocks'].max()), 'A/A block')} in {plural(int(floors['n_cells'].max()), 'cell')}"
    text = f"A cell's mean must differ by more than this to get a word: {'; '.join(each)}. It rests on {basis}."
    return Finding("Noise floor", "plain", text)


def outcomes_finding(runs: pd.DataFrame) -> Finding:
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
    return Finding("Runs", "look" if holes else "good", text, tuple(holes))


def blocks_finding(comparisons: pd.DataFrame) -> Finding:
    """Count pairs that are whole, split and incomplete; split ones are shown with their reason."""
    pairs = comparisons[["variant", "status", "note", *BLOCK]].drop_duplicates()
    status = pairs["status"].value_counts()
    split = pairs[pairs["status"] == "split"]
    text = f"{status.get('paired', 0)} of {plural(len(pairs), 'pair')} (variant and reference in one block) are whole"
    text += f", {len(split)} split, {status.get('incomplete', 0)} incomplete. Split ones are left out of intervals."
    told = tuple(f"{run_name(row)}: {row.note}" for row in split.itertuples())
    return Finding("Blocks", "good" if status.get("paired", 0) == len(pairs) else "look", text, told)


def warnings_finding(runs: pd.DataFrame, tables: dict[str, pd.DataFrame]) -> Finding:
    """Count the warnings, and give the answer without the runs that stand out by one."""
    named = runs["warning_codes"].astype(object).fillna("").map(warning_set)
    codes = named.map(sorted).explode().value_counts()
    if codes.empty:
        return Finding("Warnings", "good", "No run has a warning.")
    text = f"{int(named.map(bool).sum())} of {plural(len(runs), 'run')} have a warning: "
    text += listing([f"{code} in {plural(amount, 'run')}" for code, amount in codes.items()]) + ". None was dropped."
    if not tables["comparisons"]["flagged"].astype(bool).any():
        return Finding("Warnings", "look", text, ("Every run has the same warnings, so none stands out.",))
    lead = leading(tables["overall"]["metric"])
    again, every = (
        {row.variant: row for row in table[table["metric"] == lead.name].itertuples() if row.variant != AA}
        for table in (tables["overall_unflagged"], tables["overall"])
    )
    told = tuple(_restricted(row, every[name], lead) for name, row in again.items())
    return Finding("Warnings", "look", text, told)


def _restricted(row: tuple, every: tuple, lead: Metric) -> str:
    """Give the answer on one variant without the runs that stand out by a warning, and with them."""
    if not row.n_cells:
        return f"{row.variant}: without the runs that stand out by a warning no pair is left"
    over = f"{row.n_cells} of {plural(row.n_cells_planned, 'cell')}"
    without = f"without the runs that stand out by a warning {measured(row)} the {lead.label.lower()} over {over}"
    word = "" if row.word == every.word else f"; the word is then {row.word}, not {every.word}"
    return f"{row.variant}: {without}, with them {measured(every)}{word}"


def steal_finding(runs: pd.DataFrame) -> Finding:
    """Tell how much CPU time the hypervisor gave to others during the windows."""
    shares = runs["steal_share"].dropna()
    if shares.empty:
        return Finding("Steal", "plain", "The kernel does not report steal.")
    text = f"Share of CPU time the hypervisor gave to others in a window: median {percent(shares.median())}"
    return Finding("Steal", "plain", f"{text}, largest {percent(shares.max())}.")


def hosts_finding(runs: pd.DataFrame) -> Finding:
    """Count hosts, boots and sysbench programs: a pair needs the same of each."""
    nouns = {"machine_id": ("host", None), "boot_id": ("boot", None), "sysbench_sha256": ("sysbench program", None)}
    amounts = {key: runs[key].nunique() for key in nouns}
    text = listing([plural(amounts[key], *noun) for key, noun in nouns.items()])
    return Finding("One machine", "good" if max(amounts.values()) <= 1 else "look", f"All runs: {text}.")
