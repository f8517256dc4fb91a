"""Compose command lines of sysbench 1.0 or 1.1, from the capabilities that the binary reports."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from scripts.lib.host import kept, workplace
from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.process import watchdog
from scripts.lib.json_record import file_sha256
from scripts.lib.recipe_models import Options, Scalar
from scripts.lib.wording import option_value
from scripts.measure.loadgen import script_options
from scripts.measure.loadgen.lua import OUR_SCRIPTS, script_files
from scripts.measure.loadgen.output import SysbenchFailed, SysbenchMisused

DEFAULTS = {"db-ps-mode": "disable"}
# What the drivers' options about a connection end with.
CONNECTION = ("host", "port", "socket", "user", "password", "db")
# Option -> the key of a study that sets it; setting it in `options` as well could contradict that key.
OWNED = {
    "threads": "clients",
    "time": "the study's seconds",
    "events": "the study's seconds",
    "report-interval": "the measuring itself",
    "rand-seed": "seed",
    "tables": "the dataset",
    "table-size": "the dataset",
    "warmup-time": "warmup_s",
    "db-driver": "the server's family",
    "percentile": "the measuring itself",
    "histogram": "the measuring itself",
    # Older names of the above.
    "num-threads": "clients",
    **dict.fromkeys(("max-time", "max-requests"), "the study's seconds"),
    # By these sysbench reads other options, prints something else, or sends nothing.
    **dict.fromkeys(("config-file", "luajit-cmd", "help", "version", "report-checkpoints"), "the measuring itself"),
    **dict.fromkeys(("mysql-dry-run", "mysql-debug", "db-debug"), "the measuring itself"),
    **dict.fromkeys((f"mysql-{part}" for part in CONNECTION), "the server"),
    **dict.fromkeys((f"pgsql-{part}" for part in CONNECTION), "the server"),
}
MANY_CLIENTS, INIT_TIMEOUT_S = 128, 120
LARGEST_SEED = 2**31 - 1


class ScriptUnanswered(ValueError):
    """A script does not tell its options when it is asked; the message names it and quotes what it said."""


@dataclass(frozen=True)
class Capabilities:
    """One sysbench binary: `options` are the long names of its general options, hyphenated."""

    path: str
    version: str
    luajit: str
    sha256: str
    drivers: tuple[str, ...]
    options: frozenset[str]


def read_capabilities(program: str = "sysbench") -> Capabilities:
    """Return the capabilities of a sysbench binary. Raises ValueError naming it if it is missing or older than 1.0."""
    path = shutil.which(program)
    if path is None:
        raise ValueError(f"{program}: not found, expected sysbench 1.0 or 1.1; install the package named sysbench")
    texts = [_ask(path, *arguments) for arguments in (["--version"], ["--help"], ["cpu", "help"])]
    return capabilities_from(*texts, path=path, sha256=file_sha256(Path(path)))


def capabilities_from(version: str, help_text: str, header: str, *, path: str, sha256: str) -> Capabilities:
    """Parse the output of `--version`, `--help` and `cpu help`. Raises ValueError unless it is sysbench >= 1.0."""
    match = re.match(r"sysbench (\d+)\.(\d+\S*)", version)
    if not match or int(match[1]) < 1:
        raise ValueError(f"{path}: reports version {version.strip()!r}, expected sysbench 1.0 or 1.1")
    luajit = re.search(r"\(using (.+)\)", header)
    drivers = help_text.partition("Compiled-in database drivers:\n")[2].partition("\n\n")[0]
    return Capabilities(
        path=path,
        version=f"{match[1]}.{match[2]}",
        luajit=luajit[1] if luajit else "unknown",
        sha256=sha256,
        drivers=tuple(re.findall(r"^ +(\S+) - ", drivers, re.MULTILINE)),
        options=frozenset(re.findall(r"^ +--([a-z-]+)", help_text, re.MULTILINE)),
    )


def _ask(path: str, *arguments: str) -> str:
    answer = subprocess.run(
        [path, *arguments], env=made_environment(), capture_output=True, text=True, check=False, timeout=ANSWER_S
    )
    return answer.stdout


def prepare_command(
    capabilities: Capabilities,
    script: str,
    driver_flags: Sequence[str],
    tables: int | None,
    rows: int | None,
    options: Options,
    clients: int = 1,
) -> list[str]:
    """Return the command that creates and fills the tables; each client fills one table at a time.

    `tables` and `rows` are None if the script takes its size from `options`.
    """
    return [
        *_head(capabilities, script, driver_flags, tables, rows),
        *_flags(options),
        f"--threads={clients}",
        "prepare",
    ]


@dataclass(frozen=True)
class SysbenchCall:
    """One call of `sysbench … run`: what its command line is composed of, in one place.

    `program` are the words before the script, `options` those behind it: connection, sizes and the workload's own.
    Without `seed`, sysbench takes the time of day. `clients_start_within_s` is left to sysbench where it is None.
    """

    program: tuple[str, ...]
    script: str
    options: tuple[str, ...]
    clients: int
    seconds: int
    seed: int | None = None
    events: int = 0
    has_histogram: bool = True
    clients_start_within_s: int | None = None

    @property
    def argv(self) -> list[str]:
        """The words of the command line."""
        within_s = self.clients_start_within_s
        return [
            *self.program,
            self.script,
            *self.options,
            *([] if within_s is None else [f"--thread-init-timeout={within_s}"]),
            *(f"--threads={self.clients}", f"--time={self.seconds}", f"--events={self.events}", "--report-interval=1"),
            *([] if self.seed is None else [f"--rand-seed={self.seed}"]),
            *(["--percentile=95", "--histogram=on"] if self.has_histogram else ["--percentile=95"]),
            "run",
        ]

    def of_one_event(self) -> "SysbenchCall":
        """Return the call in which one client runs one event of the same load."""
        return replace(self, clients=1, seconds=0, events=1, clients_start_within_s=None)

    def behind(self, prelude: Path, seconds: int) -> "SysbenchCall":
        """Return the call whose script is a prelude, which loads the script itself; 0 `seconds` are without limit."""
        return replace(self, script=str(prelude), seconds=seconds)

    def started_by(self, words: Sequence[str]) -> "SysbenchCall":
        """Return the call with further words before its program."""
        return replace(self, program=(*words, *self.program))

    def failure(self, error: SysbenchFailed | SysbenchMisused, log: Path) -> SysbenchFailed | SysbenchMisused:
        """Return the error of this call with its command and the log of its load."""
        text = f"{error}\n(command: {shlex.join(self.argv)}; log: {log})"
        return error.reworded(text) if isinstance(error, SysbenchFailed) else SysbenchMisused(text)


def measuring_call(
    capabilities: Capabilities,
    script: str,
    driver_flags: Sequence[str],
    tables: int | None,
    rows: int | None,
    options: Options,
    clients: int,
    seconds: int,
    *,
    seed: int,
) -> SysbenchCall:
    """Return a warm-up or measuring call.

    `driver_flags` start with --db-driver; `options` are the workload's, written as sysbench does (`point_selects`),
    with true and false for on and off. A window between reports is 1 to 2 s shorter than `seconds`, because the last
    report races with the end of the call. Raises ValueError naming an option that a workload must not set.
    """
    if not 1 <= seed <= LARGEST_SEED:
        raise ValueError(f"seed: {seed!r}, expected 1 to {LARGEST_SEED} (sysbench takes 0 as the time of day)")
    program, script, *flags = _head(capabilities, script, driver_flags, tables, rows)
    slow_start = clients >= MANY_CLIENTS and "thread-init-timeout" in capabilities.options
    return SysbenchCall(
        (program,),
        script,
        (*flags, *_flags(_defaults_for(options) | dict(options))),
        clients,
        seconds,
        seed=seed,
        has_histogram="histogram" in capabilities.options,
        clients_start_within_s=INIT_TIMEOUT_S if slow_start else None,
    )


def _head(
    capabilities: Capabilities, script: str, flags: Sequence[str], tables: int | None, rows: int | None
) -> list[str]:
    drivers = [flag.partition("=")[2] for flag in flags if flag.startswith("--db-driver=")]
    if len(drivers) != 1 or drivers[0] not in capabilities.drivers:
        drivers_named, compiled_in = ", ".join(drivers) or "none", ", ".join(capabilities.drivers) or "none"
        raise ValueError(
            f"{capabilities.path}: driver asked for: {drivers_named}; expected one of its own: {compiled_in}"
        )
    sizes = {"tables": tables, "table_size": rows}
    size_flags = [f"--{name}={size}" for name, size in sizes.items() if size is not None]
    return [capabilities.path, script, *flags, *size_flags]


def _defaults_for(options: Options) -> dict[str, Scalar]:
    named = {name.replace("_", "-") for name in options}
    return {name: value for name, value in DEFAULTS.items() if name not in named}


def _flags(options: Options) -> list[str]:
    for name in options:
        owner = OWNED.get(name.replace("_", "-"))
        if owner:
            raise ValueError(f"options: {name!r} cannot be set here, it comes from {owner}")
    return [f"--{name}={option_value(value)}" for name, value in options.items()]


OPTION_LINE = re.compile(r"^ +--([\w-]+)(\[?=\S+)", re.MULTILINE)
OPTION_KINDS = {"=N": r"-?\d+(?:\.\d+)?", "[=on|off]": r"on|off|true|false|0|1"}
ANSWER_S = 60
ANSWERED_WITHIN_S, LONGEST_ANSWER_BYTES = 20, 1 << 20


def declared_options(capabilities: Capabilities, script: str) -> dict[str, str] | None:
    """Return what `options_of` does, from the text of the script alone; None when only running it would tell."""
    shared = Path(capabilities.path).resolve().parent.parent / "share" / "sysbench"
    path = Path(script) if "/" in script else shared / f"{script}.lua"
    return script_options.declared(path, [path.parent, shared]) if path.is_file() else None


def options_of(capabilities: Capabilities, script: str) -> dict[str, str]:
    """Return name (underscored) -> form of the value per option of a script, as `sysbench SCRIPT help` prints them.

    Empty if the script has no help. A script is run only when its text does not tell: without our privileges unless it
    is one of ours or of sysbench's. Raises ScriptUnanswered.
    """
    declared = declared_options(capabilities, script)
    return asked_options(capabilities.path, script) if declared is None else declared


@lru_cache(maxsize=32)
def asked_options(program: str, script: str) -> dict[str, str]:
    """Return what a script answers to `help`; raises ScriptUnanswered."""
    with workplace.temporary_directory() as folder:
        if is_trusted(script):
            argv, modules = [program, script, "help"], ""
        else:
            argv, modules = [*_unprivileged(), program, _copied(Path(script), folder), "help"], f"{folder}/?.lua;;"
        text = _answer(argv, script, made_environment(HOME="/", LUA_PATH=modules))
    options_text = text.partition(" options:\n")[2]
    return {name.replace("-", "_"): form for name, form in OPTION_LINE.findall(options_text)}


def _answer(argv: Sequence[str], script: str, environment: Mapping[str, str]) -> str:
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with (
        kept.started(argv, env=environment, cwd=Path("/"), stdin=null, stdout=pipe, stderr=subprocess.STDOUT) as answer,
        watchdog(answer.end, ANSWERED_WITHIN_S) as late,
    ):
        assert answer.stdout is not None
        text = answer.stdout.read(LONGEST_ANSWER_BYTES).decode(errors="replace")
    if late.is_set():
        raise ScriptUnanswered(f"{script}: `sysbench {script} help` did not end within {ANSWERED_WITHIN_S} s")
    if len(text) >= LONGEST_ANSWER_BYTES:
        raise ScriptUnanswered(f"{script}: `sysbench {script} help` printed more than 1 MiB, expected its options")
    if failed := re.search(r"^(?:FATAL|setpriv): .*", text, re.MULTILINE):
        raise ScriptUnanswered(f"{script}: `sysbench {script} help` failed: {failed[0]}")
    return text


def is_trusted(script: str) -> bool:
    """Return whether a script is one of ours or, being a name, of sysbench's own."""
    return not Path(script).is_absolute() or Path(script).is_relative_to(OUR_SCRIPTS)


