"""Find tests that start or compile a real server without the marker `real`, which would disturb the tests beside them.

A thread looks at all processes of the machine; pytest puts the name of the running test into its environment, which the
processes that it starts inherit.
"""

import contextlib
import os
import threading
import time
from collections import defaultdict
from pathlib import Path

EVERY_S = 0.3
PROGRAMS = {"postgres", "initdb", "mysqld", "mariadbd", "configure", "cmake", "ninja"}
ANSWERED = {b"--version", b"--help", b"-V"}
VARIABLE = b"PYTEST_CURRENT_TEST"


class Programs:
    """Programs of real servers by the test that started them, filled as time goes by."""

    def __init__(self, names: set[str] = PROGRAMS) -> None:
        self._names = names
        self._of: dict[str, set[str]] = defaultdict(set)

    def of(self, node: str) -> set[str]:
        """Return the programs that were seen of a test, by pytest's name of it."""
        return set(self._of.get(node, ()))

    def watch(self) -> None:
        """Look again and again until this process ends."""
        threading.Thread(target=self._look_on, daemon=True).start()

    def _look_on(self) -> None:
        while True:
            self.look()
            time.sleep(EVERY_S)

    def look(self) -> None:
        """Look at all processes once."""
        for process in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208, four times as fast as pathlib
            with contextlib.suppress(OSError):
                with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
                    name = stream.read().strip()
                if name in self._names and not _asked(Path("/proc", process)) and (node := _test_of(int(process))):
                    self._of[node].add(name)


def _asked(process_folder: Path) -> bool:
    """Tell whether a process only answers a question about itself, which takes no time.

    One that has its name, but not its command line yet, is looked at again.
    """
    words = (process_folder / "cmdline").read_bytes().split(b"\0")
    return not words[0] or bool(ANSWERED & set(words))


def _test_of(process: int) -> str:
    """Return pytest's name of the test that a process belongs to; an empty text if it belongs to none."""
    # Servers get an environment without the variable, so their parents are asked as well.
    while process > 1:
        process_folder = Path("/proc", str(process))
        words = [os.environb.get(VARIABLE, b"")] if process == os.getpid() else _values(process_folder)
        if variable := next(filter(None, words), b""):
            # The value ends with the phase: `tests/x.py::test_y (call)`.
            return variable.decode(errors="replace").rpartition(" (")[0]
        process = int((process_folder / "stat").read_text().rpartition(")")[2].split()[1])
    return ""


def _values(process_folder: Path) -> list[bytes]:
    parts = (process_folder / "environ").read_bytes().split(b"\0")
    return [part.removeprefix(VARIABLE + b"=") for part in parts if part.startswith(VARIABLE + b"=")]
