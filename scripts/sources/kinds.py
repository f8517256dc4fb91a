"""One source of a server on disk: what each kind fetches, and how its tree is made from that."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.record import file_sha256
from scripts.sources import SourceError, debian, download, git, installed, maven, working_tree
from scripts.sources import archive as sources_archive
from scripts.sources.product import Product
from scripts.sources.working_tree import digest_of_state

Source = dict[str, Any]

SOURCE_KINDS = ("debian", "url", "file", "maven", "git", "directory", "installed")
PREBUILT_KINDS = ("maven", "installed")
# Of these the recipe holds the content itself, so that nothing else can stand in for them.
SOLE_KINDS = ("git", "directory", "installed")


def kind_of(source: Source) -> str:
    """Return which of the kinds an entry of `sources` is. Raises ValueError showing the entry."""
    match [kind for kind in SOURCE_KINDS if kind in source]:
        case [kind]:
            return kind
        case _:
            raise ValueError(f"source {source}: expected exactly one of the keys {', '.join(SOURCE_KINDS)}")


def prebuilt(sources: list[Source]) -> bool:
    """Tell whether a server comes ready-made, so that there is nothing to compile: its first source decides."""
    return kind_of(sources[0]) in PREBUILT_KINDS


def declared_source(sources: list[Source], version: str, product: Product) -> dict[str, Any]:
    """Return what of a server's sources is part of its recipe: of the first alone, and never a path or a mirror.

    A directory, an installed program and an archive without a stated checksum are read at every call, except for files
    that did not change since the last; `version` is filled into an archive's path, and an installed server is one of
    `product`.
    Raises ValueError naming key and path when they are not there.
    """
    first = sources[0]
    match kind_of(first):
        case "maven":
            return {"maven": first["maven"], "sha256": first.get("sha256")}
        case "git":
            return {"commit": first["commit"]}
        case "directory":
            return {"content_sha256": working_tree.content_sha256(source_path(first["directory"]))}
        case "installed":
            program = installed.find_program(source_path(first["installed"]), "installed", product)
            return {"program_sha256": digest_of_state(program)}
        case "file":
            archive = source_path(first["file"].replace("{version}", version))
            return {"sha256": first.get("sha256") or (digest_of_state(archive) if archive.is_file() else None)}
    return {"sha256": first.get("sha256")}


def source_candidates(sources: list[Source]) -> list[Source]:
    """Return the sources to try, in order: all of them, or the first alone where nothing can stand in for it."""
    return sources[:1] if kind_of(sources[0]) in SOLE_KINDS else sources


def source_path(text: str) -> Path:
    """Return a path as declared, `~` filled in, links followed."""
    return Path(text).expanduser().resolve()


Recipe = dict[str, Any]

PREFIX = "prefix"


@dataclass(frozen=True)
class Fetched:
    """Files of one source on disk, and how to unpack them into a new directory.

    `release` is what the source says itself, for a tree that names none; `known` is what identifies the source.
    """

    kind: str
    origin: str
    release: str
    files: tuple[Path, ...]
    unpack: Callable[[Path], None]
    known: dict[str, str] = field(default_factory=dict)


def from_debian(recipe: Recipe, source: Source, downloads: Path) -> Fetched:
    package = debian.fetch_package(source["debian"], recipe["version"], downloads)
    origin = f"source package {package.name} {package.version}"
    return Fetched(
        "debian", origin, package.release, package.files, lambda target: debian.unpack_package(package, target)
    )


def from_url(recipe: Recipe, source: Source, downloads: Path) -> Fetched:
    declared = source["url"]
    mirrors = [filled_source(url, recipe) for url in ([declared] if isinstance(declared, str) else declared)]
    if not source.get("sha256"):
        raise SourceError(f"{mirrors[0]}: sha256 is missing; what comes over the network is used only if it is stated")
    file = download.fetch(mirrors, source["sha256"].lower(), downloads)
    origin = mirrors[0] if len(mirrors) == 1 else f"one of {', '.join(mirrors)}"
    return Fetched("url", origin, recipe["version"], (file,), lambda target: sources_archive.unpack(file, target))


def from_file(recipe: Recipe, source: Source, downloads: Path) -> Fetched:
    file = Path(filled_source(source["file"], recipe)).expanduser()
    if not file.is_file():
        raise SourceError(f"{file}: no such file")
    # The recipe's is that of the first source: stated, or read from the archive when the workflow started.
    expected = source.get("sha256") or (recipe.get("sha256") if source == recipe["sources"][0] else None)
    if expected and (found := file_sha256(file)) != expected.lower():
        raise SourceError(f"{file}: sha256 is {found}, expected {expected}")
    return Fetched("file", str(file), recipe["version"], (file,), lambda target: sources_archive.unpack(file, target))


def from_maven(recipe: Recipe, source: Source, downloads: Path) -> Fetched:
    coordinates = filled_source(source["maven"], recipe)
    file = maven.fetch(coordinates, source.get("sha256", "").lower() or None, downloads)
    known = {"maven": coordinates}
    origin = f"Maven artifact {coordinates}"
    return Fetched(
        "maven", origin, recipe["version"], (file,), lambda target: sources_archive.unpack(file, target), known
    )


def from_git(recipe: Recipe, source: Source, downloads: Path) -> Fetched:
    repository, commit = git.location(source["git"]), source["commit"]
    git.fetch(repository, commit, downloads)
    return Fetched(
        "git",
        f"commit {commit} of {repository}",
        recipe["version"],
        (),
        lambda target: git.unpack(repository, commit, downloads, target),
        {"commit": commit},
    )


def from_directory(recipe: Recipe, source: Source, downloads: Path) -> Fetched:
    """Copy a working tree; what was copied must be what the recipe was written from."""
    root = source_path(source["directory"])
    expected = recipe.get("content_sha256") or working_tree.content_sha256(root)

    def copied(target: Path) -> None:
        if working_tree.copy(root, target) != expected:
            raise SourceError(f"directory: {root}: changed since the workflow started and read it; run again")

    return Fetched("directory", f"working tree {root}", recipe["version"], (), copied, {"content_sha256": expected})


def from_installed(recipe: Recipe, source: Source, product: Product) -> Fetched:
    """Point at a server of this machine: the tree is one link to the declared path."""
    path = source_path(source["installed"])
    program = installed.find_program(path, "installed", product)
    known = {"path": str(path), "program_sha256": file_sha256(program)}
    if recipe.get("program_sha256") not in (None, known["program_sha256"]):
        raise SourceError(f"installed: {program}: changed since the workflow started and read it; run again")

    def linked(target: Path) -> None:
        target.mkdir(parents=True)
        (target / PREFIX).symlink_to(path)

    return Fetched("installed", f"server installed as {program}", recipe["version"], (program,), linked, known)


FETCH_FROM: dict[str, Callable[[Recipe, Source, Path], Fetched]] = {
    "debian": from_debian,
    "url": from_url,
    "file": from_file,
    "maven": from_maven,
    "git": from_git,
    "directory": from_directory,
}


def fetch_from(source: Source, recipe: Recipe, downloads: Path, product: Product) -> Fetched:
    """Fetch what a source of any kind needs; an installed server is one of `product`."""
    kind = kind_of(source)
    if kind == "installed":
        return from_installed(recipe, source, product)
    return FETCH_FROM[kind](recipe, source, downloads)


def filled_source(text: str, recipe: Recipe) -> str:
    """Return a declared text with the server's version in place of {version}."""
    return text.replace("{version}", recipe["version"])


def is_of_recipe(identity: dict[str, Any], source: Source, recipe: Recipe, product: Product) -> bool:
    """Tell whether a tree with this identity came from a source of the same kind, and from the same content."""
    sums = {file["sha256"] for file in identity.get("files", [])}
    match identity["kind"]:
        case "debian":
            return str(identity.get("origin")).startswith(f"source package {source['debian']} ")
        case "maven":
            same = identity.get("maven") == filled_source(source["maven"], recipe)
            return same and source.get("sha256", "").lower() in {*sums, ""}
        case "git":
            return identity.get("commit") == source["commit"]
        case "directory":
            return identity.get("content_sha256") == recipe.get("content_sha256", "")
        case "installed":
            path = source_path(source["installed"])
            program = installed.find_program(path, "installed", product)
            return identity.get("path") == str(path) and file_sha256(program) in sums
    return source.get("sha256", "").lower() in sums
