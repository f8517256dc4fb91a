"""Python imports this module at the start of every job: the stubs replace the modules of the same name.

Every job also notes when it began and ended, and which results it read. Each note is one appended line, so that those
of several jobs do not mix.
"""

import atexit
import os
import sys
import time
from pathlib import Path

import scripts.jobs

scripts.jobs.__path__.insert(0, str(Path(__file__).parent / "tests" / "workflow" / "stubs"))


def note(edge: str) -> None:
    """Append one line: edge, process, seconds since the epoch, command line."""
    line = "\t".join([edge, str(os.getpid()), f"{time.time():.6f}", " ".join(sys.orig_argv[1:])])
    with open(os.environ["STUB_JOURNAL"], "a", encoding="utf-8") as journal:  # noqa: PTH123
        journal.write(line.replace("\n", " ") + "\n")


if "STUB_ENVIRONMENTS" in os.environ:
    copy = Path(os.environ["STUB_ENVIRONMENTS"], f"{sys.orig_argv[2]}.{os.getpid()}")
    copy.write_bytes(Path("/proc/self/environ").read_bytes())


def note_results(event: str, arguments: tuple) -> None:
    """Keep the path of a result that is opened to be read."""
    if event == "open" and isinstance(arguments[0], (str, os.PathLike)) and not arguments[2] & os.O_ACCMODE:
        path = os.path.relpath(arguments[0])
        if path.startswith("results/"):
            read.add(path)


def note_read() -> None:
    """Append one line per result that was read: the module, and the path."""
    module = sys.orig_argv[2].rpartition(".")[2] if sys.orig_argv[1] == "-m" else "script"
    with open(os.environ["STUB_JOURNAL"] + ".read", "a", encoding="utf-8") as journal:  # noqa: PTH123
        journal.write("".join(f"{module}\t{path}\n" for path in sorted(read)))


read: set[str] = set()
if "STUB_JOURNAL" in os.environ:
    note("begin")
    sys.addaudithook(note_results)
    atexit.register(note, "end")
    atexit.register(note_read)
