"""The user and folders of a study, their file systems, and whether what the plan estimates fits there."""

import contextlib
import fcntl
import os
import pwd
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts import ROOT
from scripts.build.compilation.trials import FAILURES, one_line
from scripts.commands.doctor.checkup import SET_UP, CheckResult, CheckResults, Machine, ok
from scripts.commands.doctor.needs import Needs
from scripts.lib.host import locks, workplace
from scripts.lib.host.cache import cache_path
from scripts.lib.host.storage import mount_of, nearest_folder
from scripts.study.plan.memory_room import amount_text
from scripts.study.plan.preview import execution, limits
from scripts.study.plan.preview.due import Due
from scripts.study.plan.preview.estimates import Durations, Sizes
from scripts.study.plan.preview.rerun_reasons import Reasons, RunReasons
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule


def check_account(needs: Needs, _machine: Machine) -> CheckResults:
    """Judge the user, the folders that the servers' user can enter, and the owner of the cache."""
    yield server_user(os.getuid(), is_known_user(workplace.SERVER_USER))
    yield cache_folder(cache_path(), os.getuid())
    yield lock_folder()
    folders = {f"storage {name}": Path(path).expanduser() for name, path in needs.storages.items() if path}
    if os.getuid() == 0:
        yield from enterable(Path.cwd(), folders)


def is_known_user(name: str) -> bool:
    """Return whether a user of this name exists."""
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def server_user(uid: int, server_user_exists: bool) -> CheckResult:
    """Judge the user that servers will run as."""
    if uid != 0:
        return ok("user", f"uid {uid}; servers run as the same")
    if server_user_exists:
        return ok("user", f"root; servers run as {workplace.SERVER_USER}")
    why = "PostgreSQL refuses to run as root, and no server should"
    change = f"sudo useradd --system {workplace.SERVER_USER}, or run as another user than root"
    return CheckResult("problem", "user", f"root, and there is no user {workplace.SERVER_USER}", why, change)


def cache_folder(folder: Path, uid: int) -> CheckResult:
    """Judge the cache folder's owner."""
    if not folder.is_symlink() and (not folder.exists() or folder.stat().st_uid == uid):
        return ok("cache owner", f"{folder}, " + ("yours" if folder.exists() else "not made yet"))
    why = "compilers and servers trust the files in it"
    return CheckResult("problem", "cache owner", f"{folder} is another user's", why, f"sudo rm -r {folder}")


def lock_folder() -> CheckResult:
    """Judge whether there is a folder for the lock that all users of the machine share."""
    try:
        return ok("machine-wide lock", f"in {locks.lock_directory()}")
    except ValueError as error:
        why = "without it two studies could measure at the same time"
        return CheckResult("problem", "machine-wide lock", str(error), why, "sudo chmod 1777 /var/tmp")


def enterable(checkout: Path, storages: Mapping[str, Path]) -> CheckResults:
    """Judge which folders the servers' user can enter, when root runs the workflow."""
    if closed := closed_above(checkout):
        fact = f"{closed} is closed to {workplace.SERVER_USER}"
        why = "servers cannot be started from there, so every install tree is copied to the cache first"
        yield CheckResult("note", "checkout", fact, why, f"chmod o+x {closed}, or a checkout elsewhere")
    else:
        yield ok("checkout", f"{checkout} can be entered by {workplace.SERVER_USER}")
    for name, folder in storages.items():
        if closed := closed_above(folder):
            fact, why = f"{closed} is closed to {workplace.SERVER_USER}", "servers keep their data there"
            yield CheckResult("problem", name, fact, why, f"chmod o+x {closed}")


def closed_above(path: Path) -> Path | None:
    """Return the topmost existing folder on the way to and into `path` that others cannot enter."""
    way = [path.resolve(), *path.resolve().parents]
    closed = [folder for folder in way if folder.is_dir() and not folder.stat().st_mode & 0o001]
    return closed[-1] if closed else None


RESULTS = Path("results")
# ioctl_ficlone(2)
FICLONE = 0x40049409
IN_MEMORY = ("tmpfs", "ramfs")
REMOTE = ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse", "fuse.sshfs", "virtiofs", "ceph", "glusterfs", "fuse.glusterfs")
MIB = 2**20


@dataclass(frozen=True)
class FolderSeen:
    """A folder that exists or will be made, and its file system; `reflink` is None where it is not known."""

    name: str
    path: Path
    filesystem: str
    free_mib: float
    writable: bool
    reflink: bool | None
    noexec: bool = False


def check_places(needs: Needs, machine: Machine) -> CheckResults:
    """Look at every place the study writes to."""
    cache = cache_path()
    run = execution.programs(
        bool(needs.compiled),
        execution.runs_from_here(needs.study.declared.servers[name] for name in needs.servers),
        RESULTS,
    )
    for name, path in {"results": RESULTS, "cache": cache}.items():
        yield writable(folder_seen := look_at_place(name, path, machine))
        if folder_seen.noexec:
            yield runs_nothing(folder_seen, run.get(name, []))
    for name, folder in needs.storages.items():
        path = Path(folder).expanduser() if folder else cache / "data"
        folder_seen = look_at_place(f"storage {name}" if folder else name, path, machine)
        yield writable(folder_seen)
        yield file_system(folder_seen)


