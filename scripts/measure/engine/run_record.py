"""The records of runs and diagnoses: the files `{arm}.json` and `{tool}.json` as values, read and written."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from scripts.lib import json_record
from scripts.lib.failure_reasons import FailureFacts
from scripts.lib.json_record import Json
from scripts.lib.parts import Part
from scripts.lib.vocabulary import SLICES, TURNS, CountedBy, FailureKind
from scripts.measure.engine import machine_parts, run_parts

OK, FAILED = "ok", "failed"
NOT_MEASURED = "not_measured"  # the code of the warning that names what this machine does not report
WAITING = "wait_lock"  # the phase in which another study, or a compiler, has the machine
# The keys of a run by turns behind its window, in the order of its steps.
AFTER_TURN = (
    *("operations", "client_environment", "client_preloaded", "counter_series", "files", "statements", "commands"),
    *("slow_stop_s", "warnings", "phases_s"),
)
VARIABLES_FOLDER = "variables"
RECORD_FOLDERS = ("blocks", "runs", "diagnoses")
R = TypeVar("R", bound="Run")


@dataclass(frozen=True, slots=True)
class Run(Part):
    """The record of a run. `path` is the file it was read from; every other field is a key of the JSON object.

    `environment` holds the variables that the study gives the server, `preloaded` path -> SHA-256 of the libraries that
    they have loaded and that are mapped; `client_environment` and `client_preloaded` are those of sysbench. `variables`
    holds the server's variables, but for those in the shared file, see `server_variables`. `slow_stop_s`, of a study
    with `stop: slow`, is the time from the request to stop to the server's end. `nice` is the nice value of what this
    machine started, below 0 where it went before other programs. `left_s` stands in older records only.
    `counted_by` says whose counts of transactions and latency the run has, see `counts_of`.
    """

    path: Path | None = None
    format: int | None = None
    workflow: run_parts.Workflow = field(default_factory=run_parts.Workflow)
    study: str | None = None
    variant: str | None = None
    workload: str | None = None
    clients: int | None = None
    repetition: int | None = None
    block: str | None = None
    position: int | None = None
    run_number: int | None = None
    runs_total: int | None = None
    left_s: float | None = None
    sql: str | None = None
    storage: str | None = None
    log_statements: bool | None = None
    imported: dict[str, str] | None = None
    recipe: dict[str, Json] = field(default_factory=dict)
    server: run_parts.ServerFacts = field(default_factory=run_parts.ServerFacts)
    sysbench: run_parts.Sysbench = field(default_factory=run_parts.Sysbench)
    host: machine_parts.HostFacts = field(default_factory=machine_parts.HostFacts)
    placement: machine_parts.PlacementFacts = field(default_factory=machine_parts.PlacementFacts)
    nice: int | None = None
    outcome: str | None = None
    reason: str | None = None
    failure: FailureFacts = field(default_factory=FailureFacts)
    fsync_ms: run_parts.FsyncTimes = field(default_factory=run_parts.FsyncTimes)
    medium: run_parts.Medium = field(default_factory=run_parts.Medium)
    page_cache: run_parts.PageCache = field(default_factory=run_parts.PageCache)
    running: run_parts.RunningFacts = field(default_factory=run_parts.RunningFacts)
    environment: dict[str, str] = field(default_factory=dict)
    preloaded: dict[str, str] = field(default_factory=dict)
    options_unread: list[str] = field(default_factory=list)
    supplies: machine_parts.SuppliesFacts = field(default_factory=machine_parts.SuppliesFacts)
    option_file: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    pool: run_parts.Pool = field(default_factory=run_parts.Pool)
    client_environment: dict[str, str] = field(default_factory=dict)
    client_preloaded: dict[str, str] = field(default_factory=dict)
    commands: dict[str, list[str]] = field(default_factory=dict)
    counted_by: str | None = None
    times: run_parts.TimesFacts = field(default_factory=run_parts.TimesFacts)
    window: run_parts.WindowFacts = field(default_factory=run_parts.WindowFacts)
    series: run_parts.Series = field(default_factory=run_parts.Series)
    generators: run_parts.Generators = field(default_factory=run_parts.Generators)
    histogram: run_parts.HistogramFacts = field(default_factory=run_parts.HistogramFacts)
    cpu: run_parts.CpuFacts = field(default_factory=run_parts.CpuFacts)
    pressure: machine_parts.Pressure = field(default_factory=machine_parts.Pressure)
    memory: machine_parts.Memory = field(default_factory=machine_parts.Memory)
    io: run_parts.Io = field(default_factory=run_parts.Io)
    client_host: run_parts.ClientHostFacts = field(default_factory=run_parts.ClientHostFacts)
    sliced: run_parts.Sliced = field(default_factory=run_parts.Sliced)
    counters: dict[str, run_parts.Edges] = field(default_factory=dict)
    engine_report: run_parts.EngineReports = field(default_factory=run_parts.EngineReports)
    files: run_parts.FileFacts = field(default_factory=run_parts.FileFacts)
    statements: run_parts.Statements = field(default_factory=run_parts.Statements)
    operations: dict[str, run_parts.Operation] = field(default_factory=dict)
    timed_sql: run_parts.TimedSql = field(default_factory=run_parts.TimedSql)
    counter_series: dict[str, list[float | None]] = field(default_factory=dict)
    slow_stop_s: float | None = None
    warnings: list[run_parts.RunWarning] = field(default_factory=list)
    phases_s: dict[str, float] = field(default_factory=dict)
    shared_variables: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the server or sysbench failed; such a run has a reason and no measurement."""
        return self.outcome == FAILED

    @property
    def comes_again(self) -> bool:
        """Whether the run failed for a cause by which it fails again until the study is changed."""
        return self.failure.kind is not None and FailureKind(self.failure.kind).comes_again

    @property
    def counts_of(self) -> CountedBy | None:
        """Whose counts the run has; records that do not say have sysbench's by turns, the gate's in slices."""
        if self.counted_by is not None:
            return CountedBy(self.counted_by)
        if self.failed or self.timed_sql or self.window.tps is None:
            return None
        return CountedBy.GATE if self.sliced.method == SLICES else CountedBy.SYSBENCH

    @property
    def key(self) -> tuple[str, str, int, int]:
        """The variant, workload, clients and repetition."""
        if self.repetition is None:
            raise ValueError(f"{self.path}: repetition is missing, expected the record of a run in a block")
        return (*self.cell, self.repetition)

    @property
    def cell(self) -> tuple[str, str, int]:
        """The variant, workload and clients."""
        if self.variant is None or self.workload is None or self.clients is None:
            raise ValueError(f"{self.path}: variant, workload or clients are missing, expected the record of a run")
        return self.variant, self.workload, self.clients

    @property
    def n_server_cpus(self) -> int | None:
        """Number of CPUs that the server could run on."""
        return len(self._placed[0]) if self._placed else None

    @property
    def n_client_cpus(self) -> int | None:
        """Number of CPUs that sysbench could run on, on whichever host."""
        if self.running:
            return len(self.client_host.cpus or []) or None
        return len(self.client_host.cpus or self._placed[1]) if self._placed else None

    @property
    def n_shared_cpus(self) -> int | None:
        """Number of CPUs that both could run on."""
        if not self._placed:
            return None
        server_cpus, client_cpus = self._placed
        return 0 if self.client_host.cpus else len(set(server_cpus) & set(client_cpus))

    @property
    def _placed(self) -> tuple[list[int], list[int]] | None:
        """The CPUs of server and client on this machine, None unless both are known."""
        server_cpus, client_cpus = self.placement.server_cpus, self.placement.client_cpus
        return None if server_cpus is None or client_cpus is None else (server_cpus, client_cpus)

    @property
    def generator_cpu_s(self) -> float | None:
        """CPU seconds of sysbench in the window, on whichever host it ran."""
        local, remote = self.cpu, self.client_host.cpu
        user_s, system_s = local.client_user_s, local.client_system_s
        if self.client_host:
            user_s, system_s = remote.user_s, remote.system_s
        return None if user_s is None or system_s is None else user_s + system_s

    @property
    def generator_boot_id(self) -> str | None:
        """Identity of the boot of the host that sysbench ran on."""
        return (self.client_host.host if self.client_host else self.host).boot_id

    def written_empty(self) -> Collection[str]:
        """Return what every run has, and what a measured one has whatever its load."""
        if self.failed:
            return ("storage", "host", "reason")
        of_server = () if self.running else ("pressure", "io", "files", "slow_stop_s")
        environments = (("preloaded", self.environment), ("client_preloaded", self.client_environment))
        series = () if self.timed_sql else ("counter_series",)
        always = ("storage", "host", "reason", "commands", "counters", "warnings")
        return (*always, *of_server, *series, *(name for name, environment in environments if environment))

    def server_variables(self) -> dict[str, str]:
        """Return every variable of the server with its value, those in the shared file included.

        Raises ValueError naming the shared file when it is missing or was changed.
        """
        if self.shared_variables is None:
            return self.variables
        if self.path is None:
            raise ValueError(
                "the record of a run was not read from a file, expected one with the shared file beside it"
            )
        return {**_read_shared(shared_file(self.path, self.shared_variables)), **self.variables}


