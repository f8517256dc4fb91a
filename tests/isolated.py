"""Start Python with processes, cache folder, locks, shared memory, temporary files and cgroup of its own.

`python -m tests.isolated [arguments of python]` with the folder for all of it in the variable ISOLATED. A worker of
pytest-xdist calls it as its Python, so that tests that watch the machine see nothing of the other workers' tests.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts.lib.host import freezer, locks, workplace

UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
FOLDER, PREFIX = "ISOLATED", "tests-"
# The shell stays as the first process of the namespace, to reap orphans. Its command line names no path, since a
# process whose command line names the cache folder counts as one of a study.
ENTER = """
mount --bind "$ISOLATED_PLACE/cache" "$ISOLATED_CACHE" &&
    mount --bind "$ISOLATED_PLACE/lock" "$ISOLATED_LOCK.lock" &&
    mount --bind "$ISOLATED_PLACE/turn" "$ISOLATED_LOCK.turn" &&
    mount -t tmpfs -o mode=1777 shm /dev/shm || exit 1
"$@"
exit $?
"""


def possible() -> bool:
    """Return whether this user may make such namespaces; only root need try, who alone runs servers as another user."""
    if os.getuid() != 0:
        return False
    with contextlib.suppress(FileNotFoundError):
        return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    return False


@contextlib.contextmanager
def prepared() -> Iterator[dict[str, str]]:
    """Have a folder for what workers have of their own; yields the environment that names it to them."""
    # Not in /tmp: temporary files of a worker's, in the folder, are what tests look for in a folder of that name.
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir="/var/tmp") as name, workplace.passing(Path(name)):
        Path(name).chmod(0o755)
        yield {FOLDER: name}
        for left in cgroups(name):
            left.rmdir()


def command(words: list[str]) -> list[str]:
    """Make what one worker has of its own; returns the command that starts Python with these arguments in it."""
    # Studies measured by one worker do not go before the tests of the others: that is for ordinary programs only.
    os.nice(1)
    place = Path(tempfile.mkdtemp(prefix="w", dir=os.environ[FOLDER]))
    place.chmod(0o755)
    for folder, mode in (("cache", 0o755), ("tmp", 0o1777)):
        (place / folder).mkdir()
        (place / folder).chmod(mode)
    for file in ("lock", "turn"):
        (place / file).touch()
        (place / file).chmod(locks.EVERYONE_RW)
    with locks.shared():  # makes the files to mount over
        lock = locks.lock_directory() / locks.HOST_LOCK_NAME
    own = {"PLACE": place, "CACHE": workplace.cache_directory(), "LOCK": lock}
    os.environ.update({f"{FOLDER}_{name}": str(path) for name, path in own.items()}, TMPDIR=str(place / "tmp"))
    return [*UNSHARE, "sh", "-c", ENTER, "sh", sys.executable, *words]


def enter_cgroup() -> None:
    """Move this process into a cgroup of its own where there are any, since tests list those of theirs."""
    if own := freezer.own_folder():
        made = own / f"{Path(os.environ[FOLDER]).name}-{os.getpid()}"
        made.mkdir()
        (made / "cgroup.procs").write_text(str(os.getpid()))


def cgroups(name: str = PREFIX) -> list[Path]:
    """Return the cgroups of the workers whose folder is of that name, or of all workers."""
    return list(own.glob(f"{Path(name).name}*")) if (own := freezer.own_folder()) else []


if __name__ == "__main__":
    enter_cgroup()
    started = command(sys.argv[1:])
    os.execvp(started[0], started)
