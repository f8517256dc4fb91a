"""What a study declares of a server's sources, as JSON objects, and the record of what was made of it."""

from dataclasses import dataclass, field
from typing import TypedDict

from scripts.lib.parts import Part
from scripts.lib.recipe_models import ServerSourceRecipe


class DeclaredSource(TypedDict, total=False):
    """An entry of a server's `sources`: the key of its kind, and the keys that go with it."""

    debian: str
    url: str | list[str]
    file: str
    maven: str
    git: str
    directory: str
    installed: str
    running: str
    # Of an archive; the folder in a Maven artifact; of a repository.
    sha256: str
    folder: str
    commit: str
    # Of a server that already runs.
    tls: bool
    ca: str
    credentials: str
    environment: str


class SourceContent(TypedDict, total=False):
    """The part of a recipe that the first source makes up: what its content is, never a path or a mirror."""

    sha256: str | None
    maven: str
    folder: str
    commit: str
    content_sha256: str
    program_sha256: str
    running: str
    without_tls: bool


@dataclass(frozen=True)
class WantedSource:
    """A server's tree to make: its recipe, and the sources of which the first available one is taken."""

    recipe: ServerSourceRecipe
    sources: list[DeclaredSource]


class DeclaredServer(TypedDict):
    """The part of a server's entry in a study that says where it comes from."""

    sources: list[DeclaredSource]


@dataclass(frozen=True, slots=True)
class SourceFile(Part):
    """A file that a tree was made from."""

    name: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class SourceIdentity(Part):
    """The record of a source tree, source.json: what it was asked to be, what it is, and what it was made from.

    The fields from `package` to `running` are those of some kinds only.
    """

    server: str = ""
    product: str = ""
    version: str = ""
    release: str = ""
    kind: str = ""
    origin: str = ""
    package: str | None = None
    maven: str | None = None
    folder: str | None = None
    commit: str | None = None
    content_sha256: str | None = None
    path: str | None = None
    program_sha256: str | None = None
    running: str | None = None
    files: list[SourceFile] = field(default_factory=list)
    tree_sha256: str | None = None

    def written_empty(self) -> tuple[str, ...]:
        """Return the names of the fields that are written without a value as well."""
        return ("files",)

    @property
    def sums(self) -> set[str]:
        """The SHA-256 of each file that it was made from."""
        return {file.sha256 for file in self.files}
