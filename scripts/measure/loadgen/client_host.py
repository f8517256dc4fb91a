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
from dataclasses import dataclass, field

from scripts import PACKAGE
from scripts.lib.host import cpus as host_cpus
from scripts.lib.host import machine_facts, usage
from scripts.lib.host.cpus import Topology, format_cpus, parse_cpus, read_topology
from scripts.lib.json_record import Json, dump
from scripts.lib.parts import Part
from scripts.measure.loadgen import sysbench
from scripts.measure.loadgen.run_sysbench import Moment
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.server import Server

DEFAULT_PORT = 13306
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


@dataclass(frozen=True, slots=True)
class ClientEntry(Part):
    """The `client` of a study: how its host is reached, by ssh or a command, and where the server listens for it.

    `address` is None for the one that the host's login comes from.
    """

    ssh: str | None = None
    command: list[str] = field(default_factory=list)
    address: str | None = None
    port: int = DEFAULT_PORT

    @property
    def name(self) -> str:
        """Its ssh destination, or its command, for messages."""
        return self.ssh or shlex.join(self.command)

    @property
    def reached_by(self) -> dict[str, Json]:
        """What the record of a run has of it."""
        return {"ssh": self.ssh} if self.ssh else {"command": list(self.command)}

    def agent_command(self) -> list[str]:
        """Return the command that runs the agent on the client host."""
        agent = ["python3", "-c", BOOT]
        # ssh passes its arguments to a remote shell, as one line.
        return [*SSH, self.ssh, shlex.join(agent)] if self.ssh else [*self.command, *agent]


def wire_line(request: Mapping[str, Json], files: Mapping[str, str] | None = None) -> bytes:
    """Return the line that the agent reads first: the request, the agent's own code, and further files by name."""
    code = {f"scripts/{part}.py": (PACKAGE / f"{part}.py").read_text(encoding="utf-8") for part in AGENT}
    return json.dumps({**request, "files": {**code, **(files or {})}}).encode() + b"\n"


ANSWER_S = 60
CLIENT_FILE = "client.json"
USED = ("user_s", "system_s", "host_busy_s", "host_steal_s")


@dataclass(frozen=True, slots=True)
class HostDescription(Part):
    """What the agent tells of its host: its facts, its CPUs, and its sysbench, None without one."""

    host: dict[str, Json] = field(default_factory=dict)
    cpus: list[int] = field(default_factory=list)
    python: str | None = None
    reached_from: str = ""
    path: str | None = None
    sha256: str = ""
    version: str = ""
    help: str = ""
    header: str = ""


@dataclass(frozen=True)
class ClientHost:
    """A client host that answered.

    `address` and `port` are where the server listens for this host, `cpus` are the CPUs that sysbench may use there,
    `generator` is its sysbench.
    """

    entry: ClientEntry
    address: str
    port: int
    cpus: tuple[int, ...]
    generator: sysbench.Capabilities
    description: HostDescription


WrittenClient = Json | Mapping[str, Json]


def entry_of(client: WrittenClient) -> ClientEntry | None:
    """Return the client host that a study, or the recipe of a load, names. Raises ValueError for anything but keys."""
    if client is None or isinstance(client, Mapping):
        return None if client is None else ClientEntry.of(client)
    raise ValueError(f"client: {client!r}, expected ssh or command, and address and port where they matter")


def client_host_of(client: WrittenClient, placement: Json) -> ClientHost | None:
    """Return the client host of a study, described by its agent; None when the load generator runs on this host.

    Raises ValueError naming the host when it does not answer or has no sysbench, and ValueError naming the address when
    the server could not listen on it.
    """
    if (entry := entry_of(client)) is None:
        return None
    described = read_description(entry)
    if described.path is None:
        raise ValueError(f"client host {entry.name}: command sysbench not found there; install the package that has it")
    texts = (described.version, described.help, described.header)
    generator = sysbench.capabilities_from(*texts, path=described.path, sha256=described.sha256)
    address = entry.address or described.reached_from
    demand_address(address, entry.port)
    cpus = _cpus(placement, described.cpus, entry.name)
    return ClientHost(entry, address, entry.port, cpus, generator, described)


def login_environment() -> dict[str, str]:
    """Return the environment of the command that reaches the client host: the user's, which holds the login."""
    return dict(os.environ)


