"""A load generator on another host: facts of that host, its account on the server, and the CPU and network it used."""

import dataclasses
import json
import os
import secrets
import shlex
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import PACKAGE
from scripts.lib.host import cpus as host_cpus
from scripts.lib.host import machine_facts, usage
from scripts.lib.host.cpus import Topology, format_cpus, parse_cpus, read_topology
from scripts.measure.loadgen import sysbench
from scripts.measure.servers.families import Family
from scripts.measure.servers.server import Server

AGENT = ("__init__", "lib/host/machine_facts", "measure/loadgen/client_agent")
# BatchMode: fail instead of prompting for a password. ServerAlive: notice within 15 s that the host is gone.
SSH = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
# The request is one line. Standard input stays open afterwards: its end signals that this process has ended.
BOOT = """
import json, os, pathlib, sys, tempfile
wanted = json.loads(sys.stdin.buffer.readline())
with tempfile.TemporaryDirectory(prefix="pgobench-") as folder:
    for name, text in wanted.pop("files").items():
        file = pathlib.Path(folder, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    os.chdir(folder)
    sys.path.insert(0, folder)
    from scripts.measure.loadgen import client_agent
    client_agent.main(wanted)
"""


def client_name(client: Mapping[str, Any]) -> str:
    """Return the name of a study's `client` for messages: its ssh destination, or its command."""
    return client["ssh"] if "ssh" in client else shlex.join(client["command"])


def agent_command(client: Mapping[str, Any]) -> list[str]:
    """Return the command that runs the agent on the client host."""
    agent = ["python3", "-c", BOOT]
    # ssh passes its arguments to a remote shell, as one line.
    return [*SSH, client["ssh"], shlex.join(agent)] if "ssh" in client else [*client["command"], *agent]


def wire_line(wanted: Mapping[str, Any], files: Mapping[str, str] | None = None) -> bytes:
    """Return the line that the agent reads first: the request, the agent's own code, and further files by name."""
    code = {f"scripts/{part}.py": (PACKAGE / f"{part}.py").read_text(encoding="utf-8") for part in AGENT}
    return json.dumps({**wanted, "files": {**code, **(files or {})}}).encode() + b"\n"


DEFAULT_PORT = 13306
ANSWER_S = 60
CLIENT_FILE = "client.json"
USED = ("user_s", "system_s", "host_busy_s", "host_steal_s")


@dataclass(frozen=True)
class ClientHost:
    """A client host that answered.

    `client` is the study's entry, `address` and `port` are where the server listens for this host, `cpus` are the CPUs
    that sysbench may use there, `generator` is its sysbench, and `description` holds the facts that the agent returned.
    """

    client: dict[str, Any]
    address: str
    port: int
    cpus: tuple[int, ...]
    generator: sysbench.Capabilities
    description: dict[str, Any]


def client_host_of(load: Mapping[str, Any]) -> ClientHost | None:
    """Return the client host of a run, described by its agent; None when the load generator runs on this host.

    Raises ValueError naming the host when it does not answer or has no sysbench, and ValueError naming the address when
    the server could not listen on it.
    """
    if (client := load.get("client")) is None:
        return None
    name = client_name(client)
    description = read_description(client)
    if description["path"] is None:
        raise ValueError(f"client host {name}: command sysbench not found there; install the package that has it")
    texts = (description["version"], description["help"], description["header"])
    generator = sysbench.capabilities_from(*texts, path=description["path"], sha256=description["sha256"])
    address, port = client.get("address") or description["reached_from"], client.get("port", DEFAULT_PORT)
    demand_address(address, port)
    cpus = _cpus(load["placement"], description["cpus"], name)
    return ClientHost(client, address, port, cpus, generator, description)


def login_environment() -> dict[str, str]:
    """Return the environment of the command that reaches the client host: the user's, which holds the login."""
    return dict(os.environ)


