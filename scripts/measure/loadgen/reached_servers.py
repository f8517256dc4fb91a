"""Servers that already run: ask one for its release, and load the tables of a dataset into a database of ours."""

import contextlib
import time
from pathlib import Path

from scripts.build.sources.debian import in_series
from scripts.build.sources.kinds import RUNNING
from scripts.lib import json_record
from scripts.lib.host import workplace
from scripts.lib.host.entry import say
from scripts.lib.recipe_models import DatasetRecipe, ServerSourceRecipe
from scripts.measure.loadgen import run_sysbench
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers import families, own_database
from scripts.measure.servers.endpoint import endpoint_of
from scripts.measure.servers.running_server import RunningServer


def describe_server(recipe: ServerSourceRecipe, tree: Path, identity: Path) -> None:
    """Ask a server for its release and write the record of a source; `tree` stays empty.

    Raises ServerFailed when it gives no connection, ValueError when its release is not the declared one.
    """
    address = recipe.running
    if recipe.family is None or address is None:
        raise ValueError(
            f"{recipe.server}: family {recipe.family!r}, running {address!r}, expected both of a server that runs"
        )
    family = families.of(recipe.family)
    endpoint = endpoint_of(recipe.server, address)
    with contextlib.closing(RunningServer(family, endpoint, tree).connect()) as connection:
        release = family.release_of(connection)
    if not in_series(release, recipe.version):
        raise ValueError(f"{address}: is release {release}, expected {recipe.version} (key servers.*.version)")
    tree.mkdir(parents=True, exist_ok=True)
    names = {"server": recipe.server, "product": recipe.product, "version": recipe.version}
    origin = f"a server that already runs at {address}"
    facts = {"release": release, "kind": RUNNING, RUNNING: address, "origin": origin, "tree_sha256": None}
    json_record.write(identity, {**names, **facts, "files": []})


def load(recipe: DatasetRecipe, address: str, snapshot: Path, dataset: Path, threads: int, log: Path) -> None:
    """Make the database of a dataset on a server that already runs, and load its tables; `snapshot` stays empty.

    Raises NotOurs for a database of the name that is not ours, SysbenchFailed with the last lines of sysbench.
    """
    begin_s, database = time.monotonic(), recipe.database
    if database is None:
        raise ValueError(
            f"{recipe.server} {recipe.dataset}: no database, expected one of a dataset on a server that runs"
        )
    outside = endpoint_of(recipe.server, address)
    family = families.of(recipe.family).in_database(database)
    text = log.with_suffix(".load.txt")
    with workplace.temporary_directory() as folder:
        server = RunningServer(family, outside.within(database), folder)
        try:
            with server.blamed("while its tables were loaded"):
                mark = own_database.make(family, outside, database)
                run_sysbench.fill(recipe.tables, server.sysbench_flags, threads, text, server.environment)
        except SysbenchFailed as failure:
            raise failure.reworded(outside.hidden(str(failure))) from None
        finally:
            outside.hide_in(text)
    snapshot.mkdir(parents=True, exist_ok=True)
    shown = {"server": recipe.server, "dataset": recipe.dataset, **recipe.tables.dump()}
    facts = {"bytes": None, "snapshot_sha256": None, "database": database, "mark": mark}
    load_s = time.monotonic() - begin_s
    json_record.write_signed(dataset, {**shown, **facts, "recipe": recipe.dump(), "load_s": load_s})
    say(f"[dataset {recipe.server} {recipe.dataset}] loaded into database {database} in {load_s:.0f} s")
