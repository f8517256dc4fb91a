"""What a study declares of workloads, datasets and trainings."""

from typing import Annotated, Self

from pydantic import Field

from scripts.measure.loadgen.run_sysbench import FILL_SCRIPT
from scripts.study.config.scalars import (
    ClientCount,
    ConfigKeys,
    NeededKeys,
    Options,
    Reference,
    Script,
    ScriptOptions,
    Stated,
    text,
)


class DatasetDeclaration(ConfigKeys):
    """Tables that loads run on."""

    NEEDS = (NeededKeys(("tables", "rows"), ("script", FILL_SCRIPT)),)

    tables: Stated[int] = Field(default=None, ge=1, le=1000, description="Number of tables.")
    rows: Stated[int] = Field(
        default=None, ge=1, le=1000000000, description="Rows of each table, about 250 bytes per row."
    )
    script: Script = Field(
        default=FILL_SCRIPT,
        description=(
            "The script whose `prepare` fills them; sysbench's own, a Lua file of workloads/, or a path of yours."
        ),
    )
    options: ScriptOptions = Field(
        default_factory=dict,
        description=(
            "Options of that script, by the names in sysbench's own help. The script of a load on the dataset gets "
            "those that it has too."
        ),
    )
    fill: Stated[bool] = Field(
        default=None,
        description=(
            "Whether the server reads tables and indexes into its buffer pool after each start, before it warms up; "
            "by default where the pool can hold them. Timed SQL begins cold instead."
        ),
    )
    fresh: bool = Field(
        default=False,
        description="Load it anew before every run, on the server to be measured, instead of cloning a snapshot.",
    )

    def laid_under(self, data: Self | None) -> Self:
        """Return the dataset with the keys that a variant states in `data` on top, option by option."""
        if data is None:
            return self
        stated = {key: getattr(data, key) for key in data.model_fields_set}
        return self.model_copy(update={**stated, "options": {**self.options, **data.options}})


class WorkloadDeclaration(ConfigKeys):
    """A load."""

    NEEDS = (NeededKeys(("script",), without="sql"),)

    script: Stated[Script] = Field(
        default=None,
        description=(
            "The name of one of sysbench's own scripts, or of a Lua file of workloads/; or the path of a Lua file of "
            "yours, which finds the modules beside it. The page shows the calls and times of each line `operation "
            "NAME: N calls, sum S us, longest L us, up to us: BOUND:N ...` that it prints. An error of sysbench ends "
            "a run as failed unless the script tries again and prints `retries: ` with the beginning of the error's "
            "line."
        ),
    )
    sql: Stated[Annotated[str, text(r"^([A-Za-z0-9_][A-Za-z0-9_.-]*|(/|~/)[^\x00-\x1f]*)$", 1000, is_path=True)]] = (
        Field(
            default=None,
            title="the name of a file of workloads/, or a path that begins with / or ~/",
            description=(
                "Instead of a script, a file of named statements that one connection sends, each timed: a file of "
                "workloads/, or a path. `-- name: NAME` before a statement has it timed, `-- show: NAME` its rows "
                "shown, `-- prepare: NAME` neither; `-- since: mysql 8.0, mariadb 10.3` limits it to these servers, "
                "`-- against: NAME` sets a timed one beside another above it."
            ),
            examples=["mediawiki.sql"],
        )
    )
    passes: int = Field(
        default=2,
        ge=1,
        le=100,
        description=(
            "How often the statements of `sql` are sent, all of them in their order: first cold, with the server "
            "just started and its files not in the page cache, then warm. 1 for statements that change tables."
        ),
    )
    dataset: Reference = Field(title="the name of a dataset", description="The tables it runs on.")
    fill: Stated[bool] = Field(default=None, description="In place of the dataset's `fill`, for this load.")
    rows: Stated[int] = Field(
        default=None,
        ge=1,
        le=1000000000,
        description=(
            "How many rows of each table the script draws its keys from, the first ones; by default all rows of the "
            "dataset."
        ),
        examples=[10000],
    )
    options: ScriptOptions = Field(
        default_factory=dict, description="Options of the script, by their names in sysbench."
    )


TrainedWorkload = Annotated[
    Reference, Field(title="the name of a workload", description="A workload of the study or the catalog.")
]


class TrainingDeclaration(ConfigKeys):
    """A list of workloads run on an instrumented build; yields a profile."""

    workloads: list[TrainedWorkload] = Field(
        min_length=1, max_length=100, description="Names of workloads, run one after the other."
    )
    clients: ClientCount = Field(description="Concurrent connections.")
    seconds: int = Field(ge=1, le=86400, description="Seconds of each workload.")
    options: Stated[Options] = Field(
        default=None,
        description=("Server options of the training, in place of the study's `options`; `{}` for the family's alone."),
    )
    load: bool = Field(
        default=False,
        description="The instrumented server loads the tables itself, so that the profile counts the load, too.",
    )
