"""The load generator elsewhere: how it is started there, what comes back, and that its password stays where it is."""

import contextlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from scripts.lib.host import cpus, machine_facts, outcome
from scripts.lib.host.cpus import Cpu, Topology
from scripts.lib.host.machine_facts import read_host
from scripts.lib.resolved_study import ResolvedStudy
from scripts.measure.engine import run_load as load
from scripts.measure.engine.warnings import warnings_of
from scripts.measure.loadgen import client_host
from scripts.measure.loadgen.client_host import ClientEntry
from scripts.measure.loadgen.run_sysbench import ClientHostFailed, reject_failed
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import families
from scripts.measure.servers.families.innodb import password_hash
from scripts.measure.servers.families.postgresql import password_verifier
from scripts.report.analysis.run_tables import collect
from scripts.report.page import machine_section
from tests.conftest import CHECKOUT
from tests.made import synthetic
from tests.made.run import record_of, records_of
from tests.workflow.running import environment

HERE = {"command": ["env"], "address": "127.0.0.1"}
SECRET = "mysql-password=not_to_be_seen\n"
# A load generator of three lines, which tells what it was given.
STAND_IN = """#!/bin/sh
echo "given: $*"
echo "secrets: $(cat | tr a-z A-Z)"
ls -- *.lua 2>/dev/null
for second in 1 2 3; do
    echo "[ ${second}s ] thds: 1 tps: 10.00 qps: 10.00 (r/w/o: 10.00/0.00/0.00) lat (ms,95%): 1.00"
    sleep ${PACE:-0}
done
exit ${STATUS:-0}
"""


