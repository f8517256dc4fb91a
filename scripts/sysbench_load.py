"""The load of a run: warm up, measure with sysbench, and read from the server what it tells at both edges."""

import contextlib
from functools import partial
from pathlib import Path
from typing import Any

from scripts import client_host, counter_series, edges, operations, sent, sysbench_many, sysbench_run, usage
from scripts.phases import Phases
from scripts.run_facts import measured
from scripts.run_setting import Setting
from scripts.server import Server


def run(setting: Setting, server: Server, data: Path, phases: Phases) -> dict[str, Any]:
    """Warm the server up with a call of its own, then measure; returns the facts of the window.

    The sizes of files are those before the warm-up and after the measuring call.
    """
    with contextlib.closing(server.connect()) as connection:
        variables, loaded = setting.family.variables(connection), edges.sizes(setting.family, data, connection)
        client_host.admit(setting.there, server, connection)
        warmup = warm_up(setting, server)
        phases.end("warmup")
        commands = setting.commands(server, _called_s(setting), seed=setting.place["repetition"])
        facts = measure(setting, server, connection, commands)
        left = edges.sizes(setting.family, data, connection)
        phases.end("measure")
        logged = sent.logged(setting, server, connection, commands[0], phases)
    return {
        **facts,
        "commands": {"server": server.command, "warmup": warmup, **sysbench_many.named(commands)},
        "variables": variables,
        "files": {"before": loaded, "after": left},
        **logged,
    }


def _called_s(setting: Setting) -> int:
    # The window lies between two reports, and at the last one connections may be closing: a second on each side.
    # Several processes do not end at one moment: another second, so that each of them covers the window.
    return setting.load["measure_s"] + 2 + (setting.place["clients"] > sysbench_many.MOST_CLIENTS)


def measure(setting: Setting, server: Server, connection: Any, commands: list[list[str]]) -> dict[str, Any]:
    """Run the measuring call; returns what the window showed, and what the server told at both edges of the call."""
    samples: list[tuple[sysbench_run.Moment, usage.Sample]] = []

    def on_report(moment: sysbench_run.Moment) -> None:
        if moment.number in (1, 1 + setting.load["measure_s"]):
            samples.append((moment, usage.sample(server.process.pid, *moment.pids)))
            setting.at_edge(server)

    patience_s, cpus = setting.patience_s("measure_s"), setting.cpus.client_cpus
    before = edges.read(setting.family, connection)
    ask = partial(setting.family.counters, connection) if setting.load.get("series") else None
    with counter_series.sampled(ask) as counted:
        finished = sysbench_many.run(commands, setting.text, timeout_s=patience_s, on_report=on_report, cpus=cpus)
    after = edges.read(setting.family, connection)
    return {
        **measured(finished, samples),
        **client_host.used(setting.there, server, samples),
        **edges.told(before, after),
        **operations.told(setting.text),
        "counter_series": counter_series.columns(counted, finished),
    }


def warm_up(setting: Setting, server: Server) -> list[str]:
    """Run the workload unmeasured, its keys drawn from another seed than the measuring call's; returns the command."""
    commands = setting.commands(server, setting.load["warmup_s"], seed=setting.place["repetition"] + 1_000_000)
    text, patience_s = setting.log.with_suffix(".warmup.txt"), setting.patience_s("warmup_s")
    sysbench_many.run(commands, text, timeout_s=patience_s, cpus=setting.cpus.client_cpus)
    return commands[0]
