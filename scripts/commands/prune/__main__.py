"""List the results that no config names, and remove them after confirmation."""

import argparse
import contextlib
import subprocess
import sys
from pathlib import Path

from scripts import ROOT
from scripts.commands.arguments import study_of
from scripts.commands.prune import cache_leftovers as prune_cache
from scripts.commands.prune import unused_results
from scripts.commands.prune.unused_results import Leftover, Named
from scripts.lib.host import locks
from scripts.lib.host.entry import WrongCall, say, user_command
from scripts.lib.host.locks import Busy
from scripts.lib.wording import duration, plural, size
from scripts.study.config import expansion
from scripts.study.config.loading import Study
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.paths import Paths
from scripts.study.plan.recipes import Plan

RESULTS = Path("results")
YES = ("y", "yes")


def main(configs: list[Path], force: bool, old: bool = False) -> None:
    """List results that none of `configs` names, and leftovers of killed jobs; remove them if confirmed or forced.

    Runs of the layout before blocks are listed apart, and removed only with `old`. A terminal is asked; without one,
    only `force` removes. Raises ConfigError naming every config that has mistakes, because the results it names cannot
    be known, and ValueError while a Snakemake works in this directory.
    """
    studies = checked_studies(configs)
    asks = sys.stdin.isatty() and not force
    if (asks or force) and RESULTS.is_dir():
        locks.hold_checkout(RESULTS)
    found = unused_results.unnamed(named_paths(studies))
    results = [leftover for leftover in found if old or not leftover.is_old]
    cache = leftovers_outside(studies, results)
    list_leftovers(results, cache)
    list_kept([leftover for leftover in found if leftover not in results])
    if not (results or cache):
        say("[prune] nothing to remove")
    elif force or (asks and confirmed()):
        remove(results, cache)
    else:
        say("[prune] nothing was removed" + ("" if asks else "; `make prune FORCE=1` removes what is listed"))


def checked_studies(configs: list[Path]) -> dict[str, Study]:
    """Return the studies of config files, at each scale. Raises ConfigError naming all mistakes of all files."""
    studies, mistakes = {}, []
    for config in configs:
        try:
            studies[str(config)] = full = study_of(config, expansion.FULL)
            for size in expansion.declared_scales(full.config)[1:]:
                studies[f"{config} at the scale {size}"] = study_of(config, size)
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
        paths = Paths(Plan(study, ROOT))
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


def leftovers_outside(studies: dict[str, Study], results: list[Leftover]) -> list[Leftover]:
    """Return leftovers in the cache and in the studies' storages; none while a process measures or compiles."""
    storages = {place for study in studies.values() for place in study.declared.storage.values()}
    try:
        return prune_cache.find_in_cache(sorted(storages), results)
    except Busy as error:
        say(f"[prune] {error}: leftovers of killed jobs are not searched")
        return []


def list_leftovers(results: list[Leftover], cache: list[Leftover]) -> None:
    """Print every leftover with its size and the time it took to make, then the totals."""
    for leftover in results:
        say(f"  {size(leftover.bytes):>10}  {leftover.path}{_cost(leftover)}")
    for leftover in cache:
        say(f"  {size(leftover.bytes):>10}  {leftover.path} (of a killed job, or a copy)")
    if results:
        work_s = sum(leftover.work_s or 0.0 for leftover in results)
        runs = sum(leftover.runs for leftover in results)
        say(f"[prune] no config names {plural(len(results), 'result')}, {size(total_bytes(results))}")
        lost = f"{duration(work_s)} of building, training and loading, and {plural(runs, 'run')}"
        say(f"[prune] removing them loses {lost}")


def list_kept(old: list[Leftover]) -> None:
    """Print the runs of the layout before blocks that stay."""
    for leftover in old:
        say(f"  {size(leftover.bytes):>10}  {leftover.path}{_cost(leftover)}")
    if old:
        runs = plural(sum(leftover.runs for leftover in old), "run")
        kept = f"{runs} of an earlier layout, {size(total_bytes(old))}, are kept"
        say(f"[prune] {kept}; `make prune OLD=1` removes them too")


def _cost(leftover: Leftover) -> str:
    took = "unknown time" if leftover.work_s is None else duration(leftover.work_s) if leftover.work_s else ""
    parts = [part for part in (took, plural(leftover.runs, "run") if leftover.runs else "") if part]
    return f" ({', '.join(parts)})" if parts else ""


def remove(results: list[Leftover], cache: list[Leftover]) -> None:
    """Remove all leftovers; those outside results/ stay if a process has begun to measure or compile."""
    for leftover in results:
        unused_results.discard(leftover.path)
    try:
        prune_cache.remove_leftover(cache)
    except Busy as error:
        say(f"[prune] {error}: leftovers of killed jobs are kept for now")
        cache = []
    say(f"[prune] removed {size(total_bytes(results + cache))}")


def total_bytes(found: list[Leftover]) -> int:
    """Return the bytes on disk of all leftovers."""
    return sum(leftover.bytes for leftover in found)


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
    parser.add_argument("--old", action="store_true", help="remove runs of the layout before blocks too")
    return parser.parse_args()


if __name__ == "__main__":
    with user_command():
        main(**vars(_arguments()))
