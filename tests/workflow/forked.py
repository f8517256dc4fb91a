"""Snakemake in a process that is forked from one which has imported it: the same call, a second of CPU time cheaper."""

import atexit
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# Everything but the checkout's own modules, which tests edit.
PRELOADED = [
    *("snakemake.cli", "snakemake.profiles", "snakemake.storage", "snakemake.report.html_reporter"),
    *("argparse_dataclass", "jsonschema", "nbformat", "packaging.version", "pandas", "pg8000", "pymysql", "smart_open"),
]
CONTEXT = multiprocessing.get_context("forkserver")
CHECKOUT = str(Path(__file__).parents[2])


def run(words: Sequence[str], folder: Path, environment: Mapping[str, str], output: Path, timeout_s: float) -> int:
    """Run `python -m snakemake` with `words` in a folder; returns its exit status, its output is in a file.

    Raises subprocess.TimeoutExpired after `timeout_s`.
    """
    CONTEXT.set_forkserver_preload(PRELOADED)
    process = CONTEXT.Process(target=_snakemake, args=([*words], str(folder), dict(environment), str(output)))
    process.start()
    process.join(timeout_s)
    if process.exitcode is None:
        process.kill()
        raise subprocess.TimeoutExpired(["snakemake", *words], timeout_s)
    return process.exitcode


def _snakemake(words: list[str], folder: str, environment: dict[str, str], output: str) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    given = [place for place in environment.get("PYTHONPATH", "").split(os.pathsep) if place]
    # A test may replace a module that is loaded already.
    for place in given:
        for file in Path(place).iterdir():
            sys.modules.pop(file.stem, None)
    sys.path[:] = [folder, *given, *(place for place in sys.path if place not in ("", CHECKOUT))]
    sys.argv = ["snakemake", *words]
    # Read by an interpreter at its start only, which a forked process has behind it.
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    try:
        runpy.run_module("snakemake", run_name="__main__", alter_sys=True)
    finally:
        # A forked process ends without them.
        atexit._run_exitfuncs()