def look_at_place(name: str, path: Path, machine: Machine) -> FolderSeen:
    """Look at a folder, or at the nearest one above it that exists; `reflink` is about copies from the results."""
    existing = nearest_folder(path)
    kind, options = mount_of(existing, machine.text("proc/self/mountinfo") or "")
    writable = os.access(existing, os.W_OK | os.X_OK)
    noexec, free_mib = "noexec" in options.split(","), shutil.disk_usage(existing).free / MIB
    return FolderSeen(name, path, kind, free_mib, writable, reflinks(nearest_folder(RESULTS), existing), noexec)


def reflinks(source: Path, target: Path) -> bool | None:
    """Try whether a copy from one folder to another shares blocks, on unnamed files; None where that is impossible."""
    with contextlib.ExitStack() as stack:
        try:
            handles = [os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600) for folder in (source, target)]
        except OSError:
            return None
        original, copy = (stack.enter_context(os.fdopen(handle, "r+b", buffering=0)) for handle in handles)
        original.write(bytes(4096))
        try:
            fcntl.ioctl(copy, FICLONE, original.fileno())
        except OSError:
            return False
    return True


def writable(folder: FolderSeen) -> CheckResult:
    """Judge whether a place can be written to; the plan judges whether its free space suffices."""
    if not folder.writable:
        why, change = "the study writes there", f"sudo chown $USER {folder.path}, or use a folder of yours"
        return CheckResult("problem", folder.name, f"{folder.path} cannot be written to", why, change)
    return ok(folder.name, f"{folder.path} ({folder.filesystem}): {folder.free_mib / 1024:.1f} GiB free")


def runs_nothing(folder: FolderSeen, programs: list[str]) -> CheckResult:
    """Judge a place on a file system from which no program runs; `programs` are those that the study runs there."""
    fact = f"{folder.path} is on a file system mounted noexec ({folder.filesystem})"
    if not programs:
        return ok(f"{folder.name} noexec", f"{fact}; nothing of this study runs from there")
    why = f"programs run from there: {' and '.join(programs)}"
    return CheckResult("problem", f"{folder.name} noexec", fact, why, execution.REMEDY[folder.name])


def file_system(folder: FolderSeen) -> CheckResult:
    """Judge the file system that data directories are on."""
    kind = folder.filesystem
    if kind in IN_MEMORY:
        why = "the figures contain no disk: fsync costs nothing there, and data takes memory from the server"
        return CheckResult("note", folder.name, f"{kind}, in memory", why, "name a folder on a disk under `storage`")
    if kind in REMOTE or kind.startswith("fuse."):
        why = "each fsync is a network message, whose measured time varies with the load of others"
        return CheckResult(
            "warning", folder.name, f"{kind}, not a local disk", why, "name a local folder under `storage`"
        )
    if kind == "overlay":
        why = "a container's layers: the first write to a file copies it"
        return CheckResult(
            "warning", folder.name, "overlay", why, "mount a volume, and name its folder under `storage`"
        )
    if folder.reflink is False:
        why = "every run copies the whole dataset before it starts: that costs time and disk, the figures do not suffer"
        change = "results and storage on one file system that shares blocks: xfs or btrfs"
        return CheckResult("note", folder.name, f"{kind}, copies do not share blocks (no reflink)", why, change)
    return ok(folder.name, f"{kind}, " + ("copies share blocks" if folder.reflink else "sharing of blocks not known"))


CERTAIN_WHY = "the study would fail when it reaches this limit"
POSSIBLE_WHY = "the study may fail when it reaches this limit: sizes are estimates"


def check_limits(needs: Needs, machine: Machine) -> CheckResults:
    """Judge whether what the study would make and measure fits on this machine."""
    try:
        due = Due(Schedule(Plan(needs.study, ROOT)))
        sizes = Sizes(due, Durations(due, RunReasons(Reasons(due)), cores=1))
        reached = limits.find_limits(due, sizes, limits.read_headroom(machine.root), str(cache_path()))
    except FAILURES as error:
        yield CheckResult("note", "room", "not estimated", f"the estimate needs all tools: {one_line(error)}", SET_UP)
        return
    for limit in reached:
        why = CERTAIN_WHY if limit.certain else POSSIBLE_WHY
        yield CheckResult("problem" if limit.certain else "warning", "limit", limit.text, why, limit.remedy)
    if not reached:
        yield ok("room", needed_text(due, sizes) if due.report else "nothing to make or measure")


def needed_text(due: Due, sizes: Sizes) -> str:
    """Return the disk space that the study needs by folder."""
    needed_mib: dict[str, float] = {}
    for demand in limits.demanded(due, sizes, str(cache_path())):
        needed_mib[demand.path] = needed_mib.get(demand.path, 0) + demand.most_mib
    return f"up to {', '.join(f'{amount_text(mib)} in {path}' for path, mib in needed_mib.items())}; it fits"
