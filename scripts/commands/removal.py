"""How `make prune`, `make retry` and `make drop` remove results: select, show, confirm, remove."""

from collections.abc import Callable, Iterable
from pathlib import Path

from scripts.lib.host import locks, workplace
from scripts.lib.host.entry import say

RESULTS = Path("results")


def hold_results() -> None:
    """Keep every Snakemake out of the results until this process ends. Raises ValueError while one works there."""
    if RESULTS.is_dir():
        locks.hold_checkout(RESULTS)


def carry_out(
    shown: Iterable[str],
    steps: Iterable[Callable[[], str | None]],
    is_confirmed: Callable[[], bool] = lambda: True,
    refused: str = "",
) -> None:
    """Print what was selected; if that is confirmed, take the steps that remove it, and print the lines they return.

    The name of a command can be confirmation enough; `refused` is printed after a no.
    """
    for line in shown:
        say(line)
    lines = (step() for step in steps) if is_confirmed() else iter([refused])
    for line in filter(None, lines):
        say(line)


def discard(path: Path) -> None:
    """Remove a file or a folder; records first, so that a folder left by a kill in between never looks whole."""
    if path.is_dir():
        for file in (*path.glob("*.json"), *path.glob("*/*.json")):
            file.unlink()
        workplace.remove(path)
    else:
        path.unlink(missing_ok=True)
