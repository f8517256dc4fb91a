"""The records of builds, one class each for the job that writes and the page that reads it; None is unknown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, TypeVar

from scripts.lib.failure_reasons import FailureFacts
from scripts.lib.json_record import Json, dump
from scripts.lib.parts import Part
from scripts.lib.recipe_models import BuildRecipe

FAILED, MARKS = "failed", ("outcome", "reason", "failure")
Keys = tuple[str, ...]


@dataclass(frozen=True)
class BuildPart(Part):
    """A record, or a part of one, with the keys ORDER first, and those without a value only of NULLS."""

    ORDER: ClassVar[Keys] = ()
    NULLS: ClassVar[Keys] = ()

    def written_empty(self) -> Keys:
        """Return the names of the fields that are written without a value as well."""
        return (*self.NULLS, *(name for name, value in self.values().items() if value == []))

    def to_json(self, *first: str) -> dict[str, Json]:
        """Return the record as a JSON object; the keys `first` are in it in any case, what marks a failure is last."""
        facts = {name: value for name, value in dump(self, *first).items() if value != "" or name in self.NULLS}
        facts |= {name: None for name in first if isinstance(part := getattr(self, name), Part) and not part}
        order = dict.fromkeys([*(first or self.ORDER), *(name for name in facts if name not in MARKS), *MARKS])
        return {name: facts[name] for name in order if name in facts}


@dataclass(frozen=True)
class Failable(BuildPart):
    """The record of something that may fail: where it did, it has an outcome, a reason and a cause."""

    outcome: str | None = None
    reason: str | None = None
    failure: FailureFacts = field(default_factory=FailureFacts)

    @property
    def has_failed(self) -> bool:
        """Whether the record is that of a failure."""
        return self.outcome == FAILED

    def failed(self, mark: "Failable") -> Self:
        """Return this record as one of the failure `mark`."""
        return replace(self, outcome=mark.outcome, reason=mark.reason, failure=mark.failure)


R = TypeVar("R", bound=Failable)


def sound(records: Iterable[R]) -> list[R]:
    """Return the records that are not those of failures."""
    return [record for record in records if not record.has_failed]


@dataclass(frozen=True)
class Labelled(Failable):
    """A record about a build, or a stage, of a server."""

    server: str = ""
    build: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """The names of server and build."""
        return self.server, self.build

    @property
    def title(self) -> str:
        """The name of the build with that of its server."""
        return f"{self.build} of {self.server}"


@dataclass(frozen=True)
class BuildIdentity(Labelled):
    """identity.json: the program of a build, and the path of the sources that its profile fits.

    An instrumented server of BOLT writes to `profile_folder`; a server that already runs has an address, no program.
    """

    ORDER: ClassVar[Keys] = ("server", "family", "build", "release", "sha256", "build_id", "server_file")

    family: str | None = None
    release: str = ""
    sha256: str | None = None
    build_id: str | None = None
    server_file: str = ""
    source_path: str | None = None
    profile_folder: str | None = None
    running: str | None = None
    relink: int | None = None

    @classmethod
    def declared(cls, recipe: BuildRecipe, release: str) -> Self:
        """Return the names of a build of a recipe and a release; its program is not known."""
        return cls(server=recipe.server, family=recipe.family, build=recipe.build, release=release)


@dataclass(frozen=True)
class UsedToolchain(BuildPart):
    """The toolchain that made a build: its compilers, or its llvm-bolt."""

    name: str | None = None
    kind: str | None = None
    version: str | None = None
    cc: str | None = None
    cxx: str | None = None
    bolt: str | None = None


@dataclass(frozen=True)
class UsedFlags(Part):
    """The flags that the compiler wrapper added: to every unit, to units of the server, to links."""

    common: list[str] | None = None
    profile: list[str] | None = None
    lto: list[str] | None = None
    link: list[str] | None = None


@dataclass(frozen=True)
class BoltFacts(BuildPart):
    """How llvm-bolt made a build, and its own figures about the profile; `branches_profiled_share` is a share."""

    NULLS: ClassVar[Keys] = ("training",)

    input_build: str | None = None
    version: str | None = None
    training: str | None = None
    arguments: list[str] | None = None
    functions_profiled: int | None = None
    functions_total: int | None = None
    functions_stale: int | None = None
    branches_profiled_share: float | None = None


@dataclass(frozen=True)
class ForeignFlags(Part):
    """Flags that no recipe gave, in all compiles of a language and in all links."""

    compiles: list[str] | None = None
    links: list[str] | None = None

    @property
    def text(self) -> str:
        """The flags of compiles, then those that only links have, as words of a command line; empty without any."""
        return " ".join(dict.fromkeys([*(self.compiles or ()), *(self.links or ())]))


@dataclass(frozen=True)
class ProfileCounts(Part):
    """How much of a profile units were optimised with; `directory` is theirs, or None for all of a build."""

    directory: str | None = None
    units_compiled: int | None = None
    units_linked: int | None = None
    units_with_counters: int | None = None
    units_nonzero: int | None = None
    units_matched: int | None = None
    functions_executed: int | None = None
    functions_matched: int | None = None
    executed_share_optimised: float | None = None
    files_not_found: int | None = None
    functions_not_found: int | None = None
    mismatches: int | None = None
    functions_mismatched: int | None = None


@dataclass(frozen=True)
class LostUnit(Part):
    """A unit that ran in training and was not optimised with its counters."""

    unit: str | None = None
    why: str | None = None


@dataclass(frozen=True)
class TopFunction(Part):
    """A function that ran often in training: `share` is that of all counts."""

    function: str | None = None
    unit: str | None = None
    count: int | None = None
    share: float | None = None
    optimised: bool | None = None


@dataclass(frozen=True)
class SoughtName(Part):
    """The name of a counter file that was sought in vain, and the nearest one present."""

    sought: str | None = None
    present: str | None = None


@dataclass(frozen=True)
class Audit(Labelled, ProfileCounts):
    """audit.json: how much of its profile a build was optimised with, in all and by directory."""

    ORDER: ClassVar[Keys] = (
        *("server", "build", "published", "tool", "training", "units_compiled", "units_linked", "units_with_counters"),
        *("units_nonzero", "units_matched", "functions_executed", "functions_matched", "executed_share_optimised"),
        *("files_not_found", "functions_not_found", "mismatches", "functions_mismatched", "matched_share"),
    )

    published: bool | None = None
    tool: str | None = None
    training: str | None = None
    matched_share: float | None = None
    threshold: float | None = None
    by_directory: list[ProfileCounts] | None = None
    missing: list[LostUnit] | None = None
    functions_without_name: int | None = None
    top_functions: list[TopFunction] | None = None
    names_problem: str | None = None
    members_ambiguous: int | None = None
    names: list[SoughtName] | None = None
    names_sought: int | None = None
    names_present: int | None = None
    names_found: int | None = None

    @property
    def has_counts(self) -> bool:
        """Whether the build was audited: a build that failed never is, though it has a record."""
        return not self.has_failed or self.training is not None

    @property
    def is_lost(self) -> bool:
        """Whether less of the profile was used than the audit demands."""
        return not (self.matched_share or 0) >= (1 if self.threshold is None else self.threshold)


@dataclass(frozen=True)
class BuildFacts(Labelled):
    """facts.json: how a build was made, what that took, and the size of what came out (seconds, MiB, bytes).

    `told` is what a server that comes compiled says of itself; `text_sha256` the digest of its machine code.
    """

    ORDER: ClassVar[Keys] = BuildIdentity.ORDER

    family: str = ""
    release: str | None = None
    sha256: str | None = None
    build_id: str | None = None
    server_file: str | None = None
    recipe: dict[str, Json] | None = None
    source_sha256: str | None = None
    stage: str | None = None
    toolchain: UsedToolchain = field(default_factory=UsedToolchain)
    flags: UsedFlags = field(default_factory=UsedFlags)
    bolt: BoltFacts = field(default_factory=BoltFacts)
    configure_command: list[str] | None = None
    compile_arguments: list[str] | None = None
    link_arguments: list[str] | None = None
    steps_s: dict[str, float] | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    peak_rss_mib: float | None = None
    units_compiled: int | None = None
    threads: int | None = None
    foreign_flags: ForeignFlags = field(default_factory=ForeignFlags)
    text_bytes: int | None = None
    file_bytes: int | None = None
    install_bytes: int | None = None
    told: dict[str, Json] | None = None
    text_sha256: str | None = None

    def of_program(self, identity: BuildIdentity) -> Self:
        """Return these facts with what the identity of the build says of it and of its program."""
        return replace(
            self.failed(identity),
            server=identity.server,
            family=identity.family or "",
            build=identity.build,
            release=identity.release,
            sha256=identity.sha256,
            build_id=identity.build_id,
            server_file=identity.server_file,
        )


@dataclass(frozen=True)
class TrainingRun(Part):
    """A workload of a training as it ran on the instrumented server: `tps` are transactions per second."""

    workload: str = ""
    clients: int | None = None
    seconds: float | None = None
    tps: float | None = None


@dataclass(frozen=True)
class TrainedProfile(Failable):
    """profile.json: what a training of an instrumented build yielded, counts of functions and files, and its runs."""

    recipe: dict[str, Json] | None = None
    server: str = ""
    training: str = ""
    trained: str | None = None
    tool: str | None = None
    compiler: str | None = None
    source_path: str | None = None
    files: int | None = None
    files_nonzero: int | None = None
    functions: int | None = None
    branches: int | None = None
    branches_executed: int | None = None
    functions_nonzero: int | None = None
    counters_sha256: str | None = None
    log_lines: list[str] | None = None
    runs: list[TrainingRun] | None = None
    wall_s: float | None = None


@dataclass(frozen=True)
class Check(Labelled):
    """check.json: how a build answered the statements of the differential check beside its check reference."""

    ORDER: ClassVar[Keys] = ("server", "release", "build", "reference_build")

    release: str | None = None
    reference_build: str = ""
    is_check_reference: bool | None = None
    statements_sha256: str | None = None
    statements: int | None = None
    skipped: int | None = None
    answered_identically: int | None = None
    tables_checksummed: int | None = None
    scans_under_concurrency: int | None = None
    differences: Sequence[Mapping[str, object]] | None = None


@dataclass(frozen=True)
class Proof(Part):
    """One proof about two builds: machine_code (differs), profile_only, bolt_only (nothing else differs)."""

    server: str | None = None
    kind: str = ""
    builds: Sequence[str] = ()
    holds: bool = False
    text: str = ""


@dataclass(frozen=True)
class JudgedFlags(Labelled):
    """The foreign flags of a compiled build as text, empty where it has none."""

    NULLS: ClassVar[Keys] = ("flags",)

    flags: str = ""


@dataclass(frozen=True)
class Proofs(BuildPart):
    """proofs.json: the proofs of a study, and the builds whose command lines were judged; older records lack these."""

    proofs: list[Proof] = field(default_factory=list)
    foreign_flags: list[JudgedFlags] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DatasetFacts(Part):
    """The record of a dataset: what filled its tables, their size in the snapshot, and the seconds that took."""

    dataset: str = ""
    server: str = ""
    tables: int | None = None
    rows: int | None = None
    script: str | None = None
    options: dict[str, str | int | float | bool] = field(default_factory=dict)
    fresh: bool = False
    load_s: float | None = None
    bytes: int | None = None
    snapshot_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class FetchedFile(Part):
    """A file that a source tree was made from."""

    name: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class SourceFacts(Part):
    """The record of a source tree, as far as the page names it."""

    server: str = ""
    product: str | None = None
    release: str | None = None
    origin: str | None = None
    tree_sha256: str | None = None
    files: list[FetchedFile] = field(default_factory=list)
