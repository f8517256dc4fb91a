"""Render the sample report, docs/sample-report.html, with the code of today from the archive of a finished study.

The archive holds the folder `results` with the records the tables and the page are made from. Its order counts: the
page shows builds, profiles and datasets in the order in which their records are stored.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scripts.build.sources import SourceError
from scripts.build.sources.archive import unpack
from scripts.jobs import collect_runs, compare_variants, export_tables, plot_figures, render_report
from scripts.lib.host.process import CommandFailed, output_of
from scripts.report.analysis import dictionary

BROWSER_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage")
PICTURE_PIXELS, DRAWN_WITHIN_S = (1280, 800), 120
RECORD_NAMES = {
    "facts": "facts.json",
    "audits": "audit.json",
    "checks": "check.json",
    "proofs": "proofs.json",
    "profiles": "profile.json",
    "sources": "source.json",
    "datasets": "dataset.json",
}


def records_by_kind(names: Iterable[str]) -> dict[str, list[Path]]:
    """Return the paths of the records of each kind that a page is made from, in the order of `names`."""
    paths = [Path(name) for name in names]
    return {kind: [path for path in paths if path.name == name] for kind, name in RECORD_NAMES.items()}


def study_of(names: Iterable[str], archive: Path) -> Path:
    """Return the path of the archive's study.json; raises SourceError unless there is exactly one."""
    descriptions = [Path(name) for name in names if Path(name).name == "study.json"]
    if len(descriptions) != 1:
        raise SourceError(f"{archive}: {len(descriptions)} files study.json, expected the records of one study")
    return descriptions[0]


def render(archive: Path, output: Path) -> Path:
    """Write the page of the study in `archive` to `output`, and return it.

    The page links to the archive, relative to the folder of `output`. Raises SourceError naming the archive if it
    cannot be unpacked.
    """
    archive, output = archive.resolve(), output.resolve()
    with tempfile.TemporaryDirectory(prefix="pgobench-sample-") as root:
        unpack(archive, Path(root, "results"))
        with tarfile.open(archive) as packed:
            names = packed.getnames()
        study = study_of(names, archive)
        home = study.parent
        tables, figures, listed = dictionary.files(home / "tables"), home / "figures", home / "runs.txt"
        # the list of runs and the links of records start at `results`
        with contextlib.chdir(root):
            collect_runs.main(study, listed, tables)
            compare_variants.main(study, tables["runs"], tables["executions"], tables)
            export_tables.main(study, tables, *(home / name for name in export_tables.OUTPUTS))
            plot_figures.main(study, tables, figures)
            summary, answer, link = home / "summary.md", home / "answer.json", os.path.relpath(archive, output.parent)
            render_report.main(study, listed, tables, figures, output, summary, answer, link, **records_by_kind(names))
    return output


def draw(page: Path, picture: Path) -> str:
    """Draw the top of a page to a PNG with headless Chromium; return what was done, in words.

    Raises CommandFailed when Chromium fails, subprocess.TimeoutExpired when it does not end.
    """
    if (browser := shutil.which("chromium")) is None:
        return f"{picture}: not drawn, the command chromium is missing"
    size = ",".join(map(str, PICTURE_PIXELS))
    target = [f"--window-size={size}", f"--screenshot={picture.resolve()}", page.resolve().as_uri()]
    output_of([browser, *BROWSER_OPTIONS, *target], timeout_s=DRAWN_WITHIN_S)
    return f"{picture}: {picture.stat().st_size >> 10} KiB"


def main() -> int:
    """Render the page that the command line names, and its picture; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.sample", description=__doc__)
    parser.add_argument("--archive", type=Path, required=True, help="the records of a finished study, .tar.xz")
    parser.add_argument("--output", type=Path, required=True, help="the page to write")
    parser.add_argument("--picture", type=Path, help="the PNG of its top to write")
    arguments = parser.parse_args()
    try:
        print(f"{render(arguments.archive, arguments.output)}: {arguments.output.stat().st_size >> 10} KiB")
        if arguments.picture:
            print(draw(arguments.output, arguments.picture))
    except (SourceError, OSError, CommandFailed, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
