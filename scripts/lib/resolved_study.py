"""The study as its report reads it from study.json: every entry resolved, and the blocks in the order of measuring."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypedDict

from scripts.lib import json_record
from scripts.lib.json_record import Json
from scripts.lib.parts import Part

OptionValue = str | int | float | bool
# The share that a difference must exceed to matter, where a study declares none.
MATTERS = 0.02


@dataclass(frozen=True, slots=True)
class ResolvedDataset(Part):
    """A dataset as the catalog and the study declare it."""

    tables: int | None = None
    rows: int | None = None
    script: str | None = None
    options: dict[str, OptionValue] = field(default_factory=dict)
    fill: bool | None = None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedVariant(Part):
    """A variant with every server option that it sets; one of imported logs has neither server nor build."""

    server: str = ""
    build: str = ""
    options: dict[str, OptionValue] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    data: ResolvedDataset = ResolvedDataset()
    storage: str | None = None
    relinked: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedWorkload(Part):
    """A workload: a sysbench script with its options, or passes over a file of timed SQL."""

    script: str | None = None
    sql: str | None = None
    passes: int | None = None
    dataset: str = ""
    fill: bool | None = None
    rows: int | None = None
    options: dict[str, OptionValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResolvedTraining(Part):
    """A training, its times in seconds."""

    workloads: list[str] = field(default_factory=list)
    clients: int | None = None
    seconds: int | None = None
    options: dict[str, OptionValue] = field(default_factory=dict)
    load: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedBuild(Part):
    """How a build is made: `profile` and `bolt` are names of trainings; of a prebuilt one nothing else is known."""

    prebuilt: bool = False
    flags: list[str] = field(default_factory=list)
    lto: bool | str = False
    profile: str | None = None
    bolt: str | None = None
    bolt_toolchain: str | None = None
    toolchain: str | None = None
    published: bool = False
    debug_information: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedMatrix(Part):
    """The levels of each factor, and those of each arm by factor."""

    factors: dict[str, list[str]] = field(default_factory=dict)
    arms: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResolvedClient(Part):
    """The client host."""

    ssh: str | None = None
    command: list[str] | None = None
    address: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class StoppingOutcome(Part):
    """By what a study with a `precision` stopped; half widths are shares, `decision` is a `vocabulary.Decision`."""

    precision: float = 0.0
    at_most_s: float | None = None
    most_repetitions: int = 0
    decision: str | None = None
    half_width: float | None = None
    spent_s: float | None = None


@dataclass(frozen=True, slots=True)
class ResolvedDiagnoses(Part):
    """The cells that are diagnosed, and the seconds of each window."""

    tools: list[str] = field(default_factory=list)
    variants: list[str] = field(default_factory=list)
    workloads: list[str] = field(default_factory=list)
    clients: list[int] = field(default_factory=list)
    seconds: int = 0


class ScaledKey(NamedTuple):
    """What the small scale changed: the dotted key, its value at full scale and at the small one."""

    key: str
    full: Json
    small: Json


class OrderedBlock(NamedTuple):
    """A block of the order of measuring, with its arms in their order by turns."""

    workload: str
    clients: int
    repetition: int
    arms: list[str]


class LogNote(NamedTuple):
    """A file of logs, and what there is to say of it."""

    file: str
    text: str


class ImportedCell(NamedTuple):
    """A cell that some variant of the logs has."""

    workload: str
    clients: int


class AxisLevels(TypedDict):
    """The levels of a further axis of the paths of logs, and the level `of` each workload."""

    levels: list[str]
    of: dict[str, str]


@dataclass(frozen=True, slots=True)
class ImportedLogs(Part):
    """How logs were read, and what they contain.

    `means` are names of means over client counts. `measured` counts the ok logs, `rates` those of them with a target
    rate. `notes` are by code. `cells` is None in an import made by older code.
    """

    folder: str = ""
    files: int = 0
    pattern: str = ""
    dates: str | None = None
    unread: list[LogNote] = field(default_factory=list)
    left_out: list[LogNote] = field(default_factory=list)
    axes: dict[str, AxisLevels] = field(default_factory=dict)
    means: dict[str, list[int]] = field(default_factory=dict)
    skip_s: float = 0.0
    cells: list[ImportedCell] | None = None
    metrics: list[str] = field(default_factory=list)
    notes: dict[str, list[LogNote]] = field(default_factory=dict)
    drift_judged: int = 0
    rates: int = 0
    measured: int = 0
    latency: str = "p95_ms"


@dataclass(frozen=True, slots=True)
class PublishedFigure(Part):
    """A published value in the unit of its metric; `unit` is that of a quantity that no metric measures."""

    metric: str = ""
    variant: str = ""
    workload: str = ""
    clients: int = 0
    value: float = 0.0
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class PublishedFinding(Part):
    """What was published in words."""

    variant: str = ""
    workload: str = ""
    clients: str = ""
    finding: str = ""


@dataclass(frozen=True, slots=True)
class PublishedFigures(Part):
    """Published figures and findings, and where they come from."""

    source: str = ""
    rows: list[PublishedFigure] = field(default_factory=list)
    findings: list[PublishedFinding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ResolvedStudy(Part):
    """A study with the options, workloads, datasets and trainings that it uses; None stands for a key it lacks.

    `repetitions` are those measured, `matters` is a share. `looks` are the other numbers of repetitions that were
    reported before. `trained_on` has the workloads of the trainings of a build. `expect` has limits of ratios by
    variant and metric. `blocks` has the name of each block of `order`. A partial study was reported before its end.
    """

    study: str = ""
    title: str = ""
    question: str = ""
    reference: str = ""
    clients: list[int] = field(default_factory=list)
    repetitions: int = 0
    seed: int | None = None
    campaign: int | None = None
    warmup_s: int | None = None
    measure_s: int | None = None
    placement: str | dict[str, str] | None = None
    rest_s: int | None = None
    restart: str = "each block"
    stop: str = "fast"
    series: bool = False
    matters: float = MATTERS
    expect: dict[str, dict[str, str]] = field(default_factory=dict)
    stopping: StoppingOutcome | None = None
    looks: list[int] = field(default_factory=list)
    variants: dict[str, ResolvedVariant] = field(default_factory=dict)
    workloads: dict[str, ResolvedWorkload] = field(default_factory=dict)
    datasets: dict[str, ResolvedDataset] = field(default_factory=dict)
    trainings: dict[str, ResolvedTraining] = field(default_factory=dict)
    builds: dict[str, ResolvedBuild] = field(default_factory=dict)
    trained_on: dict[str, list[str]] = field(default_factory=dict)
    matrix: ResolvedMatrix = ResolvedMatrix()
    client: ResolvedClient = ResolvedClient()
    scaled: list[ScaledKey] | None = None
    diagnose: ResolvedDiagnoses | None = None
    config_text: str = ""
    order: list[OrderedBlock] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    partial: bool = False
    published: PublishedFigures = PublishedFigures()
    imported: ImportedLogs = ImportedLogs()

    @property
    def is_imported(self) -> bool:
        """Whether it was made of logs, whose runs cannot be paired."""
        return self.imported != ImportedLogs()


def read_study(path: Path) -> ResolvedStudy:
    """Return the study of a study.json; raises ValueError naming the file, or the key whose value has another form."""
    return json_record.read_part(ResolvedStudy, path)
