"""The plan as text: what a study would make and why, time, bytes, and the limits it would hit."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.lib.host import locks, outcome, storage
from scripts.lib.host.cache import cache_path
from scripts.lib.host.cpus import format_cpus
from scripts.lib.vocabulary import SLICES, STATEMENTS, TURNS
from scripts.lib.wording import plural, share
from scripts.measure.engine import disk_load
from scripts.measure.loadgen import client_host
from scripts.report.analysis.widening import widened_for
from scripts.study.config.run_time import stated_s
from scripts.study.plan import looks, methods, precision_rule
from scripts.study.plan.diagnosis_plan import Diagnoses
from scripts.study.plan.memory_room import amount_text
from scripts.study.plan.preview import checks, limits
from scripts.study.plan.preview.differences import RecipeDifference
from scripts.study.plan.preview.due import Due, Thing
from scripts.study.plan.preview.estimates import (
    PHASES,
    DurationEstimate,
    Durations,
    Sizes,
    diagnosis_estimate,
    diagnosis_paths,
    total_mib,
)
from scripts.study.plan.preview.execution import noexec_limits
from scripts.study.plan.preview.limit import MachineLimit
from scripts.study.plan.preview.pools import beyond_pool
from scripts.study.plan.preview.rerun_reasons import (
    Changed,
    FailedBefore,
    MeasuredBeside,
    New,
    Reason,
    Reasons,
    Remade,
    RunReasons,
)
from scripts.study.plan.schedule import Schedule

MOST_NAMES = 6
# A stated estimate: a disk that reads and writes as much at the same time.
COPIED_MIB_PER_S = 200
MOST_REASONS = 6
MOST_DIFFERENCES = 3
INDENT = " " * 12


def phase_lines(reasons: Reasons, runs: RunReasons, durations: Durations, sizes: Sizes) -> list[str]:
    """Return the lines of all phases with something to make; one line when there is nothing."""
    due = reasons.due
    if not due.report:
        ready = f"{plural(len(due.paths.runs), 'run')} and the report are there"
        return [f"  nothing to make or measure: {ready}; the report follows its texts and code", *given_up_lines(due)]
    lines = fetch_lines(reasons, sizes)
    for phase, kind in PHASES.items():
        if things := due.of(kind):
            lines += [
                phase_row(phase, len(things), len(due.things[kind]), estimate_text(durations.phases[phase])),
                *why_lines(reasons, things),
            ]
    if due.checks:
        checks = len(due.paths.checks) + len(due.paths.audits) + 1
        lines.append(phase_row("check", len(due.checks), checks, estimate_text(durations.phases["check"])))
    if due.runs:
        measuring = durations.phases["measure"]
        how_long = estimate_text(measuring) + untimed_text(due, measuring)
        lines += [phase_row("measure", len(due.runs), len(due.paths.runs), how_long)]
        lines += measured_lines(runs)
    if extra := diagnosis_paths(due):
        planned = len(Diagnoses(due.paths).of_paths)
        lines.append(phase_row("diagnose", len(extra), planned, estimate_text(diagnosis_estimate(due, durations))))
    return [
        *lines,
        *given_up_lines(due),
        f"  report    {due.paths.study}/report.html",
        summed_text(durations, copying_s(due, sizes, durations)),
    ]


def phase_row(phase: str, count: int, total: int, rest: str) -> str:
    """Return a phase's first line."""
    return f"  {phase:<8}{count:>6} of {total:<5} {rest}"


def estimate_text(estimate: DurationEstimate) -> str:
    """Return an estimate with what it rests on."""
    unmeasured = "estimated from the size of the sources" if estimate.by_size else "a stated estimate"
    return f"{duration_text(estimate.seconds)}, {'as last on this machine' if estimate.measured else unmeasured}"


def untimed_text(due: Due, measuring: DurationEstimate) -> str:
    """Return what an estimate leaves out: timed statements, whose time no study states, until a run has shown it."""
    workloads = due.paths.plan.study.declared.workloads
    timed = any(workloads[run.workload].sql for run in due.runs.values())
    return ", without the time of the statements" if timed and not measuring.measured else ""