def read_description(client: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of the client host that its agent writes.

    Raises ValueError naming the host and the last line of its standard error.
    """
    command, name = agent_command(client), client_name(client)
    expected = "expected a host with python3 (3.8 or newer) and sysbench, and a login without a password"
    try:
        done = subprocess.run(
            command,
            env=login_environment(),
            input=wire_line({"do": "describe"}),
            capture_output=True,
            check=False,
            timeout=ANSWER_S,
        )
        # The remote shell may have printed a greeting first.
        return json.loads((done.stdout.splitlines() or [b""])[-1])
    except ValueError as error:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        raise ValueError(f"client host {name}: {lines[-1]}; {expected}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError(f"client host {name}: {error}; {expected}") from error


def demand_address(address: str, port: int) -> None:
    """Raise ValueError naming address and port unless a server can listen on them on this host."""
    try:
        family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError as error:
        expected = "an address of this host that the client host reaches, and a port that is free"
        raise ValueError(f"client: address {address!r}, port {port}: {error.strerror}; expected {expected}") from error


def _cpus(wanted: Any, available: Sequence[int], name: str) -> tuple[int, ...]:
    if not isinstance(wanted, Mapping):
        return tuple(available)
    cpus = parse_cpus("placement.client", wanted["client"])
    if missing := set(cpus) - set(available):
        raise ValueError(
            f"placement.client: client host {name} has no CPU {format_cpus(missing)}, "
            f"expected some of {format_cpus(available)}"
        )
    return cpus


def place_on_hosts(topology: Topology, load: Mapping[str, Any]) -> host_cpus.Placement:
    """Return the CPUs of server and load generator on this host; with a client host, the server gets all of them.

    `load` has `placement`, and `client` if there is one. Raises ValueError as `cpus.place_processes` does.
    """
    if load.get("client") is None:
        return host_cpus.place_processes(topology, load["placement"])
    return host_cpus.server_alone(topology, load["placement"], client_name(load["client"]))


def placement_of_study(config: Mapping[str, Any]) -> host_cpus.Placement:
    """Return the CPUs of this host for a study's server and load generator, without contacting the client host."""
    return place_on_hosts(read_topology(), config)


def generator_of_commands(remote: ClientHost | None, local: sysbench.Capabilities) -> sysbench.Capabilities:
    """Return the sysbench for which commands are composed.

    It is the one that runs them, with the path of the local one, which `client_proxy` replaces.
    """
    return local if remote is None else dataclasses.replace(remote.generator, path=local.path)


def network_options_of(remote: ClientHost | None, family: Family) -> dict[str, Any]:
    """Return the server options that the client host needs; empty without one."""
    return {} if remote is None else family.network_options(remote.address, remote.port)


def admit(remote: ClientHost | None, server: Server, connection: Any) -> None:
    """Create the account of the client host on the server, and write the file that `client_proxy` reads.

    The password is new and random. It is in that file only (mode 600), in no command line and no log.
    """
    if remote is None:
        return
    password = new_password()
    server.family.admit_client(connection, password)
    (server.sockets / "samples").mkdir()
    settings = {
        **{"client": remote.client, "program": remote.generator.path, "cpus": remote.cpus},
        **{"address": remote.address, "port": remote.port},
        "secrets": f"{server.family.PASSWORD_OPTION}={password}\n",
    }
    file = server.sockets / CLIENT_FILE
    file.touch(mode=0o600)
    file.write_text(json.dumps(settings), encoding="utf-8")


def new_password() -> str:
    """Return a new random password."""
    return secrets.token_urlsafe(24)


def client_flags(remote: ClientHost | None, server: Server) -> list[str]:
    """Return sysbench's connection options: the local socket, or address and port for the client host."""
    if remote is None:
        return server.family.sysbench_flags(server.sockets)
    return server.family.network_sysbench_flags(remote.address, remote.port)


def call_there(remote: ClientHost | None, server: Server, call: sysbench.SysbenchCall) -> sysbench.SysbenchCall:
    """Return the call itself, or with `client_proxy` before it, which runs it on the client host."""
    if remote is None:
        return call
    return call.started_by(
        [sys.executable, "-m", "scripts.measure.loadgen.client_proxy", str(server.sockets / CLIENT_FILE)]
    )


def used_on_client(
    remote: ClientHost | None, server: Server, samples: Sequence[tuple[Any, usage.Sample]]
) -> dict[str, Any]:
    """Return the part `client_host` of a run's facts: the host, and its CPU seconds and network rates in the window.

    `samples` are the (moment, sample) pairs at the two edges of the window. Each host counts its own network traffic.
    Empty without a client host. Raises KeyError when the client host sent no sample for one of the edges.
    """
    if remote is None:
        return {}
    (first, before), (last, after) = samples
    edges = [_sample(server, moment) for moment in (first, last)]
    seconds = edges[1]["monotonic_s"] - edges[0]["monotonic_s"]
    return {
        "client_host": {
            "reached_by": {key: remote.client[key] for key in ("ssh", "command") if key in remote.client},
            **{"address": remote.address, "port": remote.port, "cpus": remote.cpus},
            "host": remote.description["host"],
            "python": remote.description["python"],
            "sysbench_path": remote.generator.path,
            "cpu": {"duration_s": seconds, **{kind: edges[1][kind] - edges[0][kind] for kind in USED}},
            "network": {
                "server": machine_facts.traffic_rates(
                    before.network, after.network, after.monotonic_s - before.monotonic_s
                ),
                "client": machine_facts.traffic_rates(edges[0]["network"], edges[1]["network"], seconds),
            },
        }
    }


def _sample(server: Server, moment: Any) -> dict[str, Any]:
    file: Path = server.sockets / "samples" / f"{moment.programs[0]}.jsonl"
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line["number"]: line for line in lines}[moment.number]