@pytest.fixture
def port():
    """A port that something listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def told(tmp_path, port):
    """What the proxy is told of a client host that is this one, with a stand-in for sysbench."""
    program = tmp_path / "stand_in"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    (tmp_path / "samples").mkdir()
    facts = {"client": HERE, "program": str(program), "cpus": [min(os.sched_getaffinity(0))], "secrets": SECRET}
    file = tmp_path / "client.json"
    file.write_text(json.dumps({**facts, "address": "127.0.0.1", "port": port}))
    return file


def proxy(told, *arguments, **variables):
    """Start the proxy as a run does, with further variables in its environment."""
    command = [sys.executable, "-m", "scripts.measure.loadgen.client_proxy", told, "/usr/bin/sysbench", *arguments]
    return subprocess.Popen(
        command, cwd=CHECKOUT, env={**environment(), **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def altered(told, **facts):
    told.write_text(json.dumps({**json.loads(told.read_text()), **facts}))
    return told


def test_ssh_is_given_one_line_that_a_shell_reads_as_the_command():
    command = ClientEntry(ssh="bench@loadgen").agent_command()
    assert (command[0], command[-2]) == ("ssh", "bench@loadgen")
    assert "BatchMode=yes" in command
    assert shlex.split(command[-1]) == ["python3", "-c", client_host.BOOT]
    assert ClientEntry(command=("ip", "netns", "exec", "x")).agent_command()[:5] == [
        "ip",
        "netns",
        "exec",
        "x",
        "python3",
    ]


def test_client_host_tells_what_it_is():
    said = client_host.read_description(ClientEntry.of(HERE))
    assert said.host == vars(read_host())
    assert said.cpus == sorted(os.sched_getaffinity(0))
    assert said.version.startswith("sysbench 1.")


def test_greeting_of_a_shell_over_there_does_no_harm():
    said = client_host.read_description(
        ClientEntry(command=("sh", "-c", 'echo "Welcome!"; exec "$@"', "sh"), address="10.0.0.1")
    )
    assert said.host == vars(read_host())


def test_client_host_is_known_by_its_sysbench_address_and_cpus(port):
    there = client_host.client_host_of({**HERE, "port": port + 1 if port < 65535 else port - 1}, "automatic")
    assert (there.address, there.cpus) == ("127.0.0.1", tuple(sorted(os.sched_getaffinity(0))))
    assert there.generator.drivers
    assert client_host.client_host_of(None, "automatic") is None


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["sh", "-c", "echo Permission denied >&2; exit 255"], "Permission denied; expected a host with python3"),
        (["false"], "status 1; expected a host with python3"),
        (["/nowhere/ssh"], "No such file or directory: '/nowhere/ssh'; expected a host"),
    ],
)
def test_client_host_that_does_not_answer_is_named_with_its_last_words(command, why):
    with pytest.raises(ValueError, match=f"client host {command[0]}.*: .*{why}"):
        client_host.read_description(ClientEntry(command=tuple(command), address="10.0.0.1"))


@pytest.mark.parametrize(
    ("address", "why"), [("192.0.2.1", "Cannot assign requested address"), ("127.0.0.1", "in use")]
)
def test_address_or_port_that_no_server_can_have_is_refused(address, why, port):
    with pytest.raises(
        ValueError, match=f"client: address '{address}', port {port}: .*{why}; expected an address of this"
    ):
        client_host.demand_address(address, port)


def test_cpu_the_client_host_lacks_is_refused():
    with pytest.raises(ValueError, match=r"placement.client: client host x has no CPU 7, expected some of 0-3"):
        client_host._cpus({"server": "0", "client": "2,7"}, [0, 1, 2, 3], "x")


def test_sysbench_runs_there_with_its_secrets_on_standard_input(told):
    with proxy(told, "oltp_read_only", "--threads=1", "run") as process:
        text = process.stdout.read().decode()
    assert process.returncode == 0, text
    assert "given: --config-file=/dev/stdin oltp_read_only --threads=1 run\n" in text
    assert "secrets: MYSQL-PASSWORD=NOT_TO_BE_SEEN\n" in text
    assert SECRET.strip() not in text
    samples = [json.loads(line) for line in (told.parent / "samples" / f"{process.pid}.jsonl").read_text().splitlines()]
    assert [sample["number"] for sample in samples] == [1, 2, 3]
    assert {"user_s", "system_s", "host_busy_s", "host_steal_s", "network", "monotonic_s"} <= samples[0].keys()


def test_lua_file_goes_there_with_its_neighbours(told, tmp_path):
    for name in ("load.lua", "common.lua"):
        (tmp_path / name).write_text(f"-- {name}")
    with proxy(told, str(tmp_path / "load.lua"), "run") as process:
        lines = process.stdout.read().decode().splitlines()
    assert "given: --config-file=/dev/stdin ./load.lua run" in lines
    assert {"load.lua", "common.lua"} <= set(lines)


def test_status_of_sysbench_there_is_that_of_the_command_here(told):
    with proxy(told, "x", "run", STATUS="3") as process:
        process.stdout.read()
    assert process.returncode == 3


def named(word, processes):
    """Yield the processes with this word in their command line; others may be gone before they are asked."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if word in " ".join(process.cmdline()):
                yield process


def works(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_killed_proxy_takes_the_load_generator_along(told):
    process = proxy(told, "x", "run", PACE="30")
    assert next(line for line in process.stdout if line.startswith(b"[ 1s ]"))
    stand_in, *_ = named("stand_in", psutil.Process(process.pid).children(recursive=True))
    process.kill()
    process.wait()
    deadline_s = time.monotonic() + 10
    while works(stand_in):
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    process.stdout.close()


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (
            {"client": {"command": ["false"], "address": "x"}},
            "client host false: the connection ended before sysbench did",
        ),
        ({"port": 1}, "client host env: cannot reach the server at 127.0.0.1:1 ("),
    ],
)
def test_client_host_out_of_reach_is_no_result_of_the_server(told, facts, why):
    with proxy(altered(told, **facts), "x", "run") as process:
        text = process.stdout.read().decode()
    assert why in text
    with pytest.raises(ClientHostFailed, match=re.escape(why)) as raised:
        reject_failed(process.returncode, text, None)
    assert outcome.of_host(raised.value)


