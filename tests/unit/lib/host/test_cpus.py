"""Who gets which CPUs, on topologies of real machines."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.lib.host.cpus import Cpu, Topology, format_cpus, parse_cpus, place_processes, read_topology


def machine(*rows: tuple[int, int, int, int]) -> Topology:
    """Rows as `lscpu --parse=CPU,CORE,SOCKET,NODE` prints them, with cores named by their lowest CPU."""
    cpus = sorted(Cpu(node=node, socket=socket, core=core, number=cpu) for cpu, core, socket, node in rows)
    return Topology(tuple(cpus), tuple(sorted({cpu.node for cpu in cpus})))


def limited(topology: Topology, cpus: set[int]) -> Topology:
    """What a process sees of a machine when a cpuset, taskset or CPUs that are offline leave it these."""
    return replace(topology, cpus=tuple(cpu for cpu in topology.cpus if cpu.number in cpus))


ONE_CPU = machine((0, 0, 0, 0))
TWO_CORES = machine((0, 0, 0, 0), (1, 1, 0, 0))
ONE_CORE_SMT = machine((0, 0, 0, 0), (1, 0, 0, 0))
# Siblings are n and n + 4, as on a Core i7-7700.
FOUR_CORES_SMT = machine(*((cpu, cpu % 4, 0, 0) for cpu in range(8)))
# Two Xeons with 6 cores each, no SMT; node = socket; numbers alternate between the sockets.
TWO_SOCKETS = machine(*((cpu, cpu, cpu % 2, cpu % 2) for cpu in range(12)))
# Two Xeons with 8 cores each: siblings are n and n + 16, the second socket's cores are 8 to 15.
TWO_SOCKETS_SMT = machine(*((cpu, cpu % 16, cpu % 16 // 8, cpu % 16 // 8) for cpu in range(32)))
# An EPYC with 64 cores in 16 groups of 4 that share a cache, siblings n and n + 64, one node (NPS1) or four (NPS4).
EPYC = machine(*((cpu, cpu % 64, 0, 0) for cpu in range(128)))
EPYC_NPS4 = machine(*((cpu, cpu % 64, 0, cpu % 64 // 16) for cpu in range(128)))
# Two sockets that firmware shows as one node (node interleaving).
INTERLEAVED = machine(*((cpu, cpu, cpu // 2, 0) for cpu in range(4)))
RECORDED = [ONE_CPU, TWO_CORES, ONE_CORE_SMT, FOUR_CORES_SMT, TWO_SOCKETS, TWO_SOCKETS_SMT, EPYC_NPS4, INTERLEAVED]

FIRST_NODE = "as the study says; the server's CPUs are of NUMA node 0: its memory is allocated there by first touch"


def write_topology(root: Path, topology: Topology) -> None:
    base = root / "sys/devices/system"
    for cpu in topology.cpus:
        directory = base / f"cpu/cpu{cpu.number}"
        (directory / "topology").mkdir(parents=True)
        (directory / f"node{cpu.node}").mkdir()
        siblings = format_cpus(each.number for each in topology.cpus if each.core == cpu.core)
        (directory / "topology/thread_siblings_list").write_text(f"{siblings}\n")
        (directory / "topology/physical_package_id").write_text(f"{cpu.socket}\n")
    for node in topology.nodes:
        (base / f"node/node{node}").mkdir(parents=True)


@pytest.mark.parametrize("topology", RECORDED)
def test_topology_is_read_from_sys(tmp_path, topology):
    write_topology(tmp_path, topology)
    assert read_topology(tmp_path, allowed=range(len(topology.cpus))) == topology


def test_topology_is_limited_to_what_the_process_may_use(tmp_path):
    write_topology(tmp_path, FOUR_CORES_SMT)
    assert [cpu.number for cpu in read_topology(tmp_path, allowed={6, 2, 3}).cpus] == [2, 6, 3]


def test_machine_without_topology_has_a_core_for_each_cpu(tmp_path):
    topology = read_topology(tmp_path, allowed={0, 1, 2})
    assert len({(cpu.socket, cpu.core) for cpu in topology.cpus}) == 3
    assert (topology.nodes, topology.quota) == ((0,), None)


def test_core_numbers_that_repeat_within_a_socket_are_told_apart(tmp_path):
    """Two dies or clusters of one socket, each with a core 0."""
    write_topology(tmp_path, TWO_CORES)
    for cpu in (0, 1):
        (tmp_path / f"sys/devices/system/cpu/cpu{cpu}/topology/core_id").write_text("0\n")
    assert place_processes(read_topology(tmp_path, allowed={0, 1})).note.startswith("1 of 2 cores")


def test_quota_of_the_cgroup_is_part_of_the_topology(tmp_path):
    write_topology(tmp_path, FOUR_CORES_SMT)
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/cpu.max").write_text("200000 100000\n")
    assert read_topology(tmp_path, allowed=range(8)).quota == 2.0


def test_own_machine_can_be_placed():
    placement = place_processes(read_topology())
    assert placement.server_cpus
    assert placement.client_cpus


@pytest.mark.parametrize(
    ("topology", "mode", "server", "client", "note"),
    [
        (ONE_CPU, "shared", "0", "0", "only one CPU: server and load generator share it"),
        (TWO_CORES, "automatic", "0", "1", "1 of 2 cores for the server, 1 for the load generator"),
        (ONE_CORE_SMT, "automatic", "0", "1", "1 of 2 CPUs of one core for the server"),
        (FOUR_CORES_SMT, "automatic", "0-2,4-6", "3,7", "3 of 4 cores for the server, 1 for the load generator"),
        (TWO_SOCKETS, "automatic", "0,2,4,6", "8,10", "4 of 6 cores of NUMA node 0 for the server, 2"),
        (TWO_SOCKETS_SMT, "automatic", "0-5,16-21", "6-7,22-23", "6 of 8 cores of NUMA node 0 for the server"),
        (EPYC, "automatic", "0-47,64-111", "48-63,112-127", "48 of 64 cores for the server, 16"),
        (EPYC_NPS4, "automatic", "0-11,64-75", "12-15,76-79", "12 of 16 cores of NUMA node 0 for the server, 4"),
        (INTERLEAVED, "automatic", "0-2", "3", "3 of 4 cores for the server"),
        (machine((0, 0, 0, 0), (1, 1, 1, 1)), "automatic", "0", "1", "1 of 2 cores, one in each NUMA node for"),
        # cpusets and affinity
        (limited(FOUR_CORES_SMT, {1, 3, 5, 7}), "automatic", "1,5", "3,7", "1 of 2 cores for the server, 1"),
        (limited(FOUR_CORES_SMT, {2, 6}), "automatic", "2", "6", "1 of 2 CPUs of one core for the server"),
        (limited(FOUR_CORES_SMT, {5}), "shared", "5", "5", "only one CPU"),
        (limited(TWO_SOCKETS, {0, 1, 3, 5, 7}), "automatic", "1,3,5", "7", "3 of 4 cores of NUMA node 1"),
        # CPUs that are offline: siblings 4 to 7 switched off, then core 1 of the first node
        (limited(FOUR_CORES_SMT, {0, 1, 2, 3}), "automatic", "0-2", "3", "3 of 4 cores for the server"),
        (limited(TWO_SOCKETS, {*range(12)} - {2}), "automatic", "1,3,5,7", "9,11", "4 of 6 cores of NUMA node 1"),
    ],
)
def test_automatic_choice_on_recorded_machines(topology, mode, server, client, note):
    placement = place_processes(topology)
    found = (placement.mode, format_cpus(placement.server_cpus), format_cpus(placement.client_cpus))
    assert found == (mode, server, client)
    assert note in placement.note


@pytest.mark.parametrize(
    ("topology", "quota", "mode", "server", "client", "note"),
    [
        (FOUR_CORES_SMT, 8.0, "automatic", "0-2,4-6", "3,7", "3 of 4 cores for the server, 1 for the load generator"),
        (FOUR_CORES_SMT, 6.5, "automatic", "0-1,4-5", "2,6", "2 of 4 cores for the server, 1 for the load"),
        (FOUR_CORES_SMT, 4.0, "automatic", "0,4", "1,5", "1 of 4 cores for the server, 1 for the load"),
        (FOUR_CORES_SMT, 2.0, "automatic", "0", "1", "1 of 4 cores, one CPU of each, for the server, 1 for"),
        (FOUR_CORES_SMT, 1.5, "shared", "0", "0", "only one CPU: server and load generator share it"),
        (FOUR_CORES_SMT, 0.5, "shared", "0", "0", "only one CPU"),
        (TWO_CORES, 1.9, "shared", "0", "0", "only one CPU"),
        (TWO_SOCKETS, 5.0, "automatic", "0,2,4,6", "8", "4 of 6 cores of NUMA node 0"),
        (EPYC, 8.0, "automatic", "0-2,64-66", "3,67", "3 of 64 cores for the server"),
    ],
)
def test_no_more_cpus_are_handed_out_than_a_quota_runs(topology, quota, mode, server, client, note):
    placement = place_processes(replace(topology, quota=quota))
    found = (placement.mode, format_cpus(placement.server_cpus), format_cpus(placement.client_cpus))
    assert found == (mode, server, client)
    assert note in placement.note
    limits = quota < len(topology.cpus)
    assert (f"more would exceed the cgroup's quota of {quota:.1f} CPUs" in placement.note) == limits
    assert len({*placement.server_cpus, *placement.client_cpus}) <= max(1, quota)


@pytest.mark.parametrize(("cores", "client"), [(2, 1), (3, 1), (4, 1), (8, 2), (12, 3), (64, 16)])
def test_client_gets_about_a_quarter_of_the_cores(cores, client):
    placement = place_processes(machine(*((cpu, cpu, 0, 0) for cpu in range(cores))))
    assert len(placement.client_cpus) == client
    assert sorted(placement.server_cpus + placement.client_cpus) == list(range(cores))


@pytest.mark.parametrize(
    ("topology", "wanted", "server", "client", "note"),
    [
        (FOUR_CORES_SMT, {"server": "0-2,4-6", "client": "3, 7"}, "0-2,4-6", "3,7", "as the study says"),
        (TWO_CORES, {"server": 0, "client": 1}, "0", "1", "as the study says"),
        (
            FOUR_CORES_SMT,
            {"server": "0-3", "client": 4},
            "0-3",
            "4",
            "as the study says; server and load generator share the cores of CPUs 0,4 and slow each other down",
        ),
        (
            TWO_SOCKETS_SMT,
            {"server": "numa0", "client": "numa1"},
            "0-7,16-23",
            "8-15,24-31",
            FIRST_NODE,
        ),
        (
            TWO_SOCKETS,
            {"server": "1,3,5", "client": "0"},
            "1,3,5",
            "0",
            "as the study says; the server's CPUs are of NUMA node 1: its memory is allocated there by first touch",
        ),
        (
            EPYC_NPS4,
            {"server": "numa0, numa1", "client": "numa3"},
            "0-31,64-95",
            "48-63,112-127",
            "as the study says; the server's CPUs span NUMA nodes 0, 1: part of its accesses to memory cross "
            "between them",
        ),
        (
            TWO_SOCKETS,
            {"server": "0-7", "client": "8-11"},
            "0-7",
            "8-11",
            "as the study says; the server's CPUs span NUMA nodes 0, 1 of 2 sockets: part of its accesses to memory "
            "cross between them",
        ),
        (
            INTERLEAVED,
            {"server": "0-2", "client": "3"},
            "0-2",
            "3",
            "as the study says; the server's CPUs span 2 sockets: they share data only through the link between them",
        ),
        (
            replace(FOUR_CORES_SMT, quota=2.0),
            {"server": "0,4", "client": "1"},
            "0,4",
            "1",
            "as the study says; 3 CPUs exceed the cgroup's quota of 2.0: both are stopped whenever it is used up",
        ),
        # what of a node this process may not use stays out
        (limited(TWO_SOCKETS, {0, 2, 3}), {"server": "numa0", "client": "numa1"}, "0,2", "3", FIRST_NODE),
    ],
)
def test_study_can_state_cpus_or_nodes(topology, wanted, server, client, note):
    placement = place_processes(topology, wanted)
    assert placement.mode == "stated"
    assert (format_cpus(placement.server_cpus), format_cpus(placement.client_cpus)) == (server, client)
    assert placement.note == note


@pytest.mark.parametrize(
    ("topology", "wanted", "message"),
    [
        (
            FOUR_CORES_SMT,
            "numa",
            'placement: \'numa\', expected automatic, {server: "0-5", client: "6,7"} or {server: numa0, client: numa1}',
        ),
        (FOUR_CORES_SMT, ["0", "1"], "placement: ['0', '1'], expected automatic"),
        (FOUR_CORES_SMT, {}, "placement: has nothing, expected exactly the keys server and client"),
        (FOUR_CORES_SMT, {"server": "0"}, "placement: has server, expected exactly the keys server and client"),
        (FOUR_CORES_SMT, {"server": "0", "clients": "1"}, "placement: has server, clients, expected exactly"),
        (
            FOUR_CORES_SMT,
            {"server": "0-5", "client": "5"},
            "placement: server (0-5) and client (5) both have CPU 5, expected disjoint sets",
        ),
        (
            TWO_SOCKETS,
            {"server": "numa0,numa1", "client": "numa1"},
            "placement: server (numa0,numa1) and client (numa1) both have CPU 1,3,5,7,9,11, expected disjoint sets",
        ),
        (
            TWO_SOCKETS,
            {"server": "numa0", "client": "9-10"},
            "placement: server (numa0) and client (9-10) both have CPU 10, expected disjoint sets",
        ),
        (
            FOUR_CORES_SMT,
            {"server": "0-9", "client": "1"},
            "placement.server: CPU 8-9 is not available here, expected some of 0-7 (what this process may use, cgroup",
        ),
        (
            limited(FOUR_CORES_SMT, {0, 1, 2, 3}),
            {"server": "0-2", "client": "7"},
            "placement.client: CPU 7 is not available here, expected some of 0-3",
        ),
        (
            TWO_SOCKETS,
            {"server": "numa0", "client": "numa2"},
            "placement.client: there is no numa2 here, expected some of numa0 (CPU 0,2,4,6,8,10), "
            "numa1 (CPU 1,3,5,7,9,11)",
        ),
        (
            limited(TWO_SOCKETS, {0, 2}),
            {"server": "numa1", "client": "0"},
            "placement.server: numa1 has no CPU that this process may use, expected some of numa0 (CPU 0,2)",
        ),
        (TWO_SOCKETS, {"server": "numa0,4", "client": "1"}, "placement.server: 'numa0,4' is no CPU list"),
        (
            FOUR_CORES_SMT,
            {"server": "0", "client": "a"},
            'placement.client: \'a\' is no CPU list, expected something like "0-3,6", or "numa0" for a node',
        ),
        (FOUR_CORES_SMT, {"server": "3-1", "client": "0"}, "placement.server: the range 3-1 runs backwards"),
        (FOUR_CORES_SMT, {"server": "0-9999999999", "client": "0"}, "placement.server: there is no CPU 9999999999"),
        (FOUR_CORES_SMT, {"server": "", "client": "0"}, "placement.server: '' is no CPU list"),
        (FOUR_CORES_SMT, {"server": True, "client": "0"}, "placement.server: True is no CPU list"),
        (FOUR_CORES_SMT, {"server": "٣", "client": "0"}, "placement.server: '٣' is no CPU list"),
    ],
)
def test_error_names_key_value_and_what_is_to_be_had(topology, wanted, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        place_processes(topology, wanted)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("text", ["0", "0-3", "0-2,5", "1,3,5-7"])
def test_lists_survive_reading_and_writing(text):
    assert format_cpus(parse_cpus("key", text)) == text
