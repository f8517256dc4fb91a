"""The keys of a config file that ask its question, and those that say how it is measured."""

from typing import Annotated, Literal

from pydantic import Field

from scripts.study.config.declared_loads import DatasetDeclaration, WorkloadDeclaration
from scripts.study.config.declared_variants import ExpectedName, ExpectedRatios, MatrixDeclaration, VariantDeclaration
from scripts.study.config.scalars import (
    ClientCount,
    ConfigKeys,
    Line,
    Name,
    Options,
    Reference,
    Scalar,
    Share,
    Stated,
    Unique,
    text,
)

SliceLength = Annotated[
    Annotated[Literal["automatic"], Field(description="By the load")]
    | Annotated[float, Scalar("number", minimum=0.02, maximum=60, description="Seconds")],
    Field(),
]


class QuestionKeys(ConfigKeys):
    """What is compared, and under which load."""

    study: Name = Field(description="Name of the study and of its folder under results/studies/.", examples=["quick"])
    title: Stated[Line] = Field(
        default=None,
        description="Heading of the report; by default the name of the study.",
        examples=["PostgreSQL 15 with a profile"],
    )
    question: Stated[str] = Field(
        default=None,
        min_length=1,
        max_length=1000,
        description=(
            "The question that the study answers; the report shows it above the answer. By default how the other "
            "variants compare with the reference."
        ),
        examples=["Does a profile make PostgreSQL faster?"],
    )
    variants: dict[Name, VariantDeclaration] = Field(
        default_factory=dict,
        min_length=1,
        description=(
            "Arms of the experiment by name; a study has these, a `matrix`, or both. The reference is measured a "
            "second time by itself, as `aa`; the name is taken."
        ),
        examples=[
            {
                "baseline": {"server": "postgresql-15", "build": "baseline"},
                "pgo": {"server": "postgresql-15", "build": "pgo"},
                "big_pages": {
                    "server": "postgresql-15",
                    "build": "pgo",
                    "options": {"huge_pages": "try"},
                    "storage": "memory",
                },
                "small_data": {"server": "postgresql-15", "build": "baseline", "data": {"rows": 1000}},
                "jemalloc": {
                    "server": "postgresql-15",
                    "build": "baseline",
                    "environment": {"LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"},
                },
            }
        ],
    )
    matrix: Stated[MatrixDeclaration] = Field(
        default=None,
        description=(
            "Factors of server options; each combination of their levels is a variant, named by its levels, as "
            "`ahi_on.dw_off`. The report shows the effect of each factor, and whether two do more together than each "
            "by itself."
        ),
        examples=[
            {
                "server": "mysql-8.0.33-binary",
                "build": "prebuilt",
                "factors": {
                    "doublewrite": {"dw_on": {"innodb_doublewrite": True}, "dw_off": {"innodb_doublewrite": False}},
                    "hash_index": {
                        "ahi_on": {"innodb_adaptive_hash_index": True},
                        "ahi_off": {"innodb_adaptive_hash_index": False},
                    },
                },
            }
        ],
    )
    reference: Reference = Field(
        title="the name of a variant",
        description="The variant that the others are compared with.",
        examples=["baseline"],
    )
    workloads: dict[Name, WorkloadDeclaration] = Field(
        min_length=1,
        description=(
            "Loads to measure, by name. Nothing after the colon takes the entry of the catalog, keys change it, and "
            "with `script`, or `sql`, and `dataset` it is a new one."
        ),
        examples=[{"oltp": None, "point_select": {"script": "oltp_point_select", "dataset": "sbtest"}}],
    )
    datasets: dict[Name, DatasetDeclaration] = Field(
        default_factory=dict,
        description="Tables loaded once, by name; keys change the entry of the catalog.",
        examples=[{"sbtest": {"tables": 4, "rows": 50000}}],
    )
    options: Options = Field(
        default_factory=dict,
        description=(
            "Server options of every variant, laid over those of the server's family. A value by which a server "
            "would run a command, load a library that its own installation does not hold, connect to another host or "
            "write outside of its data directory is refused, in every `options` of servers. Builds of PostgreSQL "
            "have the libraries of its contrib that `shared_preload_libraries` and the like name."
        ),
        examples=[{"innodb_flush_log_at_trx_commit": 0, "innodb_buffer_pool_size": "4G"}],
    )
    clients: Annotated[list[ClientCount], Unique()] = Field(
        min_length=1,
        max_length=100,
        description=(
            "Concurrent connections; each number is measured. Above 1024 several sysbench processes share them."
        ),
        examples=[[1, 8, 64]],
    )


