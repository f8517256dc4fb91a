"""The archive that `make sample` renders: the records of a finished study, without what only its machine has.

`python -m tests.made.sample_archive CHECKOUT STUDY` packs the results that the checkout in a folder has of one of its
studies into docs/sample/STUDY.tar.xz.
"""

import io
import os
import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from scripts.commands.arguments import paths_of
from scripts.measure.record import VARIABLES_FOLDER
from scripts.plan.paths import Paths
from tests.made.studies import CHECKOUT

MACHINE_ID, ANONYMOUS = re.compile(r'(?<="machine_id": ")\w+'), "0" * 32
SMALLEST = 9  # xz: twice as small as its default on such records


def files(paths: Paths) -> Iterator[Path]:
    """Yield the records that the page of a study is made from, in the order in which it shows them."""
    study = Path(paths.study)
    yield from (Path(folder) / "facts.json" for folder in (*paths.builds, *paths.stages))
    yield from map(Path, (*paths.audits, *paths.checks))
    yield study / "proofs.json"
    yield from (Path(folder) / "profile.json" for folder in paths.profiles)
    yield from (Path(paths.source(server)) for server in sorted({server for server, _ in paths.builds.values()}))
    yield from (Path(folder) / "dataset.json" for folder in paths.datasets)
    yield from (study / name for name in ("study.json", "runs.txt"))
    yield from sorted((study / VARIABLES_FOLDER).iterdir())
    for block in paths.blocks:
        yield Path(block.record)
        for run in (Path(paths.run(block, name)) for name in block.arms):
            yield from (run, run.with_suffix(".txt"))


def cleaned(text: str, checkout: Path) -> str:
    """Return the text of a record with paths relative to the checkout and zeros for the id of the machine."""
    return MACHINE_ID.sub(ANONYMOUS, text.replace(f"{checkout}/", ""))


def pack(checkout: Path, study: str, archive: Path) -> None:
    """Write the archive of a checkout's study; the same records give the same bytes."""
    os.chdir(checkout)
    with tarfile.open(archive, "w:xz", preset=SMALLEST) as made:
        for file in files(paths_of(Path("studies", f"{study}.yaml"))):
            content = cleaned(file.read_text(encoding="utf-8"), checkout).encode()
            member = tarfile.TarInfo(str(file))
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))


if __name__ == "__main__":
    pack(Path(sys.argv[1]).resolve(), sys.argv[2], CHECKOUT / "docs" / "sample" / f"{sys.argv[2]}.tar.xz")
