"""Load a dataset's tables with a server's baseline build and keep the stopped data directory as a snapshot."""

import time
from pathlib import Path
from typing import Any

from scripts import families, filling, host, job, page_compression, record, snapshot, workplace
from scripts.hostlock import shared
from scripts.process import say, tell_wait
from scripts.server import running, write_options


def main(recipe: dict, loader: Path, snapshot_folder: Path, dataset: Path, threads: int, log: Path) -> None:
    """Make the snapshot, then `dataset`, its record; the file `loader` names the identity of the build that loads.

    A dataset that is loaded anew before every run has a snapshot without its tables.
    Raises ServerFailed or SysbenchFailed with the last lines of the server or of sysbench.
    """
    begin_s = time.monotonic()
    family = families.of(recipe["family"])
    install = workplace.installed(Path(loader.read_text(encoding="utf-8").strip()))
    options = server_options(family, recipe)
    with shared(tell_wait), snapshot.workspace(None) as folder:
        data = initialise(family, install, folder, options, log)
        page_compression.demand(recipe["tables"], data)
        with running(family, install, data, options, log) as server:
            if not recipe["tables"].get("fresh"):
                text = log.with_suffix(".load.txt")
                filling.fill(recipe["tables"], family.sysbench_flags(server.sockets), threads, text)
            server.stop(keep_data=True)
        sha256, size = snapshot.pack(data, snapshot_folder)
    shown = {"server": recipe["server"], "dataset": recipe["dataset"], **recipe["tables"]}
    described = {**shown, "bytes": size, "snapshot_sha256": sha256}
    record.write(dataset, {**described, "recipe": recipe, "load_s": time.monotonic() - begin_s})
    say(
        f"[dataset {recipe['server']} {recipe['dataset']}] {size / 2**20:.0f} MiB in {time.monotonic() - begin_s:.0f} s"
    )


def server_options(family: families.Family, recipe: dict[str, Any]) -> dict[str, Any]:
    """Return the family's default options with those of a recipe laid over them."""
    return {**family.default_options(round(host.meminfo_mib()["MemTotal"])), **recipe.get("options", {})}


def initialise(family: families.Family, install: Path, folder: Path, options: dict[str, Any], log: Path) -> Path:
    """Make an empty data directory in `folder` and return its path."""
    data = folder / snapshot.DATA
    data.mkdir(mode=0o700)
    option_file = write_options(family, install, folder, options)
    workplace.give(folder)
    family.initialise(install, data, option_file, options, log, workplace.server_identity())
    return data


if __name__ == "__main__":
    snapshot_folder = {"type": Path, "required": True, "dest": "snapshot_folder"}
    threads = {"type": int, "required": True}
    job.run(main, __doc__, "loader", "dataset", recipe=job.RECIPE, threads=threads, snapshot=snapshot_folder)
