"""Watch from outside what a study starts: whose processes, on which CPUs, and what is left of them."""

import contextlib
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from scripts.lib.host.cache import NAME, cache_path
from scripts.lib.host.freezer import own_folder

EVERY_S = 0.5
BASES = (tempfile.gettempdir(), "/dev/shm")
# Every command line of a server or client of ours names one of them.
PLACES = (str(cache_path()), f"{tempfile.gettempdir()}/{NAME}-")


@dataclass(frozen=True)
class Seen:
    """Users and CPU sets of the processes of one program name."""

    users: set[int] = field(default_factory=set)
    cpus: set[tuple[int, ...]] = field(default_factory=set)


def processes(name: str, places: tuple[str, ...]) -> list[psutil.Process]:
    """Return the processes of that name whose command line or working directory mentions one of `places`."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.name() != name:
                continue
            text = " ".join([process.cwd(), *process.cmdline()])
            if any(place in text for place in places):
                found.append(process)
    return found


@contextlib.contextmanager
def watched(names: list[str], places: tuple[str, ...]) -> Iterator[dict[str, Seen]]:
    """Look every half a second while the body runs; yields what was seen by program name, filled as time goes by."""
    seen, done = {name: Seen() for name in names}, threading.Event()

    def look() -> None:
        while not done.wait(EVERY_S):
            for name in names:
                for process in processes(name, places):
                    with contextlib.suppress(psutil.Error):
                        seen[name].users.add(process.uids().effective)
                        seen[name].cpus.add(tuple(process.cpu_affinity()))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def leftovers() -> set[Path]:
    """Return the folders of sockets, of gates and of data directories, shared memory and cgroups that are there now."""
    folders = (path for base in BASES for path in Path(base).glob(f"{NAME}-*"))
    cgroups = cgroup.glob(f"{NAME}-*") if (cgroup := own_folder()) else ()
    return {*(cache_path() / "data").glob("*"), *folders, *Path("/dev/shm").glob("PostgreSQL.*"), *cgroups}


def wait_until_gone(names: list[str], places: tuple[str, ...], seconds: float = 5) -> list[psutil.Process]:
    """Return what still runs of these programs after at most so many seconds."""
    deadline_s = time.monotonic() + seconds
    while left := [process for name in names for process in processes(name, places)]:
        if time.monotonic() > deadline_s:
            break
        time.sleep(0.1)
    return left


def is_stopped(process: psutil.Process) -> bool:
    """Return whether a server waits: frozen in a cgroup of its own, or stopped by a signal."""
    own = re.search(r"^0::(/.*)$", Path(f"/proc/{process.pid}/cgroup").read_text(), re.M)
    cgroups = own_folder()
    frozen = cgroups and f"{NAME}-" in own[1] and (cgroups / Path(own[1]).name / "cgroup.events").read_text()
    return "frozen 1" in (frozen or "") or process.status() == psutil.STATUS_STOPPED
