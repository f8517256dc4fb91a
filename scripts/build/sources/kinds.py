"""Kinds of sources, one class per kind: its part of the recipe, how it is fetched, which trees were made from it."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from scripts.build.sources import SourceError, archive, debian, download, git, installed, local, maven, working_tree
from scripts.build.sources.addresses import without_logins
from scripts.build.sources.declared import DeclaredSource, SourceContent, SourceIdentity
from scripts.build.sources.installed import Product
from scripts.lib.host.address import Address
from scripts.lib.json_record import file_sha256
from scripts.lib.recipe_models import ServerSourceRecipe

PREFIX = "prefix"
RUNNING = "running"


@dataclass(frozen=True)
class Fetched:
    """Files of one source on disk, and the function that unpacks them into a new directory.

    `release` is the release that the source states, for a tree that names none; `marks` identify the source.
    """

    kind: str
    origin: str
    release: str
    files: tuple[Path, ...]
    unpack: Callable[[Path], None]
    marks: SourceIdentity = field(default_factory=SourceIdentity)


@dataclass(frozen=True)
class SourceKind(ABC):
    """One entry of a server's `sources`; the class is its kind, whose `key` the entry has.

    An installed server is recognised as one of `product`.
    """

    source: DeclaredSource
    product: Product
    key: ClassVar[str]
    # Whether the server comes compiled.
    prebuilt: ClassVar[bool] = False
    # Whether the recipe states the content itself, so that no other source can stand in for it.
    sole: ClassVar[bool] = False

    @property
    def stated_sha256(self) -> str:
        """Return the entry's checksum in lower case, empty if it states none."""
        return self.source.get("sha256", "").lower()

    def declared(self, version: str) -> SourceContent:
        """Return the entry's part of the recipe, never a path or a mirror. Raises ValueError naming key and path."""
        return {"sha256": self.source.get("sha256")}

    @abstractmethod
    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        """Bring the source to this machine; of a recipe whose `sha256` is another source's, it is None.

        Raises SourceError, CommandFailed, OSError.
        """

    def matches(self, identity: SourceIdentity, recipe: ServerSourceRecipe) -> bool:
        """Return whether a tree of this kind with this identity was made from the same content."""
        return self.stated_sha256 in identity.sums


class Debian(SourceKind):
    """A source package of the distribution, whose signature apt checks."""

    key = "debian"

    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        package = debian.fetch_package(self.source["debian"], recipe.version, downloads)
        origin = f"source package {package.name} {package.version}"

        def unpack(target: Path) -> None:
            debian.unpack_package(package, target)

        return Fetched(self.key, origin, package.release, package.files, unpack, SourceIdentity(package=package.name))

    def matches(self, identity: SourceIdentity, recipe: ServerSourceRecipe) -> bool:
        return identity.package == self.source["debian"]


class Url(SourceKind):
    """An archive of the sources at one or more mirrors, with a stated checksum."""

    key = "url"

    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        mirrors = mirrors_of(self.source, recipe.version)
        if not self.stated_sha256:
            raise SourceError(f"{mirrors[0]}: sha256 is missing; a file from the network is used only if it is stated")
        file = download.fetch(mirrors, self.stated_sha256, downloads)
        origin = str(mirrors[0]) if len(mirrors) == 1 else f"one of {', '.join(map(str, mirrors))}"
        return _archived(self.key, origin, recipe, file)


class File(SourceKind):
    """An archive of the sources on this machine."""

    key = "file"

    def declared(self, version: str) -> SourceContent:
        file = source_path(with_version(self.source["file"], version))
        readable = not self.source.get("sha256") and not local.problem(file)
        return {"sha256": self.source.get("sha256") or (working_tree.digest_of_state(file) if readable else None)}

    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        file = Path(with_version(self.source["file"], recipe.version)).expanduser()
        if problem := local.problem(file):
            raise SourceError(f"{file}: {problem}, expected an archive")
        expected = self.source.get("sha256") or recipe.sha256
        if expected and (actual := file_sha256(file)) != expected.lower():
            raise SourceError(f"{file}: sha256 is {actual}, expected {expected}")
        return _archived(self.key, str(file), recipe, file)


class Maven(SourceKind):
    """An archive of a compiled server in a Maven repository."""

    key = "maven"
    prebuilt = True

    def declared(self, version: str) -> SourceContent:
        content: SourceContent = {"maven": self.source["maven"], "sha256": self.source.get("sha256")}
        if "folder" in self.source:
            content["folder"] = self.source["folder"]
        return content

    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        coordinates = with_version(self.source["maven"], recipe.version)
        file = maven.fetch(coordinates, self.stated_sha256 or None, downloads)
        folder = self.source.get("folder", "")
        marks = SourceIdentity(maven=coordinates, folder=folder or None)

        def unpack(target: Path) -> None:
            archive.unpack(file, target, with_version(folder, recipe.version))

        return Fetched(self.key, f"Maven artifact {coordinates}", recipe.version, (file,), unpack, marks)

    def matches(self, identity: SourceIdentity, recipe: ServerSourceRecipe) -> bool:
        same = identity.maven == with_version(self.source["maven"], recipe.version)
        same = same and identity.folder == self.source.get("folder")
        return same and (not self.stated_sha256 or super().matches(identity, recipe))


class Git(SourceKind):
    """A commit of a git repository, with its submodules."""

    key = "git"
    sole = True

    def declared(self, version: str) -> SourceContent:
        return {"commit": self.source["commit"]}

    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        repository, commit = git.location(self.source["git"]), self.source["commit"]
        git.fetch(repository, commit, downloads)

        def unpack(target: Path) -> None:
            git.unpack(repository, commit, downloads, target)

        origin = f"commit {commit} of {repository}"
        return Fetched(self.key, origin, recipe.version, (), unpack, SourceIdentity(commit=commit))

    def matches(self, identity: SourceIdentity, recipe: ServerSourceRecipe) -> bool:
        return identity.commit == self.source["commit"]


