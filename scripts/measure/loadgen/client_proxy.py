"""Run sysbench on the client host in the place of a local one, and relay its output line by line."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scripts.lib.host.entry import say
from scripts.lib.json_record import Json
from scripts.lib.parts import Part
from scripts.measure.loadgen import client_host
from scripts.measure.loadgen.client_host import ClientEntry, ProxySettings
from scripts.measure.loadgen.run_sysbench import CLIENT_HOST_LOST


def main(settings: Path, argv: list[str]) -> int:
    """Run a sysbench command line on the client host; return its exit status.

    `settings` is the JSON file that `client_host.admit` writes. The usage of CPU and network at each
    per-second report is written to `samples/N.jsonl` beside it, where N is the id of this process.
    """
    proxy = ProxySettings.of(json.loads(settings.read_text(encoding="utf-8")))
    entry = ClientEntry.of(proxy.client)
    samples = settings.parent / "samples" / f"{os.getpid()}.jsonl"
    command, files = remote_command(argv, proxy.program)
    login: dict[str, Json] = {"secrets": proxy.secrets, "cpus": [*proxy.cpus]}
    request: dict[str, Json] = {"do": "run", "command": [*command], "address": proxy.address, "port": proxy.port}
    process = subprocess.Popen(
        entry.agent_command(),
        env=client_host.login_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # In its own session, so that a signal to our group leaves it time to clean up; it ends with its standard input.
        start_new_session=True,
    )
    with process, samples.open("wb") as relayed:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(client_host.wire_line({**request, **login}, files))
            process.stdin.flush()
        end = _follow(process, relayed)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    return _judge(end, entry.name, f"{proxy.address}:{proxy.port}")


def remote_command(argv: list[str], program: str) -> tuple[list[str], dict[str, str]]:
    """Return the command line for the client host, and name -> text of the Lua files beside a script that is a file."""
    script = Path(argv[1])
    secrets = "--config-file=/dev/stdin"
    if not script.is_file():
        return [program, secrets, *argv[1:]], {}
    files = {file.name: file.read_text(encoding="utf-8") for file in script.parent.glob("*.lua")}
    return [program, secrets, f"./{script.name}", *argv[2:]], files


@dataclass(frozen=True, slots=True)
class AgentEnd(Part):
    """The agent's last message: sysbench's status, or why it could not reach the server."""

    status: int | None = None
    unreachable: str | None = None


def _follow(process: subprocess.Popen[bytes], samples: IO[bytes]) -> AgentEnd:
    """Relay sysbench's lines and write its samples to a file; return the agent's last message, empty without one."""
    end = AgentEnd()
    assert process.stdout is not None
    for line in process.stdout:
        match line[:1]:
            case b"o":
                sys.stdout.buffer.write(line[1:])
                sys.stdout.buffer.flush()
            case b"s":
                samples.write(line[1:])
                samples.flush()
            case b"e":
                end = AgentEnd.of(json.loads(line[1:]))
    return end


def _judge(end: AgentEnd, name: str, server: str) -> int:
    if end.unreachable is not None:
        say(f"client host {name}: cannot reach the server at {server} ({end.unreachable})")
        return CLIENT_HOST_LOST
    if end.status is None:
        say(f"client host {name}: the connection ended before sysbench did")
        return CLIENT_HOST_LOST
    if end.status < 0:
        say(f"sysbench died of {signal.Signals(-end.status).name}")
    return abs(end.status)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