def fetch_lines(reasons: Reasons, sizes: Sizes) -> list[str]:
    """Return the lines on fetching."""
    due = reasons.due
    if not (sources := due.of("source")):
        return []
    sizes_of = [sizes.fetched(thing) for thing in sources]
    unknown = [thing.server for thing, size in zip(sources, sizes_of, strict=True) if size.mib is None]
    parts = [f"{amount_text(sum(size.mib or 0 for size in sizes_of))} to fetch"] if len(unknown) < len(sources) else []
    parts += [f"{', '.join(unknown)}: bytes unknown"] if unknown else []
    return [phase_row("fetch", len(sources), len(due.things["source"]), ", ".join(parts)), *why_lines(reasons, sources)]


def why_lines(reasons: Reasons, things: Iterable[Thing]) -> list[str]:
    """Return the reasons of things, one line per reason and server."""
    alike: dict[tuple[Reason, str], list[Thing]] = {}
    for thing in things:
        alike.setdefault((merged_reason(reasons.of(thing)), thing.server), []).append(thing)
    names = {
        key: "" if same[0].kind == "source" else f" {listed_names(thing.name for thing in same)}"
        for key, same in alike.items()
    }
    return shortened_lines(
        f"{server}{names[reason, server]}: {reason_text(reasons.of(same[0]))}"
        for (reason, server), same in alike.items()
    )


def merged_reason(reason: Reason) -> Reason:
    """Return a reason without its log: failures share a line, which names the first one's log."""
    return FailedBefore("") if isinstance(reason, FailedBefore) else reason


def reason_text(reason: Reason) -> str:
    """Return a reason in words."""
    match reason:
        case New(clients=None, repetitions=False):
            return "new"
        case New(repetitions=True):
            return "new: more repetitions"
        case New(clients=clients):
            return f"new: {clients} clients"
        case MeasuredBeside():
            return "measured again beside the others of their blocks"
        case FailedBefore(log):
            return f"failed, was interrupted or removed before: {log}"
        case Remade(root, why):
            return f"{root.kind} {root.name} is made again ({reason_text(why)})"
        case Changed(()):
            return "another version exists; what differs was not recorded"
        case Changed(differences):
            more = len(differences) - MOST_DIFFERENCES
            parts = [difference_text(difference) for difference in differences[:MOST_DIFFERENCES]]
            return "; ".join([*parts, *([f"and {plural(more, 'more difference')}"] if more > 0 else [])])


def difference_text(difference: RecipeDifference) -> str:
    """Return a difference as `path: old → new`."""
    if difference.old is None:
        return f"{difference.path}: differs, and the recipe of the earlier one was not recorded"
    return f"{difference.path}: {difference.old} → {difference.new}"


def measured_lines(runs: RunReasons) -> list[str]:
    """Return the reasons of runs with their variants and workloads."""
    merged: dict[Reason, tuple[Reason, Counter[tuple[str, str]]]] = {}
    for reason, counted in runs.table.items():
        merged.setdefault(merged_reason(reason), (reason, Counter()))[1].update(counted)
    study = runs.paths.plan.study
    return shortened_lines(
        f"{plural(counted.total(), 'run')}{groups_text(counted, list(study.arms), study.workloads)}: "
        f"{reason_text(reason)}"
        for reason, counted in merged.values()
    )


def groups_text(counted: Counter[tuple[str, str]], variants: list[str], workloads: list[str]) -> str:
    """Return the variants and workloads of runs, each where it is not all of the study's."""
    arms = [name for name in variants if any(group[0] == name for group in counted)]
    loads = [name for name in workloads if any(group[1] == name for group in counted)]
    return (f" of {listed_names(arms)}" if arms != variants else "") + (
        f" under {listed_names(loads)}" if loads != workloads else ""
    )


def listed_names(names: Iterable[str]) -> str:
    """Return names as a list; of many the first few."""
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - MOST_NAMES} more" if len(listed) > MOST_NAMES else ""
    return ", ".join(listed[:MOST_NAMES]) + more