@dataclass(frozen=True, slots=True)
class Diagnosis(Run):
    """The record of a run beside which `tool` looked into the server; `diagnosis` is what the tool found."""

    tool: str | None = None
    diagnosis: dict[str, Any] = field(default_factory=dict)


def working_s(phases_s: Mapping[str, float | None]) -> float:
    """Return the seconds of a run's phases without its waiting; NaN where none is known.

    Runs side by side have an equal share of their block's phases each: the sum over a block is that of the block.
    """
    spans_s = [seconds for name, seconds in phases_s.items() if name != WAITING and seconds is not None]
    return sum(spans_s) if spans_s else float("nan")


def measured_s(spans: Iterable[tuple[float | None, float | None]]) -> float:
    """Return the seconds in which at least one run was under way, from their starts and ends in seconds since 1970.

    The runs of a block that is measured side by side share theirs. A run without times adds nothing.
    """
    total_s = until = 0.0
    known_spans = [(began_s, ended_s) for began_s, ended_s in spans if began_s is not None and ended_s is not None]
    for began_s, ended_s in sorted(known_spans):
        total_s += max(0.0, ended_s - max(began_s, until))
        until = max(until, ended_s)
    return total_s


def read(path: Path, without: Collection[str] = ()) -> Run:
    """Read the record of a run, `without` some of its keys: 10 000 whole records take a gigabyte.

    Raises ValueError naming the file when it is not such a record or was written by a newer release.
    """
    return _read(Run, path, without)


