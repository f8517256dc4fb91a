"""An import replaces the one before as a whole, or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MADE = ("runs", "tables", "figures", "study.json", "runs.txt",
        "report.html", "summary.md", "answer.json", "verdict.json")  # fmt: skip
BEFORE = ".before"
# Present while everything of the earlier import, and nothing else, is below BEFORE.
WHOLE = "whole"


@contextmanager
def replacing(folder: Path) -> Iterator[None]:
    """Set aside what an earlier import made below a folder while the body makes it again.

    If the body raises, what it made is removed and the earlier import is back. After a kill the earlier one is back
    when the next import starts.
    """
    before = folder / BEFORE
    if before.is_dir():
        _restore(folder, before)
    before.mkdir(parents=True)
    for name in MADE:
        if (folder / name).exists():
            (folder / name).rename(before / name)
    (before / WHOLE).touch()
    try:
        yield
    except BaseException:
        _restore(folder, before)
        raise
    (before / WHOLE).unlink()
    shutil.rmtree(before)


def _restore(folder: Path, before: Path) -> None:
    """Put back what was set aside; where that is not whole, only what has no successor."""
    is_whole = (before / WHOLE).exists()
    for name in MADE:
        if is_whole:
            _remove(folder / name)
        if (before / name).exists() and not (folder / name).exists():
            (before / name).rename(folder / name)
    shutil.rmtree(before)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
