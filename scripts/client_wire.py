"""How a process is started on the client host: through ssh, or through a command of the study's own."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent
AGENT = ("__init__", "host", "traffic", "client_agent")
# Nobody is there to be asked for a password, and a host that is gone should be noticed.
SSH = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
# What it needs comes as one line, so that its standard input stays open as a sign that we are there.
BOOT = """
import json, os, pathlib, sys, tempfile
wanted = json.loads(sys.stdin.buffer.readline())
with tempfile.TemporaryDirectory(prefix="pgobench-") as folder:
    for name, text in wanted.pop("files").items():
        file = pathlib.Path(folder, name)
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    os.chdir(folder)
    sys.path.insert(0, folder)
    from scripts import client_agent
    client_agent.main(wanted)
"""


def name(client: Mapping[str, Any]) -> str:
    """Return what a study's `client` is called in texts."""
    return client["ssh"] if "ssh" in client else shlex.join(client["command"])


def agent_command(client: Mapping[str, Any]) -> list[str]:
    """Return the command that runs our agent on the client host."""
    agent = ["python3", "-c", BOOT]
    # ssh gives its words to a shell over there, as one line.
    return [*SSH, client["ssh"], shlex.join(agent)] if "ssh" in client else [*client["command"], *agent]


def line(wanted: Mapping[str, Any], files: Mapping[str, str] | None = None) -> bytes:
    """Return what the agent reads first: what is wanted of it, its own code, and further files by name."""
    code = {f"scripts/{part}.py": (SCRIPTS / f"{part}.py").read_text(encoding="utf-8") for part in AGENT}
    return json.dumps({**wanted, "files": {**code, **(files or {})}}).encode() + b"\n"