def _unprivileged() -> list[str]:
    """Return the words before a command that run it as the user of the servers, where root runs the workflow."""
    if not (user := workplace.server_identity()):
        return []
    return ["setpriv", f"--reuid={user['user']}", f"--regid={user['group']}", "--clear-groups"]


def _copied(script: Path, folder: Path) -> str:
    """Copy a script and its modules to a folder that everybody can read; return the script's path there."""
    folder.chmod(0o755)
    for name, file in script_files(script).items():
        shutil.copyfile(file, folder / name)
    return str(folder / script.name)


def demand_options(capabilities: Capabilities, script: str, options: Options) -> None:
    """Raise ValueError naming the script and each option whose value sysbench would misread."""
    try:
        forms = options_of(capabilities, script)
    except ScriptUnanswered:
        return  # sysbench itself judges the options when it runs the script
    if wrong := option_mistakes(forms, options):
        raise ValueError("\n".join(f"options of {script}: {line}" for line in wrong))


def option_mistakes(forms: Mapping[str, str], options: Options) -> list[str]:
    """Return one line per option whose value does not have the option's form: name, value, expected form."""
    mistakes = []
    for name, value in options.items():
        form = forms.get(name.replace("-", "_"), "")
        if form in OPTION_KINDS and not re.fullmatch(OPTION_KINDS[form], option_value(value)):
            mistakes.append(f"{name}: {value!r}, expected {form.strip('[]=')} as its script declares")
    return mistakes
