"""Recipes: what a costly step makes a thing from, and nothing else. The digest of a recipe is in the path of the thing.

A recipe holds what is declared: no mirrors, paths, core counts or neutral values. An edit therefore makes a new thing
beside the old one, and an edit taken back finds the old one again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Self

from scripts.lib import json_record
from scripts.lib.json_record import Json
from scripts.lib.parts import Values

Scalar = str | int | float | bool
Options = Mapping[str, Scalar]


class StageKind(StrEnum):
    """How a build is made, or a stage that a build needs."""

    PLAIN = "plain"
    OPTIMISED = "optimised"
    PUBLISHED = "published"
    INSTRUMENTED = "instrumented"
    PUBLISHED_INSTRUMENTED = "published_instrumented"
    RELOCATABLE = "relocatable"
    BOLT_INSTRUMENTED = "bolt_instrumented"
    BOLTED = "bolted"
    PREBUILT = "prebuilt"

    @property
    def is_instrumented(self) -> bool:
        """Whether it counts what it executes, to be trained."""
        return self in (StageKind.INSTRUMENTED, StageKind.PUBLISHED_INSTRUMENTED, StageKind.BOLT_INSTRUMENTED)

    @property
    def is_bolted(self) -> bool:
        """Whether llvm-bolt makes it from a finished server."""
        return self in (StageKind.BOLTED, StageKind.BOLT_INSTRUMENTED)

    @property
    def is_compiled(self) -> bool:
        """Whether a compiler makes it from sources."""
        return not self.is_bolted and self != StageKind.PREBUILT

    @property
    def is_published(self) -> bool:
        """Whether it follows the published recipe to the letter."""
        return self in (StageKind.PUBLISHED, StageKind.PUBLISHED_INSTRUMENTED)

    @property
    def is_stage(self) -> bool:
        """Whether it only serves other builds and is never measured."""
        return self.is_instrumented or self == StageKind.RELOCATABLE

    @property
    def rule(self) -> str:
        """The name of the rule that makes it."""
        return "bolt_server" if self.is_bolted else "build_server" if self.is_compiled else "install_prebuilt"


@dataclass(frozen=True, kw_only=True)
class Recipe(Values):
    """A recipe of any kind."""

    @cached_property
    def digest(self) -> str:
        """Return the digest of the recipe, as it stands in paths."""
        return json_record.digest(self.dump())

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the recipe in a JSON text, as a rule passes it to its job."""
        return cls.of(json.loads(text))


@dataclass(frozen=True, kw_only=True)
class MadeFrom(Values):
    """Another thing that a thing is made from: its name, and the digest of its recipe."""

    name: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class ToolchainRecipe(Values):
    """A toolchain: its name, its version such as 12.2.0, and its entry in the catalog."""

    name: str
    version: str
    commands: Mapping[str, Json]


@dataclass(frozen=True, kw_only=True)
class ServerSourceRecipe(Recipe):
    """A server's sources. What identifies their content depends on the kind of the first source."""

    server: str
    product: str
    version: str
    family: str | None = None
    sha256: str | None = None
    maven: str | None = None
    folder: str | None = None
    commit: str | None = None
    content_sha256: str | None = None
    program_sha256: str | None = None
    running: str | None = None
    without_tls: bool = False


@dataclass(frozen=True, kw_only=True)
class UsedProfile(Values):
    """The profile that a build is optimised with: the training that yields it, and the digest of its recipe."""

    training: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class BuildRecipe(Recipe):
    """A build, or a stage behind one; `recipe` is the number of the code that makes it."""

    recipe: int
    family: str
    source: ServerSourceRecipe
    server: str
    build: str
    stage: StageKind
    profile: UsedProfile | None = None