class Directory(SourceKind):
    """A directory of sources on this machine, such as the user's working tree."""

    key = "directory"
    sole = True

    def declared(self, version: str) -> SourceContent:
        return {"content_sha256": working_tree.content_sha256(source_path(self.source["directory"]))}

    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        root = source_path(self.source["directory"])
        expected = recipe.content_sha256 or working_tree.content_sha256(root)

        def unpack(target: Path) -> None:
            if working_tree.copy(root, target) != expected:
                raise SourceError(f"directory: {root}: changed since the workflow started and read it; run again")

        marks = SourceIdentity(content_sha256=expected)
        return Fetched(self.key, f"working tree {root}", recipe.version, (), unpack, marks)

    def matches(self, identity: SourceIdentity, recipe: ServerSourceRecipe) -> bool:
        return identity.content_sha256 == (recipe.content_sha256 or "")


class Installed(SourceKind):
    """A server that is installed on this machine; its tree is one link to the declared path."""

    key = "installed"
    prebuilt = True
    sole = True

    @property
    def path(self) -> Path:
        """Return the declared path."""
        return source_path(self.source["installed"])

    def program(self) -> Path:
        """Return the server program. Raises ValueError naming key and path."""
        return installed.find_program(self.path, self.key, self.product)

    def declared(self, version: str) -> SourceContent:
        return {"program_sha256": working_tree.digest_of_state(self.program())}

    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        path, program = self.path, self.program()
        marks = SourceIdentity(path=str(path), program_sha256=file_sha256(program))
        if recipe.program_sha256 not in (None, marks.program_sha256):
            raise SourceError(f"installed: {program}: changed since the workflow started and read it; run again")

        def unpack(target: Path) -> None:
            target.mkdir(parents=True)
            (target / PREFIX).symlink_to(path)

        return Fetched(self.key, f"server installed as {program}", recipe.version, (program,), unpack, marks)

    def matches(self, identity: SourceIdentity, recipe: ServerSourceRecipe) -> bool:
        return identity.path == str(self.path) and file_sha256(self.program()) in identity.sums


class AlreadyRunning(SourceKind):
    """A server that already runs, which the workflow neither starts nor stops: its address is its identity."""

    key = RUNNING
    prebuilt = True
    sole = True

    def declared(self, version: str) -> SourceContent:
        return {"running": self.source["running"], "without_tls": not self.source.get("tls", True)}

    def fetch(self, recipe: ServerSourceRecipe, downloads: Path) -> Fetched:
        raise SourceError(f"running: {self.source['running']}: nothing of a server that already runs can be fetched")

    def matches(self, identity: SourceIdentity, recipe: ServerSourceRecipe) -> bool:
        return identity.running == self.source["running"]


DECLARABLE = (Debian, Url, File, Maven, Git, Directory, Installed, AlreadyRunning)
KINDS: dict[str, type[SourceKind]] = {kind.key: kind for kind in DECLARABLE}
SOURCE_KINDS = tuple(KINDS)
SOLE_KINDS = tuple(key for key, kind in KINDS.items() if kind.sole)


def _archived(key: str, origin: str, recipe: ServerSourceRecipe, file: Path) -> Fetched:
    def unpack(target: Path) -> None:
        archive.unpack(file, target)

    return Fetched(key, origin, recipe.version, (file,), unpack)


def kind_of(source: DeclaredSource) -> str:
    """Return the kind's key of an entry of `sources`. Raises ValueError showing the entry."""
    match [key for key in KINDS if key in source]:
        case [key]:
            return key
        case _:
            raise ValueError(
                f"source {without_logins(source)}: expected exactly one of the keys {', '.join(SOURCE_KINDS)}"
            )


def read_source(source: DeclaredSource, product: Product) -> SourceKind:
    """Return an entry of `sources` as an object of its kind. Raises ValueError showing the entry."""
    return KINDS[kind_of(source)](source, product)


def prebuilt(sources: list[DeclaredSource]) -> bool:
    """Return whether a server comes compiled; its first source decides."""
    return KINDS[kind_of(sources[0])].prebuilt


def is_running(sources: list[DeclaredSource]) -> bool:
    """Return whether a server already runs, so that nothing of it is built, started or stopped."""
    return RUNNING in sources[0]


def declared_source(sources: list[DeclaredSource], version: str, product: Product) -> SourceContent:
    """Return the part of a server's recipe that its sources make up: that of the first source alone.

    A directory, an installed program and an archive without a stated checksum are read at every call, except for files
    that did not change since the last; `version` is filled into an archive's path, and an installed server is one of
    `product`.
    Raises ValueError naming key and path when they are not there.
    """
    return read_source(sources[0], product).declared(version)


def source_candidates(sources: list[DeclaredSource]) -> list[DeclaredSource]:
    """Return the sources to try, in order: all of them, or the first alone if no other can stand in for it."""
    return sources[:1] if KINDS[kind_of(sources[0])].sole else sources


def source_path(text: str) -> Path:
    """Return a declared path with `~` filled in and links followed, where they lead somewhere."""
    return Path(os.path.realpath(os.path.expanduser(text)))  # noqa: PTH111, pathlib's raise for links in a circle


def with_version(text: str, version: str) -> str:
    """Return a declared text with the server's version in place of {version}."""
    return text.replace("{version}", version)


def mirrors_of(source: DeclaredSource, version: str) -> list[Address]:
    """Return the URLs of a source of kind url."""
    declared = source["url"]
    return [Address(with_version(url, version)) for url in ([declared] if isinstance(declared, str) else declared)]
