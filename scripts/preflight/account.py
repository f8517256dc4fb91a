"""Who runs the workflow, who servers will run as, and where that user can enter."""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from scripts import hostlock, workplace
from scripts.preflight.finding import Finding, Findings, Machine, ok
from scripts.preflight.needs import Needs
from scripts.workplace import cache_path


def check(needs: Needs, _machine: Machine) -> Findings:
    """Judge the user, what the servers' user can enter, and who owns the cache."""
    yield user(os.getuid(), known(workplace.SERVER_USER))
    yield cache(cache_path(), os.getuid())
    yield lock()
    folders = {f"storage {name}": Path(path).expanduser() for name, path in needs.storages.items() if path}
    if os.getuid() == 0:
        yield from entered(Path.cwd(), folders)


def known(name: str) -> bool:
    """Tell whether a user of this name exists."""
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def user(uid: int, server_user_exists: bool) -> Finding:
    """Judge who servers will run as."""
    if uid != 0:
        return ok("user", f"uid {uid}; servers run as the same")
    if server_user_exists:
        return ok("user", f"root; servers run as {workplace.SERVER_USER}")
    why = "PostgreSQL refuses to run as root, and no server should"
    change = f"sudo useradd --system {workplace.SERVER_USER}, or run as another user than root"
    return Finding("problem", "user", f"root, and there is no user {workplace.SERVER_USER}", why, change)


def cache(folder: Path, uid: int) -> Finding:
    """Judge the cache folder's owner."""
    if not folder.is_symlink() and (not folder.exists() or folder.stat().st_uid == uid):
        return ok("cache owner", f"{folder}, " + ("yours" if folder.exists() else "not made yet"))
    why = "compilers and servers read from it what they trust"
    return Finding("problem", "cache owner", f"{folder} is another user's", why, f"sudo rm -r {folder}")


def lock() -> Finding:
    """Judge whether there is a folder for the lock that all users of the machine share."""
    try:
        return ok("machine-wide lock", f"in {hostlock.lock_directory()}")
    except ValueError as error:
        why = "without it two studies could measure at the same time"
        return Finding("problem", "machine-wide lock", str(error), why, "sudo chmod 1777 /var/tmp")


def entered(checkout: Path, storages: Mapping[str, Path]) -> Findings:
    """Judge where the servers' user can enter, when root runs the workflow."""
    if closed := closed_above(checkout):
        fact = f"{closed} is closed to {workplace.SERVER_USER}"
        why = "servers cannot be started from there: a copy of every install tree goes to the cache first"
        yield Finding("note", "checkout", fact, why, f"chmod o+x {closed}, or a checkout elsewhere")
    else:
        yield ok("checkout", f"{checkout} can be entered by {workplace.SERVER_USER}")
    for name, folder in storages.items():
        if closed := closed_above(folder):
            fact, why = f"{closed} is closed to {workplace.SERVER_USER}", "servers keep their data there"
            yield Finding("problem", name, fact, why, f"chmod o+x {closed}")


def closed_above(path: Path) -> Path | None:
    """Return the topmost existing folder on the way to and into `path` that others cannot enter."""
    way = [path.resolve(), *path.resolve().parents]
    closed = [folder for folder in way if folder.is_dir() and not folder.stat().st_mode & 0o001]
    return closed[-1] if closed else None