@dataclass(frozen=True, kw_only=True)
class CompileRecipe(BuildRecipe):
    """A server compiled from sources."""

    toolchain: ToolchainRecipe
    flags: tuple[str, ...] = ()
    lto: bool = False
    published: bool = False
    configure: tuple[str, ...] = ()
    debug_information: bool = False
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BoltRecipe(BuildRecipe):
    """A finished server rewritten by llvm-bolt, with a profile or to be trained."""

    toolchain: ToolchainRecipe
    input: MadeFrom


@dataclass(frozen=True, kw_only=True)
class PrebuiltRecipe(BuildRecipe):
    """A server that comes compiled."""


@dataclass(frozen=True, kw_only=True)
class CheckRecipe(Recipe):
    """A build's answers to the statements of the differential check."""

    recipe: int
    server: str
    family: str
    build_digest: str
    statements_sha256: str


@dataclass(frozen=True, kw_only=True)
class TablesRecipe(Values):
    """Tables: their number, their rows each, and the script that fills them; `fresh` ones are filled for every run."""

    tables: int | None = None
    rows: int | None = None
    script: str | None = None
    options: Options = field(default_factory=dict)
    fresh: bool = False


@dataclass(frozen=True, kw_only=True)
class DatasetRecipe(Recipe):
    """Tables loaded into a new data directory; `options` are the server options that shape it.

    `content` is the SHA-256 of a script of ours. On a server that already runs the tables are in `database`.
    """

    recipe: int
    server: str
    family: str
    source: ServerSourceRecipe
    dataset: str
    tables: TablesRecipe
    content: str | None = None
    options: Options = field(default_factory=dict)
    database: str | None = None


@dataclass(frozen=True, kw_only=True)
class WorkloadRecipe(Values):
    """A workload: a sysbench script with its options, or `passes` over a file of timed SQL.

    `content` is the SHA-256 of a file of ours.
    """

    script: str | None = None
    rows: int | None = None
    options: Options = field(default_factory=dict)
    sql: str | None = None
    passes: int | None = None
    tables: TablesRecipe
    content: str | None = None


@dataclass(frozen=True, kw_only=True)
class TrainedWorkload(WorkloadRecipe):
    """A workload of a training, and the digest of the dataset that it runs on."""

    name: str
    dataset_digest: str


@dataclass(frozen=True, kw_only=True)
class ProfileRecipe(Recipe):
    """The profile that a training of an instrumented build yields; `seconds` is the time of each workload."""

    recipe: int
    server: str
    family: str
    training: str
    instrumented: MadeFrom
    toolchain: ToolchainRecipe
    options: Options = field(default_factory=dict)
    workloads: tuple[TrainedWorkload, ...]
    clients: int
    seconds: int


@dataclass(frozen=True, kw_only=True)
class VariantRecipe(Recipe):
    """A variant: a build of a server with its options, environment and storage."""

    server: str
    family: str
    build: str
    options: Options = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    build_digest: str
    storage: str | None = None
    relinked: bool = False


@dataclass(frozen=True, kw_only=True)
class LoadRecipe(WorkloadRecipe, Recipe):
    """What is measured of a variant: a workload with its dataset, its times, and what else affects a run.

    `ladder` are the client counts that a server goes through in one start. `fill` is whether the tables are read into
    the pool before the warm-up.
    """

    recipe: int
    dataset: MadeFrom
    warmup_s: int | None = None
    measure_s: int | None = None
    turn_s: int | None = None
    fill: str | None = None
    rest_s: int | None = None
    series: bool = False
    client: Mapping[str, Json] | None = None
    rounds: int | None = None
    slice_s: float | None = None
    ladder: tuple[int, ...] = ()
    stop: str | None = None
    client_environment: Mapping[str, str] = field(default_factory=dict)
    placement: Json
    campaign: int


@dataclass(frozen=True, kw_only=True)
class RunRecipe(Recipe):
    """A run: a variant under a load."""

    variant: VariantRecipe
    load: LoadRecipe


@dataclass(frozen=True, kw_only=True)
class DiagnosisRecipe(Recipe):
    """A run observed with a tool."""

    recipe: int
    variant: VariantRecipe
    load: LoadRecipe
    tool: str
