"""Fill a dataset's tables: by which script, with which options, and what of these the loads on it are told too."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts import sysbench, sysbench_script
from scripts.process import CommandFailed, run
from scripts.sysbench_flags import script_path
from scripts.sysbench_output import SysbenchFailed, SysbenchMisused, is_misuse, reject_failure

SCRIPT = "oltp_read_write"
MOST_LOADERS = 16


def fill(tables: Mapping[str, Any], flags: list[str], loaders: int, text: Path) -> list[str]:
    """Create and fill the tables with at most `loaders` connections, each one table at a time; returns the command.

    `tables` is a dataset's entry, `flags` are sysbench's connection options, `text` becomes what sysbench says. Raises
    SysbenchFailed or SysbenchMisused with its last lines, ValueError naming an option whose value its script would
    misread.
    """
    generator, script = sysbench.read_capabilities(), script_path(tables.get("script", SCRIPT))
    options = tables.get("options", {})
    sysbench_script.demand(generator, script, options)
    clients = min(loaders, tables.get("tables", MOST_LOADERS), MOST_LOADERS)
    command = sysbench.prepare_command(
        generator, script, flags, tables.get("tables"), tables.get("rows"), options, clients
    )
    text.unlink(missing_ok=True)
    try:
        run(command, text)
        # Its status is 0 when a table could not be made by one of several connections (1.0.20, seen).
        reject_failure(_read(text))
    except (CommandFailed, SysbenchFailed, SysbenchMisused) as failure:
        kind = SysbenchMisused if is_misuse(_read(text)) else SysbenchFailed
        raise kind(f"the tables could not be loaded: {failure}\n(log: {text})") from failure
    return command


def _read(text: Path) -> str:
    return text.read_text(encoding="utf-8", errors="replace") if text.exists() else ""


def fill_anew(tables: Mapping[str, Any], flags: list[str], text: Path) -> list[str]:
    """Fill a dataset that no snapshot holds, on the server to be measured; returns the command, nothing when one does.

    Raises what `fill` raises.
    """
    return fill(tables, flags, len(os.sched_getaffinity(0)), text) if tables.get("fresh") else []


def options_of_load(generator: sysbench.Capabilities, script: str, load: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a load: its own, laid over those of its dataset that its script has too.

    `load` has `options` and `tables`, the dataset's entry; a scale is said once and meant by both.
    """
    own, shared = load.get("options", {}), load["tables"].get("options", {})
    if not shared:
        return dict(own)
    known, said = sysbench_script.options_of(generator, script), {name.replace("-", "_") for name in own}
    wanted = known.keys() - said
    return {**{name: value for name, value in shared.items() if name.replace("-", "_") in wanted}, **own}