def test_password_is_in_no_argument_and_its_file_is_ours_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(client_host, "new_password", lambda: "not_to_be_seen")
    asked, there = (
        [],
        SimpleNamespace(
            entry=ClientEntry.of(HERE), cpus=(0,), address="10.0.0.1", port=1, generator=SimpleNamespace(path="s")
        ),
    )
    family = SimpleNamespace(
        admit_client=lambda connection, password: asked.append(password),
        PASSWORD_OPTION="mysql-password",
        network_sysbench_flags=families.of("mysql").network_sysbench_flags,
    )
    server = SimpleNamespace(sockets=tmp_path, family=family)
    client_host.admit(there, server, None)
    flags = tuple(client_host.client_flags(there, server))
    argv = client_host.call_there(there, server, SysbenchCall(("sysbench",), "cpu", flags, clients=1, seconds=1)).argv
    file = tmp_path / "client.json"
    assert asked == ["not_to_be_seen"]
    assert argv[3] == str(file)
    assert "not_to_be_seen" not in " ".join(argv)
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text())["secrets"] == SECRET


def test_passwords_are_long_and_never_the_same():
    made = {client_host.new_password() for _ in range(50)}
    assert len(made) == 50
    assert min(map(len, made)) >= 32


def test_hashes_are_those_the_servers_keep():
    # Of the manual's page on native authentication; of a role that PostgreSQL 15 made with password `secret`.
    assert password_hash("password") == "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19"
    text = password_verifier("secret")
    assert "secret" not in text
    assert text.startswith("SCRAM-SHA-256$4096:")
    assert password_verifier("secret") != text


DEV = """Inter-| Receive | Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
    lo: 9000 90 0 0 0 0 0 0 9000 90 0 0 0 0 0 0
  eth0: {} {} 0 2 0 0 0 0 {} {} 0 1 0 0 0 0
wlan0:7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0
"""


def test_traffic_is_that_of_the_busiest_interface_and_never_the_loopback(tmp_path):
    edges = []
    for numbers in ((1000, 10, 500, 5), (21000, 110, 8500, 55)):
        (tmp_path / "proc/self/net").mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc/self/net/dev").write_text(DEV.format(*numbers))
        edges.append(machine_facts.traffic_counters(tmp_path))
    assert edges[0]["wlan0"] == {
        **dict.fromkeys(machine_facts.TRAFFIC_FIELDS, 0),
        "rx_bytes": 7,
        "rx_packets": 1,
        "tx_bytes": 7,
        "tx_packets": 1,
    }
    assert machine_facts.traffic_rates(*edges, seconds=10) == {
        "interface": "eth0", "rx_bytes_per_s": 2000, "rx_packets_per_s": 10, "rx_dropped_per_s": 0,
        "tx_bytes_per_s": 800, "tx_packets_per_s": 5, "tx_dropped_per_s": 0,
    }  # fmt: skip
    assert machine_facts.traffic_rates({}, {}, 10) is None


FOUR = Topology(tuple(Cpu(0, 0, number, number) for number in range(4)))


def test_server_has_the_machine_for_itself_when_the_load_generator_is_elsewhere():
    client = {"ssh": "loadgen"}
    found = client_host.place_on_hosts(FOUR, "automatic", client)
    assert (found.mode, found.server_cpus) == ("remote", (0, 1, 2, 3))
    assert found.note.endswith("for the server, the load generator is on loadgen")
    stated = client_host.place_on_hosts(FOUR, {"server": "1-2", "client": "0-9"}, client)
    assert (stated.mode, stated.server_cpus) == ("remote", (1, 2))
    assert client_host.place_on_hosts(FOUR, "automatic", None) == cpus.place_processes(FOUR)


def elsewhere(facts):
    """Return a run as if its load generator had been on a host with four CPUs, two of them used by it."""
    network = {f"{way}_{kind}_per_s": 1000.0 for way in ("rx", "tx") for kind in ("bytes", "packets", "dropped")}
    cpu = {"duration_s": 5.0, "user_s": 9.0, "system_s": 0.9, "host_busy_s": 11.0, "host_steal_s": 0.0}
    there = {
        "reached_by": {"ssh": "<b>loadgen</b>"}, "address": "10.0.0.1", "port": 13306, "cpus": [0, 1], "cpu": cpu,
        "host": {**facts["host"], "hostname": "loadgen", "cpus": 4, "boot_id": "boot-there"},
        "network": {"server": {"interface": "eth0", **network}, "client": {"interface": "eth1", **network}},
    }  # fmt: skip
    return {**facts, "client_host": there}


