"""The load generator on another host: what that host is, how it is let in, and what it used."""

import dataclasses
import json
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
from scripts.host import cpus as host_cpus
from scripts.host import facts, usage
from scripts.host.cpus import Topology, format_cpus, parse_cpus, read_topology
from scripts.loadgen import sysbench
from scripts.servers.families import Family
from scripts.servers.server import Server

AGENT = ("__init__", "host/__init__", "host/facts", "loadgen/__init__", "loadgen/client_agent")
# Nobody is there to be asked for a password, and a host that is gone should be noticed.
SSH = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
# What it needs comes as one line, so that its standard input stays open as a sign that we are there.
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
    from scripts.loadgen import client_agent
    client_agent.main(wanted)
"""


def client_name(client: Mapping[str, Any]) -> str:
    """Return what a study's `client` is called in texts."""
    return client["ssh"] if "ssh" in client else shlex.join(client["command"])


def agent_command(client: Mapping[str, Any]) -> list[str]:
    """Return the command that runs our agent on the client host."""
    agent = ["python3", "-c", BOOT]
    # ssh gives its words to a shell over there, as one line.
    return [*SSH, client["ssh"], shlex.join(agent)] if "ssh" in client else [*client["command"], *agent]


def wire_line(wanted: Mapping[str, Any], files: Mapping[str, str] | None = None) -> bytes:
    """Return what the agent reads first: what is wanted of it, its own code, and further files by name."""
    code = {f"scripts/{part}.py": (PACKAGE / f"{part}.py").read_text(encoding="utf-8") for part in AGENT}
    return json.dumps({**wanted, "files": {**code, **(files or {})}}).encode() + b"\n"


DEFAULT_PORT = 13306
ANSWER_S = 60
CLIENT_FILE = "client.json"
USED = ("user_s", "system_s", "host_busy_s", "host_steal_s")


@dataclass(frozen=True)
class ClientHost:
    """A client host that answered: the study's `client`, our address as it sees us, and what it says of itself.

    `generator` is its sysbench, `cpus` those sysbench may use there.
    """

    client: dict[str, Any]
    address: str
    port: int
    cpus: tuple[int, ...]
    generator: sysbench.Capabilities
    said: dict[str, Any]


def client_host_of(load: Mapping[str, Any]) -> ClientHost | None:
    """Ask the client host of a run what it is; None when the load generator runs here.

    Raises ValueError naming the host when it gives no answer, has no sysbench, or the server could not listen for it.
    """
    if (client := load.get("client")) is None:
        return None
    name = client_name(client)
    said = ask(client)
    if said["path"] is None:
        raise ValueError(f"client host {name}: command sysbench not found there; install the package that has it")
    texts = (said["version"], said["help"], said["header"])
    generator = sysbench.capabilities_from(*texts, path=said["path"], sha256=said["sha256"])
    address, port = client.get("address") or said["reached_from"], client.get("port", DEFAULT_PORT)
    demand_address(address, port)
    return ClientHost(client, address, port, _cpus(load["placement"], said["cpus"], name), generator, said)


def ask(client: Mapping[str, Any]) -> dict[str, Any]:
    """Return what our agent says of the client host. Raises ValueError naming the host, with the last line it said."""
    command, name = agent_command(client), client_name(client)
    expected = "expected one that lets us in without asking, with python3 (3.8 or newer) and sysbench"
    try:
        done = subprocess.run(
            command, input=wire_line({"do": "describe"}), capture_output=True, check=False, timeout=ANSWER_S
        )
        # A shell over there may have said something before.
        return json.loads((done.stdout.splitlines() or [b""])[-1])
    except ValueError as error:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        raise ValueError(f"client host {name}: {said[-1]}; {expected}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError(f"client host {name}: {error}; {expected}") from error


def demand_address(address: str, port: int) -> None:
    """Refuse an address and port that no server can listen on here. Raises ValueError naming them."""
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
    """Return which CPUs server and load generator get here; with a client host the server gets all of them.

    `load` has `placement`, and `client` if there is one. Raises ValueError as `placement.place` does.
    """
    if load.get("client") is None:
        return host_cpus.place_processes(topology, load["placement"])
    return host_cpus.server_alone(topology, load["placement"], client_name(load["client"]))


def here(config: Mapping[str, Any]) -> host_cpus.Placement:
    """Return which CPUs of this machine a study's server and load generator get; the client host is not asked."""
    return place_on_hosts(read_topology(), config)


def address_for(there: ClientHost | None, here: sysbench.Capabilities) -> sysbench.Capabilities:
    """Return the sysbench that commands are composed for: the one that runs them, under the path of the one here."""
    return here if there is None else dataclasses.replace(there.generator, path=here.path)


def network_options_of(there: ClientHost | None, family: Family) -> dict[str, Any]:
    """Return the server options that the client host needs."""
    return {} if there is None else family.network_options(there.address, there.port)


def admit(there: ClientHost | None, server: Server, connection: Any) -> None:
    """Make an account for the client host, with a password nobody is told but it: it is in no command and no log."""
    if there is None:
        return
    password = new_password()
    server.family.admit_client(connection, password)
    (server.sockets / "samples").mkdir()
    told = {"client": there.client, "program": there.generator.path, "cpus": there.cpus}
    told |= {"address": there.address, "port": there.port}
    told |= {"secrets": f"{server.family.PASSWORD_OPTION}={password}\n"}
    file = server.sockets / CLIENT_FILE
    file.touch(mode=0o600)
    file.write_text(json.dumps(told), encoding="utf-8")


def new_password() -> str:
    """Return a password that was never used."""
    return secrets.token_urlsafe(24)


def client_flags(there: ClientHost | None, server: Server) -> list[str]:
    """Return sysbench's connection options."""
    if there is None:
        return server.family.sysbench_flags(server.sockets)
    return server.family.network_sysbench_flags(there.address, there.port)


def client_command(there: ClientHost | None, server: Server, argv: list[str]) -> list[str]:
    """Return the command that runs a command line of sysbench's where it belongs."""
    return (
        argv
        if there is None
        else [sys.executable, "-m", "scripts.loadgen.client_proxy", str(server.sockets / CLIENT_FILE), *argv]
    )


def used_on_client(
    there: ClientHost | None, server: Server, samples: Sequence[tuple[Any, usage.Sample]]
) -> dict[str, Any]:
    """Return the part `client_host` of a run's facts: the host, what it used in the window, and the network.

    `samples` are those of the window's edges. Each side's network is as that side counts it. Raises KeyError when the
    client host has told nothing at one of them.
    """
    if there is None:
        return {}
    (first, before), (last, after) = samples
    edges = [_sample(server, moment) for moment in (first, last)]
    seconds = edges[1]["monotonic_s"] - edges[0]["monotonic_s"]
    return {
        "client_host": {
            "reached_by": {key: there.client[key] for key in ("ssh", "command") if key in there.client},
            **{"address": there.address, "port": there.port, "cpus": there.cpus},
            "host": there.said["host"],
            "python": there.said["python"],
            "sysbench_path": there.generator.path,
            "cpu": {"duration_s": seconds, **{kind: edges[1][kind] - edges[0][kind] for kind in USED}},
            "network": {
                "server": facts.traffic_rates(before.network, after.network, after.monotonic_s - before.monotonic_s),
                "client": facts.traffic_rates(edges[0]["network"], edges[1]["network"], seconds),
            },
        }
    }


def _sample(server: Server, moment: Any) -> dict[str, Any]:
    file: Path = server.sockets / "samples" / f"{moment.pids[0]}.jsonl"
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line["number"]: line for line in lines}[moment.number]
