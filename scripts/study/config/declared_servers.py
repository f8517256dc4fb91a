"""What a study declares of servers and their sources."""

from typing import Annotated

from pydantic import Field, GetJsonSchemaHandler, Tag
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from scripts.build.sources.declared import DeclaredSource
from scripts.build.sources.kinds import KINDS, SOURCE_KINDS
from scripts.measure.servers import families
from scripts.study.config.scalars import (
    LIST,
    TEXT,
    ConfigKeys,
    FilePath,
    Line,
    PackageName,
    Scalar,
    Sha256,
    Stated,
    Word,
    tagged,
    tagged_by_key,
    text,
)


class PackagesDeclaration(ConfigKeys):
    """Packages of the distribution, by package manager; the set-up installs them for studies that use this."""

    apt: list[PackageName] = Field(default_factory=list, description="Packages of Debian and Ubuntu.")
    dnf: list[PackageName] = Field(default_factory=list, description="Packages of RHEL-like systems.")

    def of_manager(self, manager: str) -> list[str]:
        """Return the packages of apt or of dnf."""
        return {"apt": self.apt, "dnf": self.dnf}[manager]


class SourceKeys(ConfigKeys):
    """One source of a server; the first key of each class is the kind's."""

    @property
    def kind(self) -> str:
        """Return the key of the kind, such as `debian`."""
        return next(iter(type(self).model_fields))

    @property
    def entry(self) -> DeclaredSource:
        """Return the source as the packages below read it."""
        return self.written()  # type: ignore[return-value]  # the classes of sources declare its keys


class DebianSource(SourceKeys):
    """A source package of Debian or Ubuntu; its signatures are checked."""

    debian: PackageName = Field(description="Name of the source package.")


URL_PATTERN = r"^https?://[^\x00-\x20]+$"
Mirror = Annotated[
    str,
    text(
        URL_PATTERN,
        1000,
        title="an address such as https://example.org/server.tar.gz, http or https; an archive of this machine is the "
        "source `file: PATH`",
        description="A mirror.",
    ),
]
Mirrors = Annotated[
    Annotated[str, text(URL_PATTERN, 1000), Tag(TEXT)] | Annotated[list[Mirror], Field(min_length=1), Tag(LIST)],
    tagged(list, LIST),
]


class UrlSource(SourceKeys):
    """An archive to download."""

    url: Mirrors = Field(
        title=(
            "an address such as https://example.org/server.tar.gz, http or https, or a list of such; an archive of "
            "this machine is the source `file: PATH`"
        ),
        description="Address of the archive; mirrors as a list. A login in it is shown and recorded nowhere.",
    )
    sha256: Sha256 = Field()


class FileSource(SourceKeys):
    """An archive on disk."""

    file: FilePath = Field(description="Path of the archive.")
    sha256: Stated[Sha256] = Field(default=None)


class MavenSource(SourceKeys):
    """A ready-made server from a Maven repository."""

    maven: Annotated[str, text(r"^[^:\s-][^:\s]*:[^:\s]+:[^:\s]+:[^:\s]*:[^:\s]+$", 300)] = Field(
        title="group:artifact:extension:classifier:version", description="Its coordinates."
    )
    folder: Stated[Annotated[str, text(r"^[A-Za-z0-9_{][^:\s]*$", 300)]] = Field(
        default=None,
        title="a relative path such as opt/server",
        description="The folder of the archive that holds the server; {version} is filled in.",
    )
    sha256: Stated[Sha256] = Field(default=None)


class GitSource(SourceKeys):
    """A commit of a repository."""

    git: FilePath = Field(description="Address or path of the repository. A login in it is shown and recorded nowhere.")
    commit: Annotated[str, text(r"^[0-9a-f]{40}$", None)] = Field(
        title="the 40 hexadecimal digits of a commit", description="The commit to build."
    )


class DirectorySource(SourceKeys):
    """A working tree, such as one with a patch of yours."""

    directory: FilePath = Field(description="Path of the tree.")


class InstalledSource(SourceKeys):
    """A ready-made server of this machine."""

    installed: FilePath = Field(description="Path of the server program or of the prefix it is installed under.")


