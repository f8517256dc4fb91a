"""List what no config names any more, and remove it when told to."""

import argparse
import contextlib
import subprocess
import sys
from pathlib import Path

from scripts import ROOT
from scripts.commands.arguments import study_of
from scripts.commands.prune import cache as prune_cache
from scripts.commands.prune import leftovers
from scripts.commands.prune.cache import Busy
from scripts.commands.prune.leftovers import Leftover, Named
from scripts.config import expansion
from scripts.config.study import Study
from scripts.config.text import ConfigError
from scripts.host import locks
from scripts.host.entry import say, user_command
from scripts.plan.paths import Paths
from scripts.plan.recipes import Plan
from scripts.wording import duration, plural, size

RESULTS = Path("results")
YES = ("y", "yes")


def main(configs: list[Path], force: bool) -> None:
    """List what is under results/ and named by none of `configs`, and leftovers of killed jobs; remove them if told to.

    On a terminal it asks; without one it removes only with `force`. Raises ConfigError naming every config that has
    mistakes, for what it names cannot be known, and ValueError while a Snakemake works here.
    """
    studies = checked(configs)
    asks = sys.stdin.isatty() and not force
    if (asks or force) and RESULTS.is_dir():
        locks.hold_checkout(RESULTS)
    results = leftovers.unnamed(named_by(studies))
    cache = outside(studies, results)
    tell(results, cache)
    if not (results or cache):
        say("[prune] nothing to remove")
    elif force or (asks and confirmed()):
        remove(results, cache)
    else:
        say("[prune] nothing was removed" + ("" if asks else "; `make prune FORCE=1` removes what is listed"))


def checked(configs: list[Path]) -> dict[str, Study]:
    """Return the studies of config files, at each scale. Raises ConfigError naming all mistakes of all files."""
    studies, mistakes = {}, []
    for config in configs:
        try:
            studies[str(config)] = full = study_of(config, expansion.FULL)
            for size in expansion.declared_scales(full.config)[1:]:
                studies[f"{config} at the scale {size}"] = study_of(config, size)
        except ConfigError as error:
            mistakes.append(str(error))
    if mistakes:
        told = "\n".join(mistakes)
        raise ConfigError(f"{told}\nprune: what these configs name cannot be known, so nothing was removed")
    return studies


def named_by(studies: dict[str, Study]) -> Named:
    """Return what the studies name; of one that cannot be planned on this machine everything that has its names."""
    named = Named()
    for config, study in studies.items():
        paths = Paths(Plan(study, ROOT))
        planned = Named()
        try:
            leftovers.name_planned(planned, paths)
        except (ValueError, OSError, subprocess.SubprocessError) as error:
            say(f"[prune] {config} cannot be planned here, so everything of its names is kept: {error}")
            planned = Named()
            leftovers.name_by_name(planned, paths)
        for kind in ("exact", "patterns", "run_folders"):
            getattr(named, kind).update(getattr(planned, kind))
    return named


def outside(studies: dict[str, Study], results: list[Leftover]) -> list[Leftover]:
    """Return leftovers in the cache and the studies' storages, none while somebody measures or compiles."""
    storages = {place for study in studies.values() for place in study.config.get("storage", {}).values()}
    try:
        return prune_cache.find_in_cache(sorted(storages), results)
    except Busy as error:
        say(f"[prune] {error}: leftovers of killed jobs are not looked for")
        return []


def tell(results: list[Leftover], cache: list[Leftover]) -> None:
    """List everything with size and what it took to make, then the totals."""
    for leftover in results:
        say(f"  {size(leftover.bytes):>10}  {leftover.path}{_cost(leftover)}")
    for leftover in cache:
        say(f"  {size(leftover.bytes):>10}  {leftover.path} (of a job that was killed, or a copy)")
    if results:
        work_s = sum(leftover.work_s or 0.0 for leftover in results)
        runs = sum(leftover.runs for leftover in results)
        say(f"[prune] no config names {plural(len(results), 'thing')}, {size(total(results))}")
        say(f"[prune] lost with them: {duration(work_s)} of building, training and loading; {plural(runs, 'run')}")


def _cost(leftover: Leftover) -> str:
    took = "unknown time" if leftover.work_s is None else duration(leftover.work_s) if leftover.work_s else ""
    told = [part for part in (took, plural(leftover.runs, "run") if leftover.runs else "") if part]
    return f" ({', '.join(told)})" if told else ""


def remove(results: list[Leftover], cache: list[Leftover]) -> None:
    """Remove what was listed; what is outside results/ stays when somebody has begun to measure or compile."""
    for leftover in results:
        leftovers.discard(leftover.path)
    try:
        prune_cache.remove_leftover(cache)
    except Busy as error:
        say(f"[prune] {error}: leftovers of killed jobs stay for now")
        cache = []
    say(f"[prune] removed {size(total(results + cache))}")


def total(found: list[Leftover]) -> int:
    """Return the bytes on disk of all of them."""
    return sum(leftover.bytes for leftover in found)


def confirmed() -> bool:
    """Ask the user; the end of the input is a no."""
    with contextlib.suppress(EOFError):
        return input("Remove all this? An earlier config would have to make it again. [y/N] ").strip().lower() in YES
    return False


def default_configs() -> list[Path]:
    """Return the config files of the checkout."""
    return [ROOT / "config.yaml", *sorted((ROOT / "studies").glob("*.yaml"))]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    about = "config files whose results are kept; default: config.yaml and studies/*.yaml of the checkout"
    parser.add_argument("configs", type=Path, nargs="*", default=default_configs(), metavar="CONFIG", help=about)
    parser.add_argument("--force", action="store_true", help="remove without a question")
    return parser.parse_args()


if __name__ == "__main__":
    with user_command():
        main(**vars(_arguments()))
