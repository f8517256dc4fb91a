"""Results of the layout before blocks: recognised by their folder, neither read, nor removed, nor measured beside."""

from pathlib import Path

from scripts.lib import json_record
from scripts.lib.json_record import LAST_BEFORE_BLOCKS
from scripts.study.plan.schedule import Schedule

RUNS_FOLDER = "runs"


def runs_of_earlier_layout(study: Path) -> Path | None:
    """Return the folder with runs of the layout before blocks that a study's folder has, None without one.

    Runs of imported logs lie in a folder of the same name.
    """
    runs = study / RUNS_FOLDER
    return runs if runs.is_dir() and not is_imported(study) else None


def is_imported(study: Path) -> bool:
    """Return whether the results in a study's folder were made from logs; False where study.json is unreadable."""
    try:
        return bool(json_record.read(study / "study.json").get("imported"))
    except (FileNotFoundError, ValueError):
        return False


def demand_blocks(paths: Schedule) -> None:
    """Raise ValueError when a study to measure has results of the layout before blocks, which blocks would replace."""
    if (runs := runs_of_earlier_layout(Path(paths.study))) and paths.to_measure:
        raise ValueError(
            f"{runs}: holds runs of the layout before blocks, expected none: they are no longer read, and nothing is "
            f"measured beside them; the last commit that renders them is {LAST_BEFORE_BLOCKS}; move "
            f"{paths.study} elsewhere, and the study is measured anew"
        )
