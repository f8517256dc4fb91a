"""Folders that programs run from, and those of them whose file system is mounted `noexec`.

Nothing runs from a data directory: sysbench and servers read what they find there.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.build.compilation.stages import PREBUILT
from scripts.lib.host import storage, workplace
from scripts.lib.host.workplace import SERVER_USER
from scripts.study.config.declared_servers import ServerDeclaration
from scripts.study.plan.preview.due import Due
from scripts.study.plan.preview.limit import FileSystemOf, MachineLimit

RESULTS = "results"
COMPILING = {
    RESULTS: "configure and other scripts of the sources",
    "cache": "the compiler wrapper, configure's checks, build tools",
}
SERVING = "servers from their install trees"
COPIES = f"servers from copies of their install trees, as {SERVER_USER} cannot enter {RESULTS}"
# Servers of these kinds of sources run from where they are installed.
ELSEWHERE = ("installed", "running")
REMEDY = {
    RESULTS: "work in a folder of a file system without noexec (`--directory`), or `mount -o remount,exec` it",
    "cache": "`mount -o remount,exec` its file system, or mount another one there",
}


def programs(compiling: bool, serving: bool, results: Path = Path(RESULTS)) -> dict[str, list[str]]:
    """Return what runs from `results` and from the cache, by folder, when servers are compiled, or run from here."""
    running: dict[str, list[str]] = {RESULTS: [], "cache": []}
    if compiling:
        for name, what in COMPILING.items():
            running[name].append(what)
    if serving:
        copied = not workplace.reachable(storage.nearest_folder(results) / "program")
        running["cache" if copied else RESULTS].append(COPIES if copied else SERVING)
    return {name: what for name, what in running.items() if what}


def runs_from_here(servers: Iterable[ServerDeclaration]) -> bool:
    """Return whether the program of any of these servers lies in an install tree of ours."""
    return any(server.sources[0].kind not in ELSEWHERE for server in servers)


def noexec_limits(due: Due, cache: str, system: FileSystemOf = storage.file_system_of) -> Iterator[MachineLimit]:
    """Yield a limit for each folder that what is due runs programs from, and whose file system forbids that.

    `system` returns the file system of a path.
    """
    study = due.paths.plan.study
    compiling = any(thing.name != PREBUILT for thing in due.of("build"))
    starting = {thing.server for kind in ("build", "profile", "dataset") for thing in due.of(kind)}
    starting |= {study.arms[run.variant].server for run in due.runs.values()}
    from_here = runs_from_here(study.declared.servers[server] for server in starting)
    for name, what in programs(compiling, from_here).items():
        folder = cache if name == "cache" else name
        if (file_system := system(folder)).noexec:
            text = f"noexec: {folder} is on a file system ({file_system.name}) that runs no programs, expected one for"
            yield MachineLimit(f"{text} {' and '.join(what)}", REMEDY[name], certain=True, refused=True)
