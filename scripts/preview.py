"""The plan: what a study would make and why, how long and how much that would be, and which limits it would hit."""

from scripts import client_host, file_systems, headroom, limits, phases_due, split_blocks
from scripts.due import Due
from scripts.durations import Durations
from scripts.headroom import Limit
from scripts.listing import Listing
from scripts.paths import Paths
from scripts.reasons import Reasons
from scripts.run_reasons import RunReasons
from scripts.sizes import Sizes, amount
from scripts.split_blocks import Split
from scripts.topology import format_cpus
from scripts.wording import plural
from scripts.workplace import cache_path


def text(paths: Paths, cores: int) -> str:
    """Return the plan of a study as lines; nothing is written, and of runs one record for each variant is read."""
    due = Due(paths, Listing())
    reasons = Reasons(due)
    runs = RunReasons(reasons)
    durations = Durations(due, runs, cores)
    sizes = Sizes(due, durations)
    lines = [f"plan of study {paths.plan.study.name}"]
    lines += phases_due.lines(reasons, runs, durations, sizes)
    if due.report:
        lines += bytes_line(due, sizes)
        lines += machine_line(paths, durations)
        lines += split_lines(due, durations)
        found = limits.find(due, sizes, headroom.read(), str(cache_path()))
        lines += map(limit_line, [*found, *misplaced(paths)])
    return "\n".join(lines) + "\n\n"


def refusals(paths: Paths) -> list[str]:
    """Return the limits, one a line, beyond which the clients of what is due would not be granted what they need."""
    due = Due(paths, Listing())
    sizes = Sizes(due, Durations(due, RunReasons(Reasons(due)), cores=1))
    found = limits.find(due, sizes, headroom.read(), str(cache_path()))
    return [f"{limit.text}; {limit.remedy}" for limit in found if limit.refused]


def bytes_line(due: Due, sizes: Sizes) -> list[str]:
    """Return what is copied and kept; what is fetched stands at its phase."""
    copied, kept = sizes.copied(), sizes.kept()
    results = file_systems.of("results")
    places = {sizes.storage(variant) or str(cache_path()) for variant, _ in due.groups}
    if due.of("profile"):
        places.add(str(cache_path()))
    without = sorted(
        {place.name for path in places if not file_systems.clones(results, place := file_systems.of(path))}
    )
    how = f" in full: no cloning of blocks (reflink) to {', '.join(without)}" if without else " by cloning blocks"
    parts = [f"{amount(copied.mib)} to copy{how}"] if copied.mib else []
    of = ", ".join(f"{name} {amount(size.mib)}" for name, size in kept.items() if size.mib)
    parts += [f"about {amount(sum(size.mib for size in kept.values()))} to keep ({of})"] if of else []
    return [f"  bytes     {'; '.join(parts)}"] if parts else []


def machine_line(paths: Paths, durations: Durations) -> list[str]:
    """Return cores and placement."""
    cores = plural(durations.cores, "core")
    try:
        found = client_host.here(paths.plan.study.config)
    except ValueError:
        return [f"  machine   {cores}"]
    server, client = format_cpus(found.server_cpus), f", load generator on CPU {format_cpus(found.client_cpus)}"
    where = f"server on CPU {server}{'' if found.mode == 'remote' else client}"
    return [f"  machine   {cores} to compile; {where} ({found.note})"]


def misplaced(paths: Paths) -> list[Limit]:
    """Return the limit that a placement this machine cannot give is."""
    try:
        client_host.here(paths.plan.study.config)
    except ValueError as error:
        return [Limit(str(error), "choose CPUs that are there, or automatic", certain=True)]
    return []


def split_lines(due: Due, durations: Durations) -> list[str]:
    """Return how many blocks measuring would split, and what it would cost to measure all of them anew."""
    phases = durations.phases
    preparing_s = sum(phases[name].seconds for name in phases if name != "measure")
    found = split_blocks.find(due, preparing_s, durations.run.seconds)
    return split_text(found, due, durations.run.seconds) if found.blocks else []


def split_text(found: Split, due: Due, run_s: float) -> list[str]:
    """Return the lines on split blocks."""
    config, runs = due.paths.plan.study.config, len(due.paths.runs)
    far = "after a reboot" if found.other_boot else f"over {config['block_span_s']:g} s after the others"
    added = f"; {phases_due.listed(found.added)} would join a study measured before" if found.added else ""
    split = f"{len(found.blocks)} of {found.total} blocks would be split"
    why = f"runs of {phases_due.listed(found.variants)} come {far} and are not compared with them{added}"
    anew = f"`campaign: {config['campaign'] + 1}` measures all {runs} runs anew, {phases_due.duration(runs * run_s)}"
    return [f"  blocks    {split}: {why}", phases_due.INDENT + anew]


def limit_line(limit: Limit) -> str:
    """Return the line on a limit."""
    return f"  limit     {'WILL BE HIT' if limit.certain else 'may be hit'}: {limit.text}; {limit.remedy}"
