"""Compose command lines of sysbench 1.0 or 1.1, from the capabilities that the binary reports."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.host.made_environment import made_environment
from scripts.loadgen.lua import sysbench_environment
from scripts.record import file_sha256
from scripts.wording import option_value

DEFAULTS = {"db-ps-mode": "disable"}
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
}
MANY_CLIENTS, INIT_TIMEOUT_S = 128, 120
LARGEST_SEED = 2**31 - 1


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
    return _printed([path, *arguments])


def _printed(argv: Sequence[str]) -> str:
    how = {"capture_output": True, "text": True, "check": False, "timeout": ANSWER_S}
    return subprocess.run(argv, env=made_environment(**sysbench_environment()), **how).stdout


def prepare_command(
    capabilities: Capabilities,
    script: str,
    driver_flags: Sequence[str],
    tables: int | None,
    rows: int | None,
    options: Mapping[str, Any],
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


def run_command(
    capabilities: Capabilities,
    script: str,
    driver_flags: Sequence[str],
    tables: int | None,
    rows: int | None,
    options: Mapping[str, Any],
    clients: int,
    seconds: int,
    *,
    seed: int,
    report_interval_s: int = 1,
) -> list[str]:
    """Return the command of one warm-up or measuring call.

    `driver_flags` start with --db-driver; `options` are the workload's, written as sysbench does (`point_selects`),
    with true and false for on and off. A window between reports is 1 to 2 s shorter than `seconds`, because the last
    report races with the end of the call. Raises ValueError naming an option that a workload must not set.
    """
    if not 1 <= seed <= LARGEST_SEED:
        raise ValueError(f"seed: {seed!r}, expected 1 to {LARGEST_SEED} (sysbench takes 0 as the time of day)")
    return [
        *_head(capabilities, script, driver_flags, tables, rows),
        *_flags(_defaults_for(options) | dict(options)),
        *_clients(capabilities, clients),
        *(f"--time={seconds}", "--events=0", f"--report-interval={report_interval_s}", f"--rand-seed={seed}"),
        *(["--percentile=95", "--histogram=on"] if "histogram" in capabilities.options else ["--percentile=95"]),
        "run",
    ]


def _clients(capabilities: Capabilities, clients: int) -> list[str]:
    slow_start = clients >= MANY_CLIENTS and "thread-init-timeout" in capabilities.options
    return [*([f"--thread-init-timeout={INIT_TIMEOUT_S}"] if slow_start else []), f"--threads={clients}"]


def _head(
    capabilities: Capabilities, script: str, flags: Sequence[str], tables: int | None, rows: int | None
) -> list[str]:
    drivers = [flag.partition("=")[2] for flag in flags if flag.startswith("--db-driver=")]
    if len(drivers) != 1 or drivers[0] not in capabilities.drivers:
        asked, known = ", ".join(drivers) or "none", ", ".join(capabilities.drivers) or "none"
        raise ValueError(f"{capabilities.path}: driver asked for: {asked}; expected one of its own: {known}")
    sizes = {"tables": tables, "table_size": rows}
    size_flags = [f"--{name}={size}" for name, size in sizes.items() if size is not None]
    return [capabilities.path, script, *flags, *size_flags]


def _defaults_for(options: Mapping[str, Any]) -> dict[str, Any]:
    named = {name.replace("_", "-") for name in options}
    return {name: value for name, value in DEFAULTS.items() if name not in named}


def _flags(options: Mapping[str, Any]) -> list[str]:
    for name in options:
        owner = OWNED.get(name.replace("_", "-"))
        if owner:
            raise ValueError(f"options: {name!r} cannot be set here, it comes from {owner}")
    return [f"--{name}={option_value(value)}" for name, value in options.items()]


OPTION_LINE = re.compile(r"^ +--([\w-]+)(\[?=\S+)", re.MULTILINE)
OPTION_KINDS = {"=N": r"-?\d+(?:\.\d+)?", "[=on|off]": r"on|off|true|false|0|1"}
ANSWER_S = 60


def options_of(capabilities: Capabilities, script: str) -> dict[str, str]:
    """Return name (underscored) -> form of the value per option of a script, as printed by `sysbench SCRIPT help`.

    Empty if the script has no help.
    """
    text = _printed([capabilities.path, script, "help"])
    own = text.partition(" options:\n")[2]
    return {name.replace("-", "_"): form for name, form in OPTION_LINE.findall(own)}


def demand_options(capabilities: Capabilities, script: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError naming the script and each option whose value sysbench would misread."""
    if wrong := option_mistakes(options_of(capabilities, script), options):
        raise ValueError("\n".join(f"options of {script}: {line}" for line in wrong))


def option_mistakes(known: Mapping[str, str], options: Mapping[str, Any]) -> list[str]:
    """Return one line per option whose value does not have the option's form: name, value, expected form."""
    found = []
    for name, value in options.items():
        form = known.get(name.replace("-", "_"), "")
        if form in OPTION_KINDS and not re.fullmatch(OPTION_KINDS[form], option_value(value)):
            found.append(f"{name}: {value!r}, expected {form.strip('[]=')} as its script declares")
    return found
