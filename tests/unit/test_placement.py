"""Who gets which CPUs, on topologies of real machines."""

from pathlib import Path

import pytest

from scripts.placement import Cpu, format_cpus, parse_cpus, place, read_topology


def machine(*rows: tuple[int, int, int, int]) -> tuple[Cpu, ...]:
    """Rows as `lscpu --parse=CPU,CORE,SOCKET,NODE` prints them."""
    return tuple(sorted(Cpu(node=node, socket=socket, core=core, number=cpu) for cpu, core, socket, node in rows))


ONE_CPU = machine((0, 0, 0, 0))
TWO_CORES = machine((0, 0, 0, 0), (1, 1, 0, 0))
ONE_CORE_SMT = machine((0, 0, 0, 0), (1, 0, 0, 0))
# Siblings are n and n + 4, as on a Core i7-7700.
FOUR_CORES_SMT = machine(*((cpu, cpu % 4, 0, 0) for cpu in range(8)))
# Two Xeons with 6 cores each, no SMT; node = socket; numbers alternate between the sockets, core numbers repeat.
TWO_SOCKETS = machine(*((cpu, cpu // 2, cpu % 2, cpu % 2) for cpu in range(12)))


def write_topology(root: Path, topology: tuple[Cpu, ...]) -> None:
    for cpu in topology:
        directory = root / f"sys/devices/system/cpu/cpu{cpu.number}"
        (directory / "topology").mkdir(parents=True)
        (directory / f"node{cpu.node}").mkdir()
        (directory / "topology/core_id").write_text(f"{cpu.core}\n")
        (directory / "topology/physical_package_id").write_text(f"{cpu.socket}\n")


@pytest.mark.parametrize("topology", [ONE_CPU, TWO_CORES, FOUR_CORES_SMT, TWO_SOCKETS])
def test_topology_is_read_from_sys(tmp_path, topology):
    write_topology(tmp_path, topology)
    assert read_topology(tmp_path, allowed=range(len(topology))) == topology


def test_topology_is_limited_to_what_the_process_may_use(tmp_path):
    write_topology(tmp_path, FOUR_CORES_SMT)
    assert [cpu.number for cpu in read_topology(tmp_path, allowed={6, 2, 3})] == [2, 6, 3]


def test_machine_without_topology_has_a_core_for_each_cpu(tmp_path):
    assert len({(cpu.socket, cpu.core) for cpu in read_topology(tmp_path, allowed={0, 1, 2})}) == 3


def test_own_machine_can_be_placed():
    placement = place(read_topology())
    assert placement.server_cpus
    assert placement.client_cpus


def test_single_cpu_is_shared_and_said_so():
    placement = place(ONE_CPU)
    assert (placement.mode, placement.server_cpus, placement.client_cpus) == ("shared", (0,), (0,))
    assert "only one CPU" in placement.note


@pytest.mark.parametrize("topology", [TWO_CORES, ONE_CORE_SMT])
def test_two_cpus_are_one_each(topology):
    placement = place(topology)
    assert (placement.mode, placement.server_cpus, placement.client_cpus) == ("automatic", (0,), (1,))


def test_smt_siblings_stay_together():
    placement = place(FOUR_CORES_SMT)
    assert (placement.server_cpus, placement.client_cpus) == ((0, 1, 2, 4, 5, 6), (3, 7))
    assert placement.note == "3 of 4 cores for the server, 1 for the load generator"


def test_two_sockets_leave_one_alone():
    placement = place(TWO_SOCKETS)
    assert (placement.server_cpus, placement.client_cpus) == ((0, 2, 4, 6), (8, 10))
    assert "6 cores of NUMA node 0" in placement.note


def test_node_with_more_usable_cores_is_taken():
    placement = place(tuple(cpu for cpu in TWO_SOCKETS if cpu.number not in (0, 2, 4)))
    assert {cpu % 2 for cpu in placement.server_cpus + placement.client_cpus} == {1}


def test_nodes_of_one_core_each_are_used_together():
    placement = place(machine((0, 0, 0, 0), (1, 0, 1, 1)))
    assert (placement.server_cpus, placement.client_cpus) == ((0,), (1,))


@pytest.mark.parametrize(("cores", "client"), [(2, 1), (3, 1), (4, 1), (8, 2), (12, 3), (64, 16)])
def test_client_gets_about_a_quarter_of_the_cores(cores, client):
    placement = place(machine(*((cpu, cpu, 0, 0) for cpu in range(cores))))
    assert len(placement.client_cpus) == client
    assert sorted(placement.server_cpus + placement.client_cpus) == list(range(cores))


def test_study_can_state_the_sets():
    placement = place(FOUR_CORES_SMT, {"server": "0-2,4-6", "client": "3, 7"})
    assert (placement.mode, placement.server_cpus, placement.client_cpus) == ("stated", (0, 1, 2, 4, 5, 6), (3, 7))
    assert placement.note == "as the study says"


def test_stated_sets_that_split_a_core_are_noted():
    placement = place(FOUR_CORES_SMT, {"server": "0-3", "client": 4})
    assert "share the cores of CPUs 0,4" in placement.note


def test_study_can_ask_for_sharing():
    placement = place(TWO_CORES, "shared")
    assert (placement.mode, placement.server_cpus, placement.client_cpus) == ("shared", (0, 1), (0, 1))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("numa", r"placement: 'numa', expected automatic, shared, or \{server"),
        (["0", "1"], r"placement: \['0', '1'\], expected automatic"),
        ({"server": "0"}, "placement: has server, expected exactly the keys server and client"),
        ({"server": "0", "clients": "1"}, "placement: has server, clients, expected exactly"),
        ({"server": "0-5", "client": "5"}, "server and client both have CPU 5, expected disjoint sets"),
        ({"server": "0-9", "client": "1"}, r"placement\.server: CPU 8-9 is not to be had here, expected some of 0-7"),
        ({"server": "0", "client": "a"}, r"placement\.client: 'a' is no CPU list, expected something like \"0-3,6\""),
        ({"server": "3-1", "client": "0"}, r"placement\.server: the range 3-1 runs backwards, expected 1-3"),
        ({"server": "", "client": "0"}, r"placement\.server: '' is no CPU list"),
        ({"server": True, "client": "0"}, r"placement\.server: True is no CPU list"),
    ],
)
def test_error_names_key_value_and_expectation(wanted, message):
    with pytest.raises(ValueError, match=message):
        place(FOUR_CORES_SMT, wanted)


@pytest.mark.parametrize("text", ["0", "0-3", "0-2,5", "1,3,5-7"])
def test_lists_survive_reading_and_writing(text):
    assert format_cpus(parse_cpus("key", text)) == text
