"""The kinds of sources a server can have, and what of them is part of its recipe."""

from pathlib import Path
from typing import Any

from scripts import server_program, working_tree
from scripts.file_digests import digest_of

Source = dict[str, Any]

KINDS = ("debian", "url", "file", "maven", "git", "directory", "installed")
PREBUILT = ("maven", "installed")
# Of these the recipe holds the content itself, so that nothing else can stand in for them.
ALONE = ("git", "directory", "installed")


def kind_of(source: Source) -> str:
    """Return which of the kinds an entry of `sources` is. Raises ValueError showing the entry."""
    match [kind for kind in KINDS if kind in source]:
        case [kind]:
            return kind
        case _:
            raise ValueError(f"source {source}: expected exactly one of the keys {', '.join(KINDS)}")


def prebuilt(sources: list[Source]) -> bool:
    """Tell whether a server comes ready-made, so that there is nothing to compile: its first source decides."""
    return kind_of(sources[0]) in PREBUILT


def declared(sources: list[Source], version: str = "") -> dict[str, Any]:
    """Return what of a server's sources is part of its recipe: of the first alone, and never a path or a mirror.

    A directory, an installed program and an archive without a stated checksum are read at every call, except for files
    that did not change since the last; `version` is filled into an archive's path.
    Raises ValueError naming key and path when they are not there.
    """
    first = sources[0]
    match kind_of(first):
        case "maven":
            return {"maven": first["maven"], "sha256": first.get("sha256")}
        case "git":
            return {"commit": first["commit"]}
        case "directory":
            return {"content_sha256": working_tree.content_sha256(path_of(first["directory"]))}
        case "installed":
            program = server_program.find(path_of(first["installed"]), "installed")
            return {"program_sha256": digest_of(program)}
        case "file":
            archive = path_of(first["file"].replace("{version}", version))
            return {"sha256": first.get("sha256") or (digest_of(archive) if archive.is_file() else None)}
    return {"sha256": first.get("sha256")}


def candidates(sources: list[Source]) -> list[Source]:
    """Return the sources to try, in order: all of them, or the first alone where nothing can stand in for it."""
    return sources[:1] if kind_of(sources[0]) in ALONE else sources


def path_of(text: str) -> Path:
    """Return a path as declared, `~` filled in, links followed."""
    return Path(text).expanduser().resolve()