class RunningSource(SourceKeys):
    """A server that already runs, a managed one for instance. It is neither started nor stopped; tables are loaded
    into a database that the workflow makes there.
    """

    running: Annotated[str, text(r"^[A-Za-z0-9._][A-Za-z0-9._-]*:[0-9]{1,5}$", 300)] = Field(
        title="host:port", description="Where it listens."
    )
    credentials: Stated[FilePath] = Field(
        default=None,
        description=(
            "A YAML file of mode 0600 with `user` and `password`, both texts as they are written: `0123`, `yes`, "
            "`null` and `1.10` need no quotes."
        ),
    )
    environment: Stated[Annotated[str, text(r"^[A-Z][A-Z0-9_]*$", 100)]] = Field(
        default=None,
        title="the beginning of the names of two environment variables",
        description=(
            "NAME, for user and password in the environment variables NAME_USER and NAME_PASSWORD; a file is safer."
        ),
    )
    ca: Stated[FilePath] = Field(
        default=None,
        description=(
            "A file with the certificates that the server's own is checked with; by default those of the system."
        ),
    )
    tls: bool = Field(
        default=True,
        description="Whether connections are encrypted, and the server's certificate and name are checked.",
    )


SourceDeclaration = Annotated[
    Annotated[DebianSource, Tag("debian")]
    | Annotated[UrlSource, Tag("url")]
    | Annotated[FileSource, Tag("file")]
    | Annotated[MavenSource, Tag("maven")]
    | Annotated[GitSource, Tag("git")]
    | Annotated[DirectorySource, Tag("directory")]
    | Annotated[InstalledSource, Tag("installed")]
    | Annotated[RunningSource, Tag("running")],
    tagged_by_key(*SOURCE_KINDS),
    Field(
        title=f"a mapping with {', '.join(SOURCE_KINDS[:-1])} or {SOURCE_KINDS[-1]}",
        description="One source of a server.",
    ),
]
UpTo100000 = Annotated[float, Scalar("number", exclusiveMinimum=0, maximum=100000)]


class FamilyName(Scalar):
    """The name of a family of scripts/measure/servers/families, whichever there are."""

    def __init__(self) -> None:
        super().__init__("string")

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the names."""
        return {"enum": families.names()}

    def _fits(self, value: object) -> bool:
        return value in families.names()


class ServerDeclaration(ConfigKeys):
    """One product in one release or series."""

    family: Annotated[str, FamilyName()] = Field(
        description="The family, which defines how the server is compiled, started and stopped."
    )
    product: Line = Field(description="Name shown in the report.")
    version: Annotated[str, text(r"^[0-9][0-9A-Za-z.+~-]*$", 40)] = Field(
        title='a release or a series in quotes, such as "10.11"',
        description=(
            "A release (10.11.18), or a series (10.11) for the newest release of it that a source has. In quotes."
        ),
    )
    packages: Stated[PackagesDeclaration] = Field(default=None)
    archive_mib: Stated[UpTo100000] = Field(
        default=None, description="Size of the archive to fetch, in MiB; only the plan's estimate uses it."
    )
    compile_cpu_minutes: Stated[UpTo100000] = Field(
        default=None, description="Minutes of CPU time that one compile takes; only the plan's estimate uses it."
    )
    configure: list[Word] = Field(default_factory=list, description="Further arguments of the configure command.")
    sources: list[SourceDeclaration] = Field(
        min_length=1,
        max_length=20,
        description="Its sources, tried in order; `git`, `directory`, `installed` and `running` stand alone.",
    )

    @property
    def is_prebuilt(self) -> bool:
        """Return whether the server comes compiled; its first source decides."""
        return KINDS[self.sources[0].kind].prebuilt

    @property
    def is_running(self) -> bool:
        """Return whether the server already runs."""
        return isinstance(self.sources[0], RunningSource)

    @property
    def entries(self) -> list[DeclaredSource]:
        """Return its sources as the packages below read them."""
        return [source.entry for source in self.sources]
