"""Run one of the commands that fetch sources: found or named as missing, its lines in the log, gone when we are."""

import logging
import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

from scripts.process import die_with_parent, started

log = logging.getLogger(__name__)

PROGRESS_S = 10
TAIL_LINES = 12


class ToolError(RuntimeError):
    """A command that is missing or failed; the text names it and its last lines."""


def run(argv: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """Run a command in `folder` and return its standard output; `environment` is laid over this process's own.

    Raises ToolError when the command is not there or its status is not 0.
    """
    if not shutil.which(argv[0]):
        raise ToolError(f"command {argv[0]} not found: install the package that has it (Debian: {package(argv[0])})")
    log.debug("in %s: %s", folder, shlex.join(argv))
    with started(
        argv,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: die_with_parent(signal.SIGKILL),
    ) as process:
        output, errors = _outcome(process, argv[0])
    lines = [line for line in (output + "\n" + errors).splitlines() if line.strip()]
    for line in lines:
        log.debug("%s: %s", argv[0], line)
    if process.returncode:
        raise ToolError("\n".join([f"{shlex.join(argv)}: exit {process.returncode}", *lines[-TAIL_LINES:]]))
    return output


def package(command: str) -> str:
    """Return the Debian package of a command that sources are fetched with."""
    return {"mvn": "maven"}.get(command, command)


def _outcome(process: subprocess.Popen, name: str) -> tuple[str, str]:
    """Wait for a process, saying now and then that it still runs."""
    begin_s = time.monotonic()
    while True:
        try:
            output, errors = process.communicate(timeout=PROGRESS_S)
            return os.fsdecode(output), errors.decode(errors="replace")
        except subprocess.TimeoutExpired:
            log.info("%s: still at it after %.0f s", name, time.monotonic() - begin_s)
