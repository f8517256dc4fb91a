"""The keys of a config file."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, SkipValidation, WithJsonSchema

from scripts.study.config.declared_builds import BuildDeclaration, ToolchainDeclaration
from scripts.study.config.declared_hosts import ClientDeclaration, Placement
from scripts.study.config.declared_loads import DatasetDeclaration, TrainingDeclaration, WorkloadDeclaration
from scripts.study.config.declared_question import MeasuringKeys
from scripts.study.config.declared_servers import ServerDeclaration
from scripts.study.config.declared_variants import DiagnosisDeclaration
from scripts.study.config.scalars import ConfigKeys, Name, NeededKeys, Stated, Variables, text

Folder = Annotated[
    str,
    text(
        r"^(/|~/)[^\x00-\x1f]*$",
        1000,
        is_path=True,
        title="the absolute path of a folder, or one that begins with ~/",
        description="A folder on the disk (or in the memory) to be measured; its last folder is made when it is "
        "missing.",
    ),
]
SmallKey = Annotated[
    str,
    text(
        "^(?!(study|scale|small|partial)$).*$",
        60,
        title="a key of a study, not `study`, `scale`, `small` or `partial`",
        description="A key of a study.",
    ),
]
# Checked where it is laid over the rest.
SmallerValue = Annotated[
    SkipValidation[JsonValue],
    WithJsonSchema({"title": "what the key takes", "description": "What the key takes, or a part of it."}),
]


class StudyDeclaration(MeasuringKeys):
    """One config file; every setting of one experiment on database servers."""

    NEEDS = (NeededKeys(("variants",), without="matrix"),)

    placement: Placement = Field(
        default="automatic",
        title="`automatic`, or the CPUs of `server` and `client`",
        description="The CPUs of the server and of the load generator.",
        examples=["automatic", {"server": "0-5,8", "client": "6,7"}, {"server": "numa0", "client": "numa1"}],
    )
    client: Stated[ClientDeclaration] = Field(
        default=None,
        title="a mapping with `ssh`, or with `command` and `address`",
        description=(
            "Another host that the load generator runs on. The server listens on one address for it, for an account "
            "whose password is made anew for each run. `placement.client` are CPUs over there."
        ),
        examples=[
            {"ssh": "loadgen"},
            {"ssh": "bench@10.0.0.2", "address": "10.0.0.1"},
            {"command": ["ip", "netns", "exec", "loadgen"], "address": "10.77.0.1"},
        ],
    )
    client_environment: Variables = Field(
        default_factory=dict,
        description=(
            "Environment variables of sysbench while it warms up and measures: another allocator or another client "
            "library, for one. Each run proves that sysbench has them, and that libraries of LD_PRELOAD are mapped."
        ),
        examples=[{"LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"}],
    )
    seed: int = Field(
        default=1,
        ge=0,
        le=4294967295,
        description="The order of the variants inside each block is drawn from this number.",
        examples=[1],
    )
    campaign: int = Field(
        default=1,
        ge=1,
        le=1000000,
        description="Number of the campaign; another number measures everything again.",
        examples=[2],
    )
    partial: bool = Field(
        default=False,
        description=(
            "Report what has been measured so far, with holes; nothing else is made. Meant for the command line, as "
            "`--config partial=true`."
        ),
        examples=[True],
    )
    scale: Literal["full", "small"] = Field(
        default="full",
        description=(
            "The size of the study: `small` lays the section `small` over the rest, and calls the study NAME-small. "
            "Meant for the command line, as `--config scale=small`."
        ),
        examples=["small"],
    )
    small: Stated[dict[SmallKey, SmallerValue]] = Field(
        default=None,
        min_length=1,
        title="a mapping with keys of a study, without `study`, `scale`, `small` and `partial`",
        description=(
            "What is smaller at the small scale, as the keys of this file with other values: mappings are laid over "
            "key by key, other values replace. The report lists the settings that this changes."
        ),
        examples=[{"measure_s": 3, "repetitions": 2, "datasets": {"sbtest": {"rows": 10000}}}],
    )
    published: Stated[Annotated[str, text(r"^studies/published/[A-Za-z0-9_.-]+\.csv$", 200)]] = Field(
        default=None,
        title="the path of a CSV file, studies/published/NAME.csv",
        description="A file of published figures that the report draws beside ours, below the checkout.",
        examples=["studies/published/pgo-mysql-8.0.36.csv"],
    )
    diagnose: Stated[DiagnosisDeclaration] = Field(
        default=None,
        description=(
            "Look into the server in extra runs, after all measured ones and never counted among them: where its CPU "
            "time goes, what it waits for, which system calls it makes, how long it waits for the disk."
        ),
        examples=[{"tools": ["perf", "waits"], "workloads": ["oltp"], "clients": [64], "seconds": 20}, {}],
    )
    storage: dict[Name, Folder] = Field(
        default_factory=dict,
        description="Folders for data directories, by name; variants refer to them.",
        examples=[{"memory": "/dev/shm/data"}],
    )
    servers: dict[Name, ServerDeclaration] = Field(
        default_factory=dict,
        description="Servers of this study alone, or changes to the catalog's, by name.",
        examples=[
            {
                "postgresql-16": {
                    "family": "postgresql",
                    "product": "PostgreSQL",
                    "version": "16",
                    "sources": [{"directory": "~/postgresql"}],
                }
            }
        ],
    )
    builds: dict[Name, BuildDeclaration] = Field(
        default_factory=dict,
        description="Ways of compiling, of this study alone or as changes to the catalog's, by name.",
        examples=[{"o3": {"flags": "-O3"}, "clang_pgo": {"toolchain": "clang-16", "profile": "mixed"}}],
    )
    trainings: dict[Name, TrainingDeclaration] = Field(
        default_factory=dict,
        description="Trainings of this study alone, or changes to the catalog's, by name.",
        examples=[{"point": {"workloads": ["oltp"], "clients": 16, "seconds": 60}}],
    )
    toolchains: dict[Name, ToolchainDeclaration] = Field(
        default_factory=dict,
        description="Compilers and BOLTs of this study alone, or changes to the catalog's, by name.",
        examples=[{"clang-16": {"directories": ["/opt/llvm/bin"]}}],
    )


# Keys that every study has, written or not. Their defaults never change, so that results stay where they are.
DEFAULTS = ("campaign", "placement", "seed", "warmup_s", "measure_s", "repetitions")
# A study of timed SQL alone has no window.
NO_WINDOW = {"warmup_s": 0, "measure_s": 0}
# The sections whose entries the catalog has, too.
ENTRIES: dict[str, type[ConfigKeys]] = {
    "servers": ServerDeclaration,
    "builds": BuildDeclaration,
    "toolchains": ToolchainDeclaration,
    "trainings": TrainingDeclaration,
    "workloads": WorkloadDeclaration,
    "datasets": DatasetDeclaration,
}
