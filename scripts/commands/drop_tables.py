"""Drop the tables of a study from servers that already run: the databases that the workflow made there."""

import argparse
from functools import partial
from pathlib import Path

from scripts.commands.arguments import add_arguments, paths_of, report_command
from scripts.commands.removal import carry_out, discard, hold_results
from scripts.lib.host.entry import say, user_command
from scripts.measure.servers import credentials, families, own_database
from scripts.measure.servers.endpoint import endpoint_of
from scripts.measure.servers.running_server import RunningServer
from scripts.study.plan.schedule import Schedule


def main(config: Path, scale: str = "") -> None:
    """Drop the databases of the study in `config` at a scale, and forget that their tables were loaded.

    Raises ValueError, with nothing dropped, while a Snakemake works in this directory; NotOurs naming a database that
    the workflow did not make, which is left as it is.
    """
    paths = paths_of(config, scale)
    hold_results()
    databases = databases_of(paths)
    if not databases:
        say(f"[drop] no server of study {paths.plan.study.name} already runs; nothing was dropped")
        return
    carry_out((), (partial(drop, paths, Path(folder), *names) for folder, names in databases.items()))
    say(f"[drop] `{report_command(config, scale)}` loads the tables again where blocks are left to measure")


def drop(paths: Schedule, folder: Path, server: str, database: str) -> str:
    """Drop the database of a dataset, remove the dataset's folder, and return a line that says so."""
    family, logins = families.of(paths.plan.family(server)), credentials.places(paths.plan.study.server_sources)
    outside = endpoint_of(server, str(paths.plan.source(server).running), logins)
    with RunningServer(family, outside, Path()).blamed("while its tables were dropped"):
        existed = own_database.drop(family, outside, database)
    discard(folder)
    return f"[drop] {server}: database {database} {'dropped' if existed else 'was not there'}"


def databases_of(paths: Schedule) -> dict[str, tuple[str, str]]:
    """Return folder of a dataset -> (server, database) of those on servers that already run."""
    running = {folder: parts for folder, parts in paths.datasets.items() if paths.plan.is_running(parts[0])}
    return {folder: (parts[0], str(paths.plan.dataset(*parts).database)) for folder, parts in running.items()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.drop_tables", description=__doc__)
    add_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    with user_command():
        main(**vars(_arguments()))
