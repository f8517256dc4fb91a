"""Load a dataset's tables with a server's baseline build and keep the stopped data directory as a snapshot."""

import contextlib
import hashlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from scripts.build.sources.tree import tree_sha256
from scripts.lib import json_record
from scripts.lib.host import process, workplace
from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.storage import TABLE_OPTION, compressed_page_options, no_holes_text, punches_holes
from scripts.lib.recipe_models import TablesRecipe
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.families.option_rules import Options
from scripts.measure.servers.server import write_options


def demand_page_compression(tables: TablesRecipe, folder: Path) -> None:
    """Raise ValueError naming option and folder if tables have compressed pages and `folder` cannot punch holes."""
    if (option := compressed_page_options(tables.dump())) and not punches_holes(folder):
        raise ValueError(f"{TABLE_OPTION}: {option!r} {no_holes_text(folder)}")


DATA = "data"


def pack(data: Path, snapshot: Path) -> tuple[str, int]:
    """Copy a stopped server's data directory to `snapshot`; return (SHA-256 of the content, allocated bytes)."""
    snapshot.mkdir(parents=True, exist_ok=True)
    _copy(data, snapshot / DATA)
    return tree_sha256(snapshot / DATA), allocated_bytes(snapshot / DATA)


def allocated_bytes(folder: Path) -> int:
    """Return the bytes a tree takes on disk, without its holes."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def verify(snapshot: Path, sha256: str) -> None:
    """Raise ValueError naming the snapshot unless it has this content.

    The content is read only if a file's size or time changed since the last reading.
    """
    if not (snapshot / DATA).is_dir():
        raise ValueError(
            f"{snapshot / DATA}: no such folder; remove {snapshot.parent}, and the workflow loads it again"
        )
    stamp = _stamp(snapshot / DATA, sha256)
    verified = snapshot.with_name("verified")
    if verified.exists() and verified.read_text(encoding="utf-8") == stamp:
        return
    if (actual := tree_sha256(snapshot / DATA)) != sha256:
        raise ValueError(
            f"{snapshot}: the data directory was altered (content {actual[:12]}, expected {sha256[:12]}); "
            f"remove {snapshot.parent}, and the workflow loads it again"
        )
    json_record.write_text(verified, stamp)


def _stamp(folder: Path, sha256: str) -> str:
    stamp = hashlib.sha256(sha256.encode())
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        stamp.update(f"{path.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return stamp.hexdigest()


@contextlib.contextmanager
def cloned(snapshot: Path, storage: str | None) -> Iterator[Path]:
    """Yield a clone of a snapshot as a data directory owned by the server's user; remove it afterwards."""
    with workspace(storage) as folder:
        _copy(snapshot / DATA, folder / DATA)
        workplace.give(folder)
        yield folder / DATA


@contextlib.contextmanager
def workspace(storage: str | None) -> Iterator[Path]:
    """Yield a folder for a data directory and its option file; remove it afterwards."""
    with workplace.data_directory(storage) as folder:
        yield folder


def _copy(source: Path, target: Path) -> None:
    """Copy a tree: share its blocks if the file system can, else copy everything but holes.

    Raises ValueError with the output of cp, for example about a full disk.
    """
    shares = shares_blocks(source, target.parent)
    how = ["--reflink=always"] if shares else ["--reflink=never", "--sparse=always"]
    done = subprocess.run(
        ["cp", "--archive", *how, str(source), str(target)],
        env=made_environment(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=lambda: process.die_with_parent(signal.SIGKILL),
    )
    if done.returncode != 0:
        output = "\n".join(done.stderr.splitlines()[:3])
        raise ValueError(f"{target}: no whole copy of {source} ({allocated_bytes(source) >> 20} MiB): {output}")


def shares_blocks(source: Path, folder: Path) -> bool:
    """Return whether files of `source` can be cloned into `folder` without copying (reflink)."""
    sample = next(path for path in source.rglob("*") if path.is_file())
    with tempfile.TemporaryDirectory(dir=folder) as probe:
        command = ["cp", "--reflink=always", str(sample), probe]
        return subprocess.run(command, env=made_environment(), capture_output=True, check=False).returncode == 0


def drain() -> float:
    """Write all dirty pages of the machine to disk; return the seconds this took."""
    begin_s = time.monotonic()
    os.sync()
    return time.monotonic() - begin_s


def initialise(family: Family, install: Path, folder: Path, options: Options, log: Path) -> Path:
    """Make an empty data directory in `folder` and return its path."""
    data = folder / DATA
    data.mkdir(mode=0o700)
    option_file = write_options(family, install, folder, options)
    workplace.give(folder)
    family.initialise(install, data, option_file, options, log, workplace.server_identity())
    return data
