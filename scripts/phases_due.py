"""The lines of a plan on its phases: how much of each is to be made, how long that takes, and why."""

from collections import Counter
from collections.abc import Iterable

from scripts import diagnoses_due, failures
from scripts.diagnoses import Diagnoses
from scripts.due import Due, Thing
from scripts.durations import PHASES, Durations, Estimate
from scripts.reasons import FAILED, Reasons
from scripts.run_reasons import RunReasons
from scripts.sizes import Sizes, amount
from scripts.wording import plural

MOST_NAMES = 6
MOST_REASONS = 6
INDENT = " " * 12


def lines(reasons: Reasons, runs: RunReasons, durations: Durations, sizes: Sizes) -> list[str]:
    """Return the lines of all phases with something to make; one line when there is nothing."""
    due = reasons.due
    if not due.report:
        made = f"{plural(len(due.paths.runs), 'run')} and the report are there"
        return [f"  nothing to make or measure: {made}; the report follows its texts and code", *given_up(due)]
    found = fetch(reasons, sizes)
    for phase, kind in PHASES.items():
        if made := due.of(kind):
            found += [row(phase, len(made), len(due.things[kind]), told(durations.phases[phase])), *why(reasons, made)]
    if due.checks:
        checks = len(due.paths.checks) + len(due.paths.audits) + 1
        found.append(row("check", len(due.checks), checks, told(durations.phases["check"])))
    if due.runs:
        found += [row("measure", len(due.runs), len(due.paths.runs), told(durations.phases["measure"]))]
        found += measured(runs)
    if extra := diagnoses_due.paths(due):
        planned = len(Diagnoses(due.paths).of_paths)
        found.append(row("diagnose", len(extra), planned, told(diagnoses_due.estimate(due, durations))))
    return [*found, *given_up(due), f"  report    {due.paths.study}/report.html", summed(durations)]


def row(phase: str, count: int, total: int, rest: str) -> str:
    """Return a phase's first line."""
    return f"  {phase:<8}{count:>6} of {total:<5} {rest}"


def told(estimate: Estimate) -> str:
    """Return an estimate with what it rests on."""
    return f"{duration(estimate.seconds)}, {'as last on this machine' if estimate.measured else 'a stated estimate'}"


def fetch(reasons: Reasons, sizes: Sizes) -> list[str]:
    """Return the lines on fetching."""
    due = reasons.due
    if not (sources := due.of("source")):
        return []
    known = [sizes.fetched(thing) for thing in sources]
    unknown = [thing.server for thing, size in zip(sources, known, strict=True) if size.mib is None]
    parts = [f"{amount(sum(size.mib or 0 for size in known))} to fetch"] if len(unknown) < len(sources) else []
    parts += [f"{', '.join(unknown)}: bytes unknown"] if unknown else []
    return [row("fetch", len(sources), len(due.things["source"]), ", ".join(parts)), *why(reasons, sources)]


def why(reasons: Reasons, things: Iterable[Thing]) -> list[str]:
    """Return the reasons of things, those of one reason and server together."""
    found: dict[tuple[str, str], list[Thing]] = {}
    for thing in things:
        found.setdefault((merged(reasons.of(thing)), thing.server), []).append(thing)
    return shortened(
        f"{server} {listed(thing.name for thing in same)}: {reasons.of(same[0])}"
        if same[0].kind != "source"
        else f"{server}: {reasons.of(same[0])}"
        for (_, server), same in found.items()
    )


def merged(reason: str) -> str:
    """Return a reason without the log it names: failures stand together, the first one's log for all."""
    return FAILED if reason.startswith(FAILED) else reason


def measured(runs: RunReasons) -> list[str]:
    """Return the reasons of runs, with the variants and workloads they are of."""
    whole: dict[str, tuple[str, Counter[tuple[str, str]]]] = {}
    for reason, counted in runs.table.items():
        whole.setdefault(merged(reason), (reason, Counter()))[1].update(counted)
    study = runs.paths.plan.study
    return shortened(
        f"{plural(counted.total(), 'run')}{of_groups(counted, list(study.variants), study.workloads)}: {reason}"
        for reason, counted in whole.values()
    )


def of_groups(counted: Counter[tuple[str, str]], variants: list[str], workloads: list[str]) -> str:
    """Return of which variants and workloads runs are, where these are not all."""
    arms = [name for name in variants if any(group[0] == name for group in counted)]
    loads = [name for name in workloads if any(group[1] == name for group in counted)]
    return (f" of {listed(arms)}" if arms != variants else "") + (
        f" under {listed(loads)}" if loads != workloads else ""
    )


def listed(names: Iterable[str]) -> str:
    """Return names, the first few of many."""
    known = list(dict.fromkeys(names))
    more = f" and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES else ""
    return ", ".join(known[:MOST_NAMES]) + more


def shortened(reasons: Iterable[str]) -> list[str]:
    """Return the lines of reasons, the first few of many."""
    known = list(reasons)
    more = [f"and {len(known) - MOST_REASONS} more reasons"] if len(known) > MOST_REASONS else []
    return [INDENT + line for line in [*known[:MOST_REASONS], *more]]


def given_up(due: Due) -> list[str]:
    """Return a line on builds that failed before and are not tried again by themselves."""
    known = {thing: due.listing.record(thing.record) or {} for thing in due.things["build"]}
    names = [f"{thing.server} {thing.name}" for thing, facts in known.items() if failures.has_failed(facts)]
    return [f"  failed    {listed(names)}: not tried again unless `make retry` removes it"] if names else []


def summed(durations: Durations) -> str:
    """Return the line on time, compiling and measuring apart from the rest."""
    seconds = {phase: estimate.seconds for phase, estimate in durations.phases.items()}
    apart = {"compiling": seconds.pop("compile"), "measuring": seconds.pop("measure")}
    parts = [f"{name} {duration(spent_s)}" for name, spent_s in {**apart, "the rest": sum(seconds.values())}.items()]
    return f"  time      {', '.join(parts)}"


def duration(seconds: float) -> str:
    """Return a duration in the unit a person would use."""
    match seconds:
        case 0:
            return "nothing"
        case _ if seconds < 100:
            return f"about {seconds:.0f} s"
        case _ if seconds < 3 * 3600:
            return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"
