"""Load a dataset's tables with a server's baseline build and keep the stopped data directory as a snapshot."""

import time
from pathlib import Path

from scripts.build.sources.kinds import RUNNING
from scripts.lib import json_record
from scripts.lib.host import entry, workplace
from scripts.lib.host.entry import say, say_waiting
from scripts.lib.host.locks import shared
from scripts.lib.recipe_models import DatasetRecipe
from scripts.measure.loadgen import lua, reached_servers, run_sysbench
from scripts.measure.servers import data_directory, families
from scripts.measure.servers.data_directory import initialise
from scripts.measure.servers.options import server_options
from scripts.measure.servers.server import running as started


def main(
    recipe: DatasetRecipe,
    loader: Path,
    snapshot_folder: Path,
    dataset: Path,
    threads: int,
    scripts: dict[str, str],
    log: Path,
) -> None:
    """Input: `loader`, a file with the path of a build's identity. Outputs: `snapshot_folder`, then `dataset`.

    `dataset` is the record of the snapshot. If a dataset is loaded before every run, its snapshot has no tables.
    Raises ServerFailed or SysbenchFailed with the last lines of the server or of sysbench.
    """
    begin_s = time.monotonic()
    lua.find_outside_scripts(scripts)
    family, built = families.of(recipe.family), Path(loader.read_text(encoding="utf-8").strip())
    if address := json_record.read(built).get(RUNNING):
        with shared(say_waiting):
            reached_servers.load(recipe, address, snapshot_folder, dataset, threads, log)
        return
    install = workplace.installed(built)
    options = server_options(family, recipe.options)
    with shared(say_waiting), data_directory.workspace(None) as folder:
        data = initialise(family, install, folder, options, log)
        data_directory.demand_page_compression(recipe.tables, data)
        with started(family, install, data, options, log) as server:
            if not recipe.tables.fresh:
                text = log.with_suffix(".load.txt")
                run_sysbench.fill(recipe.tables, family.sysbench_flags(server.sockets), threads, text)
            server.stop(keep_data=True)
        sha256, size = data_directory.pack(data, snapshot_folder)
    shown = {"server": recipe.server, "dataset": recipe.dataset, **recipe.tables.dump()}
    described = {**shown, "bytes": size, "snapshot_sha256": sha256}
    json_record.write_signed(dataset, {**described, "recipe": recipe.dump(), "load_s": time.monotonic() - begin_s})
    say(f"[dataset {recipe.server} {recipe.dataset}] {size / 2**20:.0f} MiB in {time.monotonic() - begin_s:.0f} s")


if __name__ == "__main__":
    snapshot_folder: entry.Option = {"type": Path, "required": True, "dest": "snapshot_folder"}
    threads: entry.Option = {"type": int, "required": True}
    entry.run(
        main,
        __doc__,
        "loader",
        "dataset",
        recipe=entry.recipe(DatasetRecipe),
        threads=threads,
        scripts=entry.SCRIPTS,
        snapshot=snapshot_folder,
    )
