"""Keep Snakemake's records of jobs beside the results, so that both are moved and copied together.

Without them Snakemake compares only dates: after a plain copy, which has new dates, it would compile servers again, and
it would not see a changed param.
"""

import inspect
import shutil
from pathlib import Path

from snakemake.persistence.file import FilePersistence

from scripts.workflow.snakemake_release import other_snakemake

KEPT = ".snakemake"
OWN = Path(".snakemake")
METADATA = OWN / "metadata"


def keep(results: Path) -> None:
    """Move Snakemake's records into `results` and leave a link; the caller holds the lock of the directory."""
    if METADATA.is_dir() and not METADATA.is_symlink() and not (results / KEPT).exists():
        shutil.move(METADATA, results / KEPT)
        follow(results)


def follow(results: Path) -> None:
    """Link `results/.snakemake` to where Snakemake, which opens its records later, looks for them.

    Raises OtherSnakemake if it keeps them elsewhere.
    """
    _expect_layout()
    are_kept = (results / KEPT).is_dir()
    if METADATA.is_symlink() and not are_kept:
        METADATA.unlink()
    if not are_kept or METADATA.is_symlink():
        return
    # Without this folder Snakemake takes the records for those of an old release, and reads them all.
    (OWN / "incomplete").mkdir(parents=True, exist_ok=True)
    if METADATA.is_dir() and not any(METADATA.iterdir()):
        METADATA.rmdir()  # left behind by a dry run in a fresh checkout
    if not METADATA.exists():
        METADATA.symlink_to(Path("..", results, KEPT))


def _expect_layout() -> None:
    code = inspect.getsource(FilePersistence.__init__)
    for folder in ("metadata", "incomplete"):
        if f'os.path.join(self.path, "{folder}")' not in code:
            raise other_snakemake(f"FilePersistence has no folder {folder}")
