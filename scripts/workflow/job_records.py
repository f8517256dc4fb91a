"""Keep what Snakemake remembers of each job beside the results, so that both are moved and copied together.

Without it Snakemake goes by dates alone: a plain copy has new ones, so servers would be compiled again, and a changed
param would go unseen.
"""

import shutil
from pathlib import Path

KEPT = ".snakemake"
OWN = Path(".snakemake")
METADATA = OWN / "metadata"


def keep(results: Path) -> None:
    """Move Snakemake's records into `results` and leave a link; the caller holds the lock of the directory."""
    if METADATA.is_dir() and not METADATA.is_symlink() and not (results / KEPT).exists():
        shutil.move(METADATA, results / KEPT)
        follow(results)


def follow(results: Path) -> None:
    """Let Snakemake, which opens its records later, find those in `results`, from wherever they were brought."""
    kept = (results / KEPT).is_dir()
    if METADATA.is_symlink() and not kept:
        METADATA.unlink()
    if not kept or METADATA.is_symlink():
        return
    # Snakemake takes records without this folder for those of an old release, and reads them all.
    (OWN / "incomplete").mkdir(parents=True, exist_ok=True)
    if METADATA.is_dir() and not any(METADATA.iterdir()):
        METADATA.rmdir()  # what a dry run in a fresh checkout leaves behind
    if not METADATA.exists():
        METADATA.symlink_to(Path("..", results, KEPT))