def test_load_generators_cpu_time_is_that_of_its_own_host():
    (facts, *_) = synthetic.runs(synthetic.Plan())
    run, away = record_of(facts), record_of(elsewhere(facts))
    assert run.generator_cpu_s == pytest.approx(run.cpu.client_user_s + run.cpu.client_system_s)
    assert (run.generator_boot_id, away.generator_boot_id) == ("boot-1", "boot-there")
    assert away.generator_cpu_s == 9.9
    assert (away.n_server_cpus, away.n_client_cpus, away.n_shared_cpus) == (1, 2, 0)
    assert "sysbench used 99% of its 2 CPUs" in " ".join(warning.text for warning in warnings_of(away))


def test_page_sets_both_hosts_side_by_side_with_what_went_between_them():
    plan = synthetic.Plan(workloads=("oltp",), repetitions=2)
    study, records = (
        synthetic.study(plan),
        records_of(map(elsewhere, synthetic.runs(plan))),
    )
    runs, _ = collect(ResolvedStudy.of(study), records)
    _, sides, network = machine_section.client_section(ResolvedStudy.of(study), runs, records).blocks
    hosts = {row.cells[0].text: tuple(cell.text for cell in row.cells[1:]) for row in sides.rows}
    assert (hosts["name"], hosts["CPUs"]) == (("bench", "loadgen"), ("2", "4"))
    assert hosts["busiest interface"] == ("eth0", "eth1")
    assert (hosts["listens on"][0], hosts["reached by"][1]) == ("10.0.0.1 port 13306", "ssh <b>loadgen</b>")
    assert [tuple(cell.text for cell in row.cells) for row in network.rows] == [
        (name, "oltp", "8", "1\u202f000", "0.008", "1\u202f000", "0.008", "1\u202f000", "1\u202f000")
        for name in ("baseline", "pgo")
    ]


def test_page_of_a_study_on_one_host_has_no_such_section():
    plan = synthetic.Plan(workloads=("oltp",), repetitions=2)
    records = records_of(synthetic.runs(plan))
    runs, _ = collect(ResolvedStudy.of(synthetic.study(plan)), records)
    assert machine_section.client_section(ResolvedStudy.of(synthetic.study(plan)), runs, records) is None


def test_agent_is_sent_whole_with_what_it_imports():
    sent = json.loads(client_host.wire_line({"do": "describe"}, {"x.lua": "--"}))
    assert {"scripts/measure/loadgen/client_agent.py", "scripts/lib/host/machine_facts.py", "x.lua"} <= sent[
        "files"
    ].keys()
    assert "scripts/measure/loadgen/client_proxy.py" not in sent["files"]


def test_agent_ends_when_nobody_listens(told):
    wanted = {"do": "run", "command": [json.loads(told.read_text())["program"]], "secrets": "", "cpus": [0]}
    wanted |= {key: json.loads(told.read_text())[key] for key in ("address", "port")}
    with subprocess.Popen(
        ClientEntry.of(HERE).agent_command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PACE": "30"},
    ) as agent:
        agent.stdin.write(client_host.wire_line(wanted))
        agent.stdin.flush()
        assert agent.stdout.readline().startswith(b"ogiven")
        agent.stdin.close()
        assert json.loads(agent.stdout.read().splitlines()[-1][1:]) == {"status": -signal.SIGKILL}


@pytest.mark.parametrize(("remote", "inherited"), [(object(), True), (None, False)])
def test_only_the_command_that_reaches_a_client_host_has_the_users_environment(monkeypatch, remote, inherited):
    """ssh needs its agent, and `client_proxy` where its modules are; sysbench on this host needs neither."""
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    given = {}
    monkeypatch.setattr(load.processes, "run_processes", lambda calls, text, **how: given.update(how))
    setting = SimpleNamespace(
        cpus=SimpleNamespace(client_cpus=(1,)), load=SimpleNamespace(client_environment={}), remote=remote
    )
    load.run_load(setting, [], Path("text"), timeout_s=1)
    assert ("SSH_AUTH_SOCK" in given["environment"]) is inherited