def shortened_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines of reasons, indented; of many the first few."""
    listed = list(lines)
    more = [f"and {len(listed) - MOST_REASONS} more reasons"] if len(listed) > MOST_REASONS else []
    return [INDENT + line for line in [*listed[:MOST_REASONS], *more]]


def given_up_lines(due: Due) -> list[str]:
    """Return a line on builds that failed before and are not tried again."""
    records = {thing: due.listing.record(thing.record) or {} for thing in due.things["build"]}
    names = [f"{thing.server} {thing.name}" for thing, facts in records.items() if outcome.has_failed(facts)]
    return [f"  failed    {listed_names(names)}: not tried again unless `make retry` removes it"] if names else []


def summed_text(durations: Durations, copied_s: float) -> str:
    """Return the line on time: compiling, measuring, copying where that is not done by cloning, and the rest."""
    seconds = {phase: estimate.seconds for phase, estimate in durations.phases.items()}
    apart = {"compiling": seconds.pop("compile"), "measuring": seconds.pop("measure")}
    apart |= {"copying snapshots": copied_s} if copied_s else {}
    parts = [
        f"{name} {duration_text(spent_s)}" for name, spent_s in {**apart, "the rest": sum(seconds.values())}.items()
    ]
    return f"  time      {', '.join(parts)}"


def copying_s(due: Due, sizes: Sizes, durations: Durations) -> float:
    """Return the seconds of copying snapshots in full; 0 where blocks are cloned, or runs as measured include it."""
    if durations.run.measured or not without_cloning(due, sizes):
        return 0
    return (sizes.copied().mib or 0) / COPIED_MIB_PER_S


def without_cloning(due: Due, sizes: Sizes) -> list[str]:
    """Return the names of the file systems to which snapshots are copied in full."""
    results = storage.file_system_of("results")
    places = {sizes.storage(variant) or str(cache_path()) for variant, _ in due.groups}
    if due.of("profile"):
        places.add(str(cache_path()))
    systems = map(storage.file_system_of, places)
    return sorted({system.name for system in systems if not storage.can_reflink(results, system)})


def duration_text(seconds: float) -> str:
    """Return a duration in the unit a person would use."""
    match seconds:
        case 0:
            return "nothing"
        case _ if seconds < 100:
            return f"about {seconds:.0f} s"
        case _ if seconds < 3 * 3600:
            return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"


def plan_text(paths: Schedule, cores: int, forced: Sequence[str] = ()) -> str:
    """Return the plan of a study as lines; nothing is written, and of runs a few records per variant are read.

    `forced` names what Snakemake runs again whatever its files say.
    Raises ConfigError for archives that do not exist and options that a sysbench script does not have.
    """
    due = Due(paths)
    notes = checks.demand(due)
    reasons = Reasons(due)
    runs = RunReasons(reasons)
    durations = Durations(due, runs, cores)
    sizes = Sizes(due, durations)
    lines = [f"plan of study {paths.plan.study.name}"]
    lines += running_line()
    lines += forced_line(forced)
    lines += phase_lines(reasons, runs, durations, sizes)
    if due.report:
        lines += bytes_line(due, sizes)
        lines += machine_line(paths, durations)
        lines += method_lines(due)
        lines += stopping_line(paths)
        lines += looks_line(paths)
        lines += [f"  pool      {text}" for text in beyond_pool(due)]
        hit = limits.find_limits(due, sizes, limits.read_headroom(), str(cache_path()))
        lines += map(limit_line, [*noexec_limits(due, str(cache_path())), *hit, *misplaced(paths)])
        lines += [f"  note      {note}" for note in notes]
    return "\n".join(lines) + "\n\n"


def forced_line(forced: Sequence[str]) -> list[str]:
    """Return a line on what is run again by force, beside the plan; no rule makes a block that is measured."""
    again = f"run again by force beside this plan: {', '.join(forced)}"
    stays = "blocks that are measured stay, and another `campaign` measures them again"
    return [f"  forced    {again}; {stays}"] if forced else []


def running_line() -> list[str]:
    """Return a line on another Snakemake that works in this checkout: what it has begun has a log and no result."""
    if (holder := locks.checkout_holder(Path("results"))) in (None, os.getpid()):
        return []
    return [f"  running   process {holder} works here now; what it has begun is listed below as if it had failed"]


def refusals(paths: Schedule) -> list[str]:
    """Return the limits, one per line, with which a study is not started."""
    due = Due(paths)
    sizes = Sizes(due, Durations(due, RunReasons(Reasons(due)), cores=1))
    hit = limits.find_limits(due, sizes, limits.read_headroom(), str(cache_path()))
    hit = [*noexec_limits(due, str(cache_path())), *hit]
    return [f"{limit.text}; {limit.remedy}" for limit in hit if limit.refused]


def bytes_line(due: Due, sizes: Sizes) -> list[str]:
    """Return the line on bytes to copy and to keep; bytes to fetch stand at their phase."""
    copied, kept_sizes = sizes.copied(), sizes.kept()
    without = without_cloning(due, sizes)
    how = f" in full: no cloning of blocks (reflink) to {', '.join(without)}" if without else " by cloning blocks"
    parts = [f"{amount_text(copied.mib)} to copy{how}"] if copied.mib else []
    of = ", ".join(f"{name} {amount_text(size.mib)}" for name, size in kept_sizes.items() if size.mib)
    parts += [f"about {amount_text(total_mib(kept_sizes.values()))} to keep ({of})"] if of else []
    return [f"  bytes     {'; '.join(parts)}"] if parts else []


def machine_line(paths: Schedule, durations: Durations) -> list[str]:
    """Return cores and placement."""
    cores = plural(durations.cores, "core")
    if methods.has_running_server(paths.plan):
        return [f"  machine   {cores}, all for the load generator; the servers already run, and nothing restarts"]
    try:
        placement = client_host.placement_of_study(paths.plan.study.hosts)
    except ValueError:
        return [f"  machine   {cores}"]
    server = f"server on CPU {format_cpus(placement.server_cpus or ())}"
    client = f", load generator on CPU {format_cpus(placement.client_cpus or ())}"
    where = server if placement.mode == "remote" else f"{server}{client}"
    return [f"  machine   {cores} to compile; {where} ({placement.note})"]


def misplaced(paths: Schedule) -> list[MachineLimit]:
    """Return a limit if this machine cannot satisfy the placement."""
    try:
        client_host.placement_of_study(paths.plan.study.hosts)
    except ValueError as error:
        return [MachineLimit(str(error), "choose CPUs that are there, or automatic", certain=True)]
    return []


TOGETHER = {SLICES: "in slices", STATEMENTS: "statement by statement"}


def method_lines(due: Due) -> list[str]:
    """Return how the blocks are measured: one line for those side by side, one per reason for those by turns."""
    methods_of: dict[tuple[str, str], Counter[str]] = {}
    for block in due.blocks:
        method = due.paths.method(block.key)
        methods_of.setdefault((method.name, method.why), Counter())[block.key.workload] += 1
    lines = []
    for (name, why), counted in methods_of.items():
        by_turns = f"one server after the other: {why}"
        how = by_turns if name == TURNS else f"all servers up, side by side {TOGETHER[name]}"
        where = "" if len(methods_of) == 1 else f" of {listed_names(counted)}"
        lines.append(f"  blocks    {plural(counted.total(), 'block')}{where}, {how}")
    return [*lines, *turning_lines(due)]


def turning_lines(due: Due) -> list[str]:
    """Return a line on the blocks that go by turns if their load proves to be bound by a disk, and the time that takes.

    Their servers are started and warmed up a second time.
    """
    study = due.paths.plan.study
    twice_s = stated_s(study) - study.declared.measure_s
    sliced = [block for block in due.blocks if due.paths.method(block.key).name == SLICES]
    free = [(len(block.arms), turn_s) for block in sliced if (turn_s := due.paths.turn_s(block.key))]
    if not free:
        return []
    limits = ", ".join(disk_load.amount(*limit) for limit in disk_load.LIMITS_PER_S.items())
    taken_s = duration_text(sum(arms * (2 * twice_s + turn_s) for arms, turn_s in free))
    text = f"by turns where the reference, warming up, exceeds one of: {limits} per second; all of them: {taken_s}"
    return [f"{INDENT}{text}"]


def stopping_line(paths: Schedule) -> list[str]:
    """Return when a study with a `precision` stops."""
    stopping, declared = precision_rule.settings(paths.plan.study), paths.plan.study.declared
    if stopping is None or not paths.is_undecided:
        return []
    first, most = max(block.key.repetition for block in paths.blocks), declared.repetitions
    until = f"intervals within ±{share(stopping.precision)}"
    until += f" or {declared.at_most} in blocks" if stopping.at_most_s else ""
    return [f"  stops     after {first} to {most} repetitions: {until}; the plan above is of the first {first}"]


def looks_line(paths: Schedule) -> list[str]:
    """Return by how much earlier reports of the same blocks make the intervals wider."""
    earlier = looks.earlier(Path(paths.study), paths.blocks)
    wider = widened_for(stops=False, looks=len(earlier)) - 1
    before = f"reported before with {', '.join(map(str, earlier))} repetitions"
    return [f"  looks     {before}: another look, intervals {share(round(wider, 3))} wider"] if earlier else []


def limit_line(limit: MachineLimit) -> str:
    """Return the line on a limit."""
    return f"  limit     {'WILL BE HIT' if limit.certain else 'may be hit'}: {limit.text}; {limit.remedy}"
