"""List the results that no config names, and remove them after confirmation."""

import argparse
import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from scripts import ROOT
from scripts.commands.arguments import study_of
from scripts.commands.prune import cache_leftovers as prune_cache
from scripts.commands.prune import unused_results
from scripts.commands.prune.unused_results import Named, UnusedResult
from scripts.commands.removal import carry_out, discard, hold_results
from scripts.lib.host.entry import WrongCall, say, user_command
from scripts.lib.host.locks import Busy
from scripts.lib.json_record import LAST_BEFORE_BLOCKS
from scripts.lib.wording import duration, plural, size
from scripts.study.config import expansion
from scripts.study.config.loading import Study
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.earlier_layout import RUNS_FOLDER
from scripts.study.plan.earlier_layout import is_imported as imported
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule

YES = ("y", "yes")


def main(configs: list[Path], force: bool) -> None:
    """List results that none of `configs` names, and leftovers of killed jobs; remove them if confirmed or forced.

    Runs of the layout before blocks, and those of imported logs, are listed apart and stay. A terminal is asked;
    without one, only `force` removes. Raises ConfigError naming every config that has mistakes, because the results
    it names cannot be known, and ValueError while a Snakemake works in this directory.
    """
    studies = checked_studies(configs)
    asks = sys.stdin.isatty() and not force
    if asks or force:
        hold_results()
    named, never_removed = named_paths(studies), unused_results.studies_never_removed()
    named.exact |= set(map(str, never_removed))
    results = unused_results.unnamed(named)
    cache = leftovers_outside(studies, results)
    shown = [*lines_of_leftovers(results, cache), *lines_of_never_removed(never_removed)]
    if not (results or cache):
        carry_out([*shown, "[prune] nothing to remove"], ())
        return
    steps: list[Callable[[], str | None]] = [partial(discard, leftover.path) for leftover in results]
    steps.append(partial(remove_outside, results, cache))
    refused = "[prune] nothing was removed" + ("" if asks else "; `make prune FORCE=1` removes what is listed")
    carry_out(shown, steps, lambda: force or (asks and confirmed()), refused)


def checked_studies(configs: list[Path]) -> dict[str, Study]:
    """Return the studies of config files, at each scale. Raises ConfigError naming all mistakes of all files."""
    studies, mistakes = {}, []
    for config in configs:
        try:
            studies[str(config)] = full = study_of(config, expansion.FULL)
            if full.declared.small:
                studies[f"{config} at the scale {expansion.SMALL}"] = study_of(config, expansion.SMALL)
        except (ConfigError, WrongCall) as error:
            mistakes.append(str(error))
    if mistakes:
        listed = "\n".join(mistakes)
        raise ConfigError(f"{listed}\nprune: the results that these configs name are unknown, so nothing was removed")
    return studies


def named_paths(studies: dict[str, Study]) -> Named:
    """Return the paths that the studies name; if a study cannot be planned here, all paths with its names."""
    named = Named()
    for config, study in studies.items():
        paths = Schedule(Plan(study, ROOT))
        planned = Named()
        try:
            unused_results.name_planned(planned, paths)
        except (ValueError, OSError, subprocess.SubprocessError) as error:
            say(f"[prune] {config} cannot be planned here, so all results with its names are kept: {error}")
            planned = Named()
            unused_results.name_by_name(planned, paths)
        for kind in ("exact", "patterns", "run_folders"):
            getattr(named, kind).update(getattr(planned, kind))
    return named


def leftovers_outside(studies: dict[str, Study], results: list[UnusedResult]) -> list[UnusedResult]:
    """Return leftovers in the cache and in the studies' storages; none while a process measures or compiles."""
    storages = {folder for study in studies.values() for folder in study.declared.storage.values()}
    try:
        return prune_cache.find_in_cache(sorted(storages), results)
    except Busy as error:
        say(f"[prune] {error}: leftovers of killed jobs are not searched")
        return []


def lines_of_leftovers(results: list[UnusedResult], cache: list[UnusedResult]) -> Iterator[str]:
    """Yield every leftover with its size and the time it took to make, then the totals."""
    yield from (f"  {size(leftover.bytes):>10}  {leftover.path}{_cost(leftover)}" for leftover in results)
    yield from (f"  {size(leftover.bytes):>10}  {leftover.path} (of a killed job, or a copy)" for leftover in cache)
    if results:
        work_s = sum(leftover.work_s or 0.0 for leftover in results)
        runs = sum(leftover.runs for leftover in results)
        yield f"[prune] no config names {plural(len(results), 'result')}, {size(total_bytes(results))}"
        lost = f"{duration(work_s)} of building, training and loading, and {plural(runs, 'run')}"
        yield f"[prune] removing them loses {lost}"


def lines_of_never_removed(studies: list[Path]) -> Iterator[str]:
    """Yield the runs of the layout before blocks and those of imported logs, which stay."""
    for is_imported, of in ((False, "the layout before blocks"), (True, "imported logs")):
        stay = [unused_results.weighed(study / RUNS_FOLDER) for study in studies if imported(study) == is_imported]
        yield from (f"  {size(leftover.bytes):>10}  {leftover.path}{_cost(leftover)}" for leftover in stay)
        if stay:
            why = "" if is_imported else f"; the last commit that renders them is {LAST_BEFORE_BLOCKS}"
            runs = plural(sum(leftover.runs for leftover in stay), "run")
            yield f"[prune] {runs} of {of}, {size(total_bytes(stay))}, stay{why}"


def _cost(leftover: UnusedResult) -> str:
    took = "unknown time" if leftover.work_s is None else duration(leftover.work_s) if leftover.work_s else ""
    parts = [part for part in (took, plural(leftover.runs, "run") if leftover.runs else "") if part]
    return f" ({', '.join(parts)})" if parts else ""


def remove_outside(results: list[UnusedResult], cache: list[UnusedResult]) -> str:
    """Remove leftovers outside results/ unless a process has begun to measure or compile; return what is removed."""
    try:
        prune_cache.remove_leftover(cache)
    except Busy as error:
        say(f"[prune] {error}: leftovers of killed jobs are kept for now")
        cache = []
    return f"[prune] removed {size(total_bytes(results + cache))}"


def total_bytes(removed: list[UnusedResult]) -> int:
    """Return the bytes on disk of all leftovers."""
    return sum(leftover.bytes for leftover in removed)


def confirmed() -> bool:
    """Ask the user, and return whether the answer is yes; the end of the input counts as no."""
    with contextlib.suppress(EOFError):
        return input("Remove all of this? An earlier config would have to make it again. [y/N] ").strip().lower() in YES
    return False


def default_configs() -> list[Path]:
    """Return the config files of the checkout."""
    return [ROOT / "config.yaml", *sorted((ROOT / "studies").glob("*.yaml"))]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.prune", description=__doc__)
    about = "config files whose results are kept; default: config.yaml and studies/*.yaml of the checkout"
    parser.add_argument("configs", type=Path, nargs="*", default=default_configs(), metavar="CONFIG", help=about)
    parser.add_argument("--force", action="store_true", help="remove without asking")
    return parser.parse_args()


if __name__ == "__main__":
    with user_command():
        main(**vars(_arguments()))