def read_diagnosis(path: Path) -> Diagnosis:
    """Read the record of a diagnosis. Raises ValueError as `read` does."""
    return _read(Diagnosis, path, ())


def _read(kind: type[R], path: Path, without: Collection[str]) -> R:
    facts = json_record.read(path)
    try:
        return kind.of({**{key: value for key, value in facts.items() if key not in without}, "path": path})
    except TypeError as error:
        raise ValueError(
            f"{path}: not the record of a run ({error}); remove it, and the run is measured again"
        ) from None


@dataclass(frozen=True)
class MeasuredRun:
    """A run, and the server's variables that it shares with all runs of its variant."""

    run: Run
    shared: Mapping[str, str] = field(default_factory=dict)


def write(path: Path, measured: MeasuredRun) -> None:
    """Write the record of a run, and the file of the variables that it shares with others, if there is none yet."""
    run, shared = measured.run, measured.shared
    if shared:
        run = replace(run, shared_variables=json_record.sha256(shared))
    if run.shared_variables and not (file := shared_file(path, run.shared_variables)).exists():
        json_record.write(file, {"variables": shared})
    json_record.write_signed(path, in_order_of_method(run))


def in_order_of_method(run: Run) -> dict[str, Json]:
    """Return a run as JSON, its keys in the order in which it was measured: a turn ends with its server's stop."""
    facts, by_turns = json_record.dump(run), run.sliced.method == TURNS
    last = (*(AFTER_TURN if not run.timed_sql else ()), "sliced") if by_turns else ()
    if run.failed and not by_turns:
        last = ("sliced", "times", "phases_s")
    ends = {name: facts[name] for name in (*last, "shared_variables") if name in facts}
    return {**{name: fact for name, fact in facts.items() if name not in ends}, **ends}


def shared_file(path: Path, sha256: str) -> Path:
    """Return the file with the variables that all runs of a variant share, by the path of a run's record.

    Records lie below `{study}/blocks/`, `{study}/diagnoses/` and, of imported logs, `{study}/runs/`, their variables in
    `{study}/variables/`: all move together with the folder of the study.
    Raises ValueError when the path has no such folder.
    """
    for folder in path.parents:
        if folder.name in RECORD_FOLDERS:
            return folder.parent / VARIABLES_FOLDER / f"{sha256}.json"
    raise ValueError(f"{path}: expected the record of a run below a folder named {' or '.join(RECORD_FOLDERS)}")


@lru_cache(maxsize=64)
def _read_shared(file: Path) -> dict[str, str]:
    try:
        variables: dict[str, str] = json_record.read(file)["variables"]
    except FileNotFoundError as error:
        raise ValueError(
            f"{file}: missing, expected the server variables of runs; restore it, or remove them"
        ) from error
    if json_record.sha256(variables) != file.stem:
        raise ValueError(f"{file}: its content was changed, expected the variables with this SHA-256; restore it")
    return variables