class MeasuringKeys(QuestionKeys):
    """How often, how long and how exactly it is measured."""

    repetitions: int = Field(
        default=5, ge=1, le=1000, description="Blocks of every cell. Under 5 the report gives no verdict.", examples=[5]
    )
    matters: Share = Field(
        default="2 %",
        description=(
            "Smallest difference of interest, as a share: a variant is called more than this faster, faster, the "
            "same within this, or the question is open."
        ),
        examples=["5 %"],
    )
    expect: Stated[dict[ExpectedName, ExpectedRatios]] = Field(
        default=None,
        min_length=1,
        title="a mapping from names of variants to limits",
        description=(
            "What must hold of the ratios to the reference, over all cells, by variant and quantity. An expectation "
            "is held when the whole 95 % interval meets it, broken when no ratio of the interval does, else open. "
            "`make check` prints them, and `results/studies/NAME/verdict.json` has them."
        ),
        examples=[{"pgo": {"tps": "> 1.05", "p95_ms": "< 1.02"}}],
    )
    precision: Stated[Share] = Field(
        default=None,
        description=(
            "Stop measuring when the interval of every variant's transactions per second over all workloads is at "
            "most this wide to each side. It is looked at after each whole repetition from the fifth on; "
            "`repetitions` are the most. For these looks all intervals of such a study are 5 % wider."
        ),
        examples=["2 %"],
    )
    at_most: Stated[Annotated[str, text(r"^(?!0)[0-9]{1,5}(\.[0-9]+)? ?(s|min|h)$", 20)]] = Field(
        default=None,
        title="a time such as 90 s, 20 min or 2 h",
        description=(
            "Stop measuring after this time in blocks, though `precision` is not reached; a whole repetition is "
            "finished first."
        ),
        examples=["20 min"],
    )
    warmup_s: int = Field(
        default=1,
        ge=1,
        le=86400,
        description="Seconds of load on each server before it is measured; timed SQL has none.",
        examples=[10],
    )
    measure_s: int = Field(
        default=3,
        ge=3,
        le=86400,
        description=(
            "Seconds that each server works measured in a block, in slices or by turns in one window; timed SQL has "
            "none."
        ),
        examples=[60],
    )
    rest_s: int = Field(
        default=0,
        ge=0,
        le=86400,
        description="Seconds in which nothing runs on the machine before each run.",
        examples=[150],
    )
    restart: Literal["each block", "never"] = Field(
        default="each block",
        description=(
            "When a server starts anew, from a fresh clone of its data. `never`: one server at a time goes through "
            "all client counts of a workload in one start, as in experiments with one warm server or one data "
            "directory, in which files and the history list grow; each repetition is another start. Not with slices."
        ),
        examples=["each block"],
    )
    stop: Literal["fast", "slow"] = Field(
        default="fast",
        description=(
            "How servers end after their measurement. `slow`: they finish all that they put off (purge, buffered "
            "changes of indexes) and write all pages, one server after the other, and the time of this is measured. "
            "`fast`: nothing that is thrown away is written."
        ),
        examples=["slow"],
    )
    series: bool = Field(
        default=False,
        description=(
            "Read the server's counters every second of each window, and draw them below its transactions per second."
        ),
        examples=[True],
    )
    relinked: bool = Field(
        default=True,
        description=(
            "In a study that compares builds, also measure the reference linked in other orders, another one in each "
            "repetition, as the arm `relinked`: how far the layout of the code alone moves it. Each block takes one "
            "arm longer. A build that was made ready or before it could be relinked has none."
        ),
        examples=[False],
    )
    slice_s: SliceLength = Field(
        default="automatic",
        title="`automatic`, or a number from 0.02 to 60",
        description=(
            "Seconds in which one server works while the others of its block wait; `automatic`, the default: 20 mean "
            "transactions of the reference, at least 0.1 and at most 5."
        ),
        examples=[0.2, "automatic"],
    )
    rounds: Stated[int] = Field(
        default=None,
        ge=6,
        le=100000,
        description=(
            "Rounds of a block in slices: in each, every server works for a slice. Without it as many as give each "
            "server `measure_s` of work, at least 6. Blocks by turns have windows of `measure_s` or `turn_s` in "
            "place of rounds."
        ),
        examples=[50],
    )
    together: int = Field(
        default=6,
        ge=1,
        le=100,
        description=(
            "Servers of a block that are up at the same time, the reference and A/A among them; with 1 they are "
            "measured one after the other, and 2 is refused. Further variants are measured in blocks of their own, "
            "each with the reference and A/A."
        ),
        examples=[6],
    )
    turn_s: int = Field(
        default=20,
        ge=3,
        le=86400,
        description=(
            "Seconds at least of each server's window in a block by turns. A block in slices goes by turns if its "
            "load proves to be bound by a disk, unless the study has the key `together`: over 100 fsyncs, 100 "
            "commits synced to the binary log, 100 pages read from files or 64 MiB written per second, by the "
            "counters of the reference while it warms up. Windows under 20 s vary more from run to run. With "
            "`restart: never` they have `measure_s`."
        ),
        examples=[60],
    )
