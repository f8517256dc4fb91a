"""Can the figures be trusted: what the runs, blocks and builds themselves say about it."""

import pandas as pd

from scripts import failed_builds, sql_trust
from scripts.build_trust import Built, audited, checked, proven
from scripts.comparison import AA, warning_set
from scripts.metrics import EVERY, SCRIPT, Metric, leading
from scripts.tables import BLOCK, CELL
from scripts.timeline import order, overlap, own_share, phase_split, run_name
from scripts.value_tables import repetitions
from scripts.verdict import Finding, measured, noise_sentence
from scripts.wording import brief, floor_percent, listing, percent, plural


def findings(study: dict, runs: pd.DataFrame, tables: dict[str, pd.DataFrame], built: Built) -> list[Finding]:
    """Return all findings in the order to show.

    `tables` holds comparisons, cells, overall, overall_unflagged and noise by name.
    """
    of_builds = [audited(study, built), checked(study, built), proven(study, built)]
    failed = failed_builds.finding(study, built)
    return [
        *([failed] if failed else []),
        *(finding for finding in of_builds[:1] if finding.state == "look"),
        same_against_same(runs, tables, study["reference"]),
        floor(tables["noise"]),
        *(finding for finding in of_builds[:1] if finding.state != "look"),
        *of_builds[1:],
        outcomes(runs),
        blocks(tables["comparisons"]),
        *sql_trust.findings(tables["statements"]),
        order(study, runs),
        overlap(runs),
        warned(runs, tables),
        stolen(runs),
        hosts(runs),
        own_share(runs),
        phase_split(runs),
    ]


def same_against_same(runs: pd.DataFrame, tables: dict[str, pd.DataFrame], reference: str) -> Finding:
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


def floor(floors: pd.DataFrame) -> Finding:
    """Give the noise floor of every metric, and what it rests on."""
    if floors["floor_log_ratio"].isna().all():
        return Finding("Noise floor", "look", noise_sentence(floors))
    known = floors[floors["floor_log_ratio"].notna()]
    each = [f"{EVERY[row.metric].label} {floor_percent(row.floor_log_ratio)}" for row in known.itertuples()]
    basis = f"{plural(int(floors['n_blocks'].max()), 'A/A block')} in {plural(int(floors['n_cells'].max()), 'cell')}"
    text = f"A cell's mean must differ by more than this to get a word: {'; '.join(each)}. It rests on {basis}."
    return Finding("Noise floor", "plain", text)


def outcomes(runs: pd.DataFrame) -> Finding:
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


def blocks(comparisons: pd.DataFrame) -> Finding:
    """Count pairs that are whole, split and incomplete; split ones are shown with their reason."""
    pairs = comparisons[["variant", "status", "note", *BLOCK]].drop_duplicates()
    status = pairs["status"].value_counts()
    split = pairs[pairs["status"] == "split"]
    text = f"{status.get('paired', 0)} of {plural(len(pairs), 'pair')} (variant and reference in one block) are whole"
    text += f", {len(split)} split, {status.get('incomplete', 0)} incomplete. Split ones are left out of intervals."
    told = tuple(f"{run_name(row)}: {row.note}" for row in split.itertuples())
    return Finding("Blocks", "good" if status.get("paired", 0) == len(pairs) else "look", text, told)


def warned(runs: pd.DataFrame, tables: dict[str, pd.DataFrame]) -> Finding:
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


def stolen(runs: pd.DataFrame) -> Finding:
    """Tell how much CPU time the hypervisor gave to others during the windows."""
    shares = runs["steal_share"].dropna()
    if shares.empty:
        return Finding("Steal", "plain", "The kernel does not report steal.")
    text = f"Share of CPU time the hypervisor gave to others in a window: median {percent(shares.median())}"
    return Finding("Steal", "plain", f"{text}, largest {percent(shares.max())}.")


def hosts(runs: pd.DataFrame) -> Finding:
    """Count hosts, boots and sysbench programs: a pair needs the same of each."""
    nouns = {"machine_id": ("host", None), "boot_id": ("boot", None), "sysbench_sha256": ("sysbench program", None)}
    amounts = {key: runs[key].nunique() for key in nouns}
    text = listing([plural(amounts[key], *noun) for key, noun in nouns.items()])
    return Finding("One machine", "good" if max(amounts.values()) <= 1 else "look", f"All runs: {text}.")
