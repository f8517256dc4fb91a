"""Judge the members of an archive before they are written: nothing may reach outside the tree or grow without bound.

Python 3.11.0 to 3.11.3 lack tarfile's `data` filter (Debian 12 ships 3.11.2), so its rules stand here, for zip as well.
"""

import stat
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

Kind = Literal["file", "directory", "symlink", "hardlink", "device"]

MEMBERS_MAX = 1_000_000
# Far more than any server's sources have; what walks a tree calls itself for each level.
DEPTH_MAX = 100


class ArchiveError(RuntimeError):
    """An archive that is damaged, or would write where it must not; the text names the archive and the member."""


@dataclass(frozen=True)
class Member:
    """One entry of an archive; `link` is a link's target, `mtime_s` seconds since the epoch."""

    name: str
    kind: Kind
    mode: int = 0o644
    size_bytes: int = 0
    link: str = ""
    mtime_s: float = 0.0

    @property
    def parts(self) -> tuple[str, ...]:
        return PurePosixPath(self.name).parts


@dataclass
class Gate:
    """Remembers what was let through: a later member can turn an earlier, harmless one into a way out."""

    bytes_max: int
    seen: dict[tuple[str, ...], Member] = field(default_factory=dict)
    size_bytes: int = 0

    def admit(self, member: Member) -> None:
        """Raise ArchiveError, naming the member, unless writing it stays inside the tree and the limits."""
        self.size_bytes += member.size_bytes
        problem = self._path_problem(member) or self._kind_problem(member)
        if not problem and (self.size_bytes > self.bytes_max or len(self.seen) >= MEMBERS_MAX):
            problem = f"the archive unpacks to more than {self.bytes_max >> 20} MiB or {MEMBERS_MAX} members"
        if problem:
            raise ArchiveError(f"member {member.name!r} refused: {problem}")
        self.seen[member.parts] = member

    def _kind_at(self, parts: tuple[str, ...]) -> Kind | None:
        return self.seen[parts].kind if parts in self.seen else None

    def _path_problem(self, member: Member) -> str | None:
        parts = member.parts
        if member.name.startswith("/"):
            return "absolute path"
        if ".." in parts:
            return "'..' in its path"
        if len(parts) > DEPTH_MAX:
            return f"more than {DEPTH_MAX} folders deep"
        if any(self._kind_at(parts[:depth]) == "symlink" for depth in range(1, len(parts))):
            return "its path goes through a symbolic link"
        if parts in self.seen and not (member.kind == self._kind_at(parts) == "directory"):
            return "a second member of this name"
        return None

    def _kind_problem(self, member: Member) -> str | None:
        match member.kind:
            case "device":
                return "a device, fifo or socket"
            case "file" if member.mode & (stat.S_ISUID | stat.S_ISGID):
                return f"setuid or setgid bit (mode {member.mode:o})"
            case "symlink":
                return symlink_problem(member)
            case "hardlink" if self._kind_at(PurePosixPath(member.link).parts) not in ("file", "hardlink"):
                return f"hard link to {member.link!r}, which is no earlier file of this archive"
        return None


def symlink_problem(member: Member) -> str | None:
    """Say why a symbolic link could lead out of the tree, or None.

    `..` passes only at the start of the target: behind a name, that name may be a link itself, and then the kernel goes
    elsewhere than the text says.
    """
    target = PurePosixPath(member.link).parts
    climbs = target.count("..")
    if not target or member.link.startswith("/") or climbs > len(member.parts) - 1:
        return f"symbolic link out of the tree, to {member.link!r}"
    return f"symbolic link with '..' behind a name, to {member.link!r}" if ".." in target[climbs:] else None
