"""What a study declares of its variants: arms, factors, expected ratios, diagnoses."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from scripts.study.config.declared_loads import DatasetDeclaration
from scripts.study.config.scalars import (
    ClientCount,
    ConfigKeys,
    Name,
    Options,
    RatioLimit,
    Reference,
    Stated,
    Unique,
    Variables,
    text,
)

LevelName = Annotated[
    str,
    text(
        "^[a-z]([a-z0-9_-]*[a-z0-9_])?$",
        30,
        title="a name of small letters, digits, _ and -, a letter first, - not last",
        description="The name of a level; it becomes a part of the names of variants.",
    ),
]
Levels = Annotated[
    dict[LevelName, Options],
    Field(
        min_length=2,
        title="a mapping of two levels or more to options",
        description="Levels of a factor; no two factors share the name of a level.",
    ),
]
ExpectedName = Annotated[
    str, text("^[a-z][a-z0-9_.-]*$", 200, title="the name of a variant", description="A variant of the study.")
]
VariantName = Annotated[Reference, Field(title="the name of a variant")]
WorkloadName = Annotated[Reference, Field(title="the name of a workload")]
Tool = Annotated[Literal["perf", "waits", "syscalls", "fsyncs"], Field(description="A tool.")]


class VariantDeclaration(ConfigKeys):
    """One arm, a server compiled in one way, with its options and its storage."""

    server: Reference = Field(title="the name of a server", description="A server of the catalog or of `servers`.")
    build: Reference = Field(
        title="the name of a build",
        description="A build of the catalog or of `builds`; `prebuilt` for a ready-made server.",
    )
    options: Options = Field(
        default_factory=dict, description="Server options of this variant, laid over those of the study."
    )
    environment: Variables = Field(
        default_factory=dict,
        description=(
            "Environment variables of its server while it is measured, laid over those of its build: another "
            "allocator, for one. Each run proves that the server has them, and that libraries of LD_PRELOAD are "
            "mapped."
        ),
    )
    data: Stated[DatasetDeclaration] = Field(
        default=None,
        description=(
            "Keys of a dataset, laid over every dataset this variant meets, option by option: another number of "
            "rows, or another way of storing them."
        ),
    )
    storage: Stated[Reference] = Field(
        default=None,
        title="the name of a storage",
        description="The place of its data directories, an entry of `storage`; by default the disk of /var/tmp.",
    )

    @property
    def built(self) -> tuple[str, str]:
        """Return its server and its build."""
        return self.server, self.build


class MatrixDeclaration(ConfigKeys):
    """Factors of server options; each combination of their levels is a variant, named by its levels, as
    `ahi_on.dw_off`. The report shows the effect of each factor, and whether two do more together than each by
    itself.
    """

    server: Reference = Field(title="the name of a server", description="A server of the catalog or of `servers`.")
    build: Reference = Field(
        title="the name of a build",
        description="A build of the catalog or of `builds`; `prebuilt` for a ready-made server.",
    )
    options: Options = Field(
        default_factory=dict, description="Server options of all its variants, laid over those of the study."
    )
    data: Stated[DatasetDeclaration] = Field(
        default=None, description="Keys of a dataset that all its variants lay over every dataset they meet."
    )
    storage: Stated[Reference] = Field(
        default=None,
        title="the name of a storage",
        description="The place of its data directories, an entry of `storage`; by default the disk of /var/tmp.",
    )
    factors: dict[Name, Levels] = Field(
        min_length=1,
        description=("Factors by name; the levels of a factor by name, each with the server options that define it."),
    )


class ExpectedRatios(ConfigKeys):
    """Limits of a variant, by quantity as in tables/overall.csv."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    tps: Stated[RatioLimit] = Field(default=None)
    p50_ms: Stated[RatioLimit] = Field(default=None)
    p95_ms: Stated[RatioLimit] = Field(default=None)
    p99_ms: Stated[RatioLimit] = Field(default=None)
    cpu_us_per_tx: Stated[RatioLimit] = Field(default=None)
    cpu_user_us_per_tx: Stated[RatioLimit] = Field(default=None)
    cpu_system_us_per_tx: Stated[RatioLimit] = Field(default=None)
    host_cpu_us_per_tx: Stated[RatioLimit] = Field(default=None)
    slow_stop_s: Stated[RatioLimit] = Field(default=None)
    cold_s: Stated[RatioLimit] = Field(default=None)
    warm_s: Stated[RatioLimit] = Field(default=None)

    @model_validator(mode="after")
    def _refuse_none(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("form", "no limit")
        return self


class DiagnosisDeclaration(ConfigKeys):
    """Look into the server in extra runs, after all measured ones and never counted among them: where its CPU time
    goes, what it waits for, which system calls it makes, how long it waits for the disk.
    """

    tools: Stated[Annotated[list[Tool], Unique()]] = Field(
        default=None,
        min_length=1,
        max_length=4,
        description=(
            "perf samples call stacks, waits reads the performance schema or wait events, syscalls counts with "
            "strace -c, fsyncs times with strace -T; each in a run of its own. Default: all."
        ),
    )
    variants: Stated[Annotated[list[VariantName], Unique()]] = Field(
        default=None, min_length=1, max_length=100, description="Variants to diagnose; by default all."
    )
    workloads: Stated[Annotated[list[WorkloadName], Unique()]] = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Workloads of the study to diagnose; by default all but timed SQL.",
    )
    clients: Stated[Annotated[list[ClientCount], Unique()]] = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Concurrent connections; by default the study's largest number.",
    )
    seconds: int = Field(default=10, ge=3, le=3600, description="Seconds of each window.")