def read_description(entry: ClientEntry) -> HostDescription:
    """Return the facts of the client host that its agent writes.

    Raises ValueError naming the host and the last line of its standard error.
    """
    expected = "expected a host with python3 (3.8 or newer) and sysbench, and a login without a password"
    try:
        done = subprocess.run(
            entry.agent_command(),
            env=login_environment(),
            input=wire_line({"do": "describe"}),
            capture_output=True,
            check=False,
            timeout=ANSWER_S,
        )
        # The remote shell may have printed a greeting first.
        return HostDescription.of(json.loads((done.stdout.splitlines() or [b""])[-1]))
    except ValueError as error:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        raise ValueError(f"client host {entry.name}: {lines[-1]}; {expected}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError(f"client host {entry.name}: {error}; {expected}") from error


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


def _cpus(placement: Json, available: Sequence[int], name: str) -> tuple[int, ...]:
    if not isinstance(placement, dict):
        return tuple(available)
    cpus = parse_cpus("placement.client", placement["client"])
    if missing := set(cpus) - set(available):
        raise ValueError(
            f"placement.client: client host {name} has no CPU {format_cpus(missing)}, "
            f"expected some of {format_cpus(available)}"
        )
    return cpus


def place_on_hosts(topology: Topology, placement: Json, client: WrittenClient) -> host_cpus.Placement:
    """Return the CPUs of server and load generator on this host; with a client host, the server gets all of them.

    Raises ValueError as `cpus.place_processes` does.
    """
    if not isinstance(placement, str | dict):
        raise ValueError(f"placement: {placement!r}, expected automatic, or the CPUs of server and client")
    if entry := entry_of(client):
        return host_cpus.server_alone(topology, placement, entry.name)
    return host_cpus.place_processes(topology, placement)


def placement_of_study(hosts: Mapping[str, Json]) -> host_cpus.Placement:
    """Return the CPUs of this host for a study's server and load generator, without contacting the client host."""
    return place_on_hosts(read_topology(), hosts["placement"], hosts["client"])


def generator_of_commands(remote: ClientHost | None, local: sysbench.Capabilities) -> sysbench.Capabilities:
    """Return the sysbench for which commands are composed.

    It is the one that runs them, with the path of the local one, which `client_proxy` replaces.
    """
    return local if remote is None else dataclasses.replace(remote.generator, path=local.path)


@dataclass(frozen=True, slots=True)
class ProxySettings(Part):
    """What `client_proxy` needs to know: how the client host is reached, what runs there, and where the server is.

    `secrets` is the content of sysbench's --config-file.
    """

    client: dict[str, Json] = field(default_factory=dict)
    program: str = "sysbench"
    cpus: list[int] = field(default_factory=list)
    address: str = ""
    port: int = DEFAULT_PORT
    secrets: str = ""


def admit(remote: ClientHost | None, server: Server, connection: Connection) -> None:
    """Create the account of the client host on the server, and write the file that `client_proxy` reads.

    The password is new and random. It is in that file only (mode 600), in no command line and no log.
    """
    if remote is None:
        return
    password = new_password()
    server.family.admit_client(connection, password)
    (server.sockets / "samples").mkdir()
    login = f"{server.family.PASSWORD_OPTION}={password}\n"
    generator, cpus = remote.generator.path, list(remote.cpus)
    settings = ProxySettings(remote.entry.reached_by, generator, cpus, remote.address, remote.port, login)
    file = server.sockets / CLIENT_FILE
    file.touch(mode=0o600)
    file.write_text(json.dumps(dump(settings)), encoding="utf-8")


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


@dataclass(frozen=True, slots=True)
class ClientSample(Part):
    """What the agent had counted at a per-second report since its start, in seconds, and its network's counters."""

    number: int = 0
    monotonic_s: float = 0.0
    user_s: float = 0.0
    system_s: float = 0.0
    host_busy_s: float = 0.0
    host_steal_s: float = 0.0
    network: dict[str, dict[str, int]] = field(default_factory=dict)


def used_on_client(
    remote: ClientHost | None, server: Server, samples: Sequence[tuple[Moment, usage.Sample]]
) -> dict[str, Json]:
    """Return the part `client_host` of a run's facts: the host, and its CPU seconds and network rates in the window.

    `samples` are the (moment, sample) pairs at the two edges of the window. Each host counts its own network traffic.
    Empty without a client host. Raises KeyError when the client host sent no sample for one of the edges.
    """
    if remote is None:
        return {}
    (first, before), (last, after) = samples
    begin, end = (_sample(server, moment) for moment in (first, last))
    seconds = end.monotonic_s - begin.monotonic_s
    own_s = after.monotonic_s - before.monotonic_s
    cpu: dict[str, Json] = {name: getattr(end, name) - getattr(begin, name) for name in USED}
    network = {
        "server": machine_facts.traffic_rates(before.network, after.network, own_s),
        "client": machine_facts.traffic_rates(begin.network, end.network, seconds),
    }
    return {
        "reached_by": remote.entry.reached_by,
        **{"address": remote.address, "port": remote.port, "cpus": list(remote.cpus)},
        "host": remote.description.host,
        "python": remote.description.python,
        "sysbench_path": remote.generator.path,
        "cpu": {"duration_s": seconds, **cpu},
        "network": {name: None if rates is None else dict(rates) for name, rates in network.items()},
    }


def _sample(server: Server, moment: Moment) -> ClientSample:
    file = server.sockets / "samples" / f"{moment.programs[0]}.jsonl"
    lines = [ClientSample.of(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    return {sample.number: sample for sample in lines}[moment.number]
