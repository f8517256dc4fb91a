"""The archive that `make sample` renders: the records of a finished study, without what only its machine has.

What sysbench printed is left out: it doubles the archive, and the records hold every figure of it that the page shows.

`python -m tests.made.sample_archive CHECKOUT STUDY` packs the results that the checkout in a folder has of one of its
studies into docs/sample/STUDY.tar.xz; with a third argument, the path of an archive, into that one, tables included, as
tests/data/formats has one of each release.
"""

import io
import json
import os
import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from scripts.commands.arguments import paths_of
from scripts.lib import json_record
from scripts.measure.engine.run_record import VARIABLES_FOLDER
from scripts.study.plan.schedule import Schedule
from tests.made.studies import CHECKOUT

MACHINE_ID, ANONYMOUS = re.compile(r'(?<="machine_id": ")\w+'), "0" * 32
SMALLEST = 9


TABLES = ("runs", "series", "overall")


def files(paths: Schedule, tables: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield the records that the page of a study is made from, in the order in which it shows them, and `tables`."""
    study = Path(paths.study)
    yield from (Path(folder) / "facts.json" for folder in (*paths.builds, *paths.stages))
    yield from map(Path, (*paths.audits, *paths.checks))
    yield study / "proofs.json"
    yield from (Path(folder) / "profile.json" for folder in paths.profiles)
    yield from (Path(paths.source(server)) for server in sorted({server for server, _ in paths.builds.values()}))
    yield from (Path(folder) / "dataset.json" for folder in paths.datasets)
    yield from (study / name for name in ("study.json", "runs.txt"))
    yield from sorted((study / VARIABLES_FOLDER).iterdir())
    yield from (Path(paths.run(block, name)) for block in paths.blocks for name in block.arms)
    yield from (study / "tables" / f"{name}.csv" for name in tables)


def cleaned(checkout: Path, study: str, tables: tuple[str, ...]) -> dict[Path, str]:
    """Return file -> text of a study's records, with paths relative to the checkout and zeros for the machine's id.

    Files of server variables are named after their content, which had paths, and runs refer to these names.
    """
    planned = files(paths_of(Path("studies", f"{study}.yaml")), tables)
    texts = {file: file.read_text(encoding="utf-8").replace(f"{checkout}/", "") for file in planned}
    for machine_id in {number for text in texts.values() for number in MACHINE_ID.findall(text)}:
        texts = {file: text.replace(machine_id, ANONYMOUS) for file, text in texts.items()}
    shared = [file for file in texts if file.parent.name == VARIABLES_FOLDER]
    renamed = {file.stem: json_record.sha256(json.loads(texts[file])["variables"]) for file in shared}
    for old, new in renamed.items():
        texts = {Path(str(file).replace(old, new)): text.replace(old, new) for file, text in texts.items()}
    return texts


def pack(checkout: Path, study: str, archive: Path, tables: tuple[str, ...] = ()) -> None:
    """Write the archive of a checkout's study; the same records give the same bytes."""
    os.chdir(checkout)
    with tarfile.open(archive, "w:xz", preset=SMALLEST) as made:
        for file, text in cleaned(checkout, study, tables).items():
            member = tarfile.TarInfo(str(file))
            member.size = len(content := text.encode())
            made.addfile(member, io.BytesIO(content))


if __name__ == "__main__":
    made_in, named, *path = sys.argv[1:]
    sample = CHECKOUT / "docs" / "sample" / f"{named}.tar.xz"
    pack(Path(made_in).resolve(), named, Path(*path).resolve() if path else sample, TABLES if path else ())
