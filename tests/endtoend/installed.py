"""The distribution's servers by family, each ready to be started on an empty data directory of its own."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scripts.lib.host import workplace
from scripts.measure.servers import data_directory, families
from scripts.measure.servers import options as servers_options
from tests.endtoend import installed_mariadb, installed_postgresql
from tests.endtoend.folders import open_folder

SERVERS = {"mariadb": installed_mariadb, "postgresql": installed_postgresql}
SMALL: dict[str, dict[str, Any]] = {
    "mariadb": {"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "16M"},
    "postgresql": {"shared_buffers": "64MB", "max_connections": 20},
}


@dataclass(frozen=True)
class Prepared:
    """A server that can be started, the options it starts with, its data directory and a folder for logs."""

    family: families.Family
    install: Path
    options: dict[str, Any]
    data: Path
    folder: Path


def identity(name: str, folder: Path) -> Path:
    """Lay out the installed server of a family in `folder`, or skip the test; returns its identity."""
    if lost := SERVERS[name].missing():
        pytest.skip(lost)
    return SERVERS[name].lay_out(folder / "build")


@contextlib.contextmanager
def initialised(prefix: str, name: str) -> Iterator[Prepared]:
    """Lend the installed server of a family with an empty data directory, or skip the test."""
    with open_folder(prefix) as folder:
        install = workplace.installed(identity(name, folder))
        with initialised_as(families.of(name), install, SMALL[name], folder) as ready:
            yield ready


@contextlib.contextmanager
def initialised_as(family: families.Family, install: Path, options: dict[str, Any], folder: Path) -> Iterator[Prepared]:
    """Lend a server with an empty data directory, made with these options."""
    with data_directory.workspace(None) as place:
        chosen = servers_options.server_options(family, options)
        data = data_directory.initialise(family, install, place, chosen, folder / "init.log")
        yield Prepared(family, install, chosen, data, folder)
