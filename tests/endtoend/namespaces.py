"""Another host, made of a network namespace: a pair of interfaces leads there, and commands are run in it."""

import contextlib
import os
import random
import secrets
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

NETWORKS = 250
LOOKS_APART_S = 0.02


@dataclass(frozen=True)
class Away:
    """A namespace; `here` is our address on the way there."""

    name: str
    here: str

    @property
    def client(self) -> dict:
        """The key of a study that has its load generator run there."""
        return {"command": ["ip", "netns", "exec", self.name], "address": self.here}


def missing() -> str:
    """Return why no namespace can be made, an empty text when one can."""
    if os.getuid() != 0:
        return "only root makes network namespaces"
    name = f"pgobench-try-{secrets.token_hex(3)}"
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0:
            _ip("netns", "delete", name)
            return ""
    return "`ip netns add` does not work here"


@contextlib.contextmanager
def away() -> Iterator[Away]:
    """Have another host for the body."""
    # Not named by the process: a process of another suite has the same number in its own namespace of processes, and
    # one that was killed leaves its name behind.
    token = secrets.token_hex(3)
    number = random.choice(_free_networks())
    name, ends = f"pgobench-{token}", (f"here{token}", f"away{token}")
    _ip("netns", "add", name)
    try:
        _ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1], "netns", name)
        _ip("address", "add", f"10.77.{number}.1/24", "dev", ends[0])
        _ip("-n", name, "address", "add", f"10.77.{number}.2/24", "dev", ends[1])
        _ip("link", "set", ends[0], "up")
        _ip("-n", name, "link", "set", ends[1], "up")
        _ip("-n", name, "link", "set", "lo", "up")
        yield Away(name, f"10.77.{number}.1")
    finally:
        # Its end of the pair goes with it, and ours with that.
        _ip("netns", "delete", name)


def _free_networks() -> list[int]:
    taken = {address.address for addresses in psutil.net_if_addrs().values() for address in addresses}
    return [number for number in range(NETWORKS) if f"10.77.{number}.1" not in taken]


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@contextlib.contextmanager
def told_anywhere(text: str) -> Iterator[list[str]]:
    """Look at the arguments and environments of all processes while the body runs; yields those that hold `text`."""
    found, done = [], threading.Event()

    def look() -> None:
        while not done.wait(LOOKS_APART_S):
            for file in [*Path("/proc").glob("[0-9]*/cmdline"), *Path("/proc").glob("[0-9]*/environ")]:
                with contextlib.suppress(OSError):
                    if text.encode() in file.read_bytes():
                        found.append(f"{file}: {(file.parent / 'comm').read_text().strip()}")

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()
