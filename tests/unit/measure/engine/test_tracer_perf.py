"""perf's text is read sample by sample, whatever a frame or a thread is called."""

from pathlib import Path

import pytest

from scripts.lib.host.process import last_lines
from scripts.measure.engine import tracer
from scripts.measure.engine.tracer import ToolFailed
from tests.made.studies import CHECKOUT

RECORDED = CHECKOUT / "tests" / "data" / "perf" / "mariadb-10.11.txt"
WRITING = [
    "\tffffffff821f3125 finish_task_switch.isra.0 ([kernel.kallsyms])",
    "\t          175096 __libc_write (/usr/lib/x86_64-linux-gnu/libc.so.6)",
    "\t           d612 log_write_up_to(unsigned long, bool) (/opt/server/bin/mariadbd)",
    "\t           27249 start_thread (/usr/lib/x86_64-linux-gnu/libc.so.6)",
    "",
]
TEXT = [
    "connection 3181 cpu-clock:ppp: ",
    *WRITING,
    "ib page cleaner 77 cpu-clock:ppp: ",
    "\t            d612 [unknown] (/opt/server/bin/mariadbd (deleted))",
    "\t            7370 [unknown] (/opt/server/bin/mariadbd (deleted))",
    "\t            620e [unknown] ([unknown])",
    "",
    "connection 3182 cpu-clock:ppp: ",
    *WRITING,
    "postgres 9 cpu-clock:ppp: ",
]


@pytest.fixture(scope="module")
def counted():
    return tracer.count_stacks(f"{line}\n" for line in TEXT)


def test_stacks_are_counted_with_the_outermost_call_first(counted):
    stack = (
        ("connection", ""),
        ("start_thread", "libc.so.6"),
        ("log_write_up_to(unsigned long, bool)", "mariadbd"),
        ("__libc_write", "libc.so.6"),
        ("finish_task_switch.isra.0", "kernel"),
    )
    assert counted[0][stack] == 2
    assert counted[1] == "cpu-clock:ppp"


def test_unknown_functions_have_their_modules_name_and_stand_once(counted):
    assert counted[0][(("ib page cleaner", ""), ("[unknown]", "[unknown]"), ("[mariadbd]", "mariadbd"))] == 1


def test_sample_whose_stack_could_not_be_read_counts_for_its_thread(counted):
    assert counted[0][(("postgres", ""),)] == 1
    assert counted[0].total() == 4


def test_recorded_samples_of_a_real_server_lead_from_its_thread_to_the_disk():
    with RECORDED.open(encoding="utf-8") as lines:
        stacks, event = tracer.count_stacks(lines)
    assert (stacks.total(), event) == (28, "cpu-clock:ppp")
    assert {stack[0] for stack in stacks} == {("mariadbd", "")}
    names = [[name for name, _ in stack] for stack in stacks]
    commit = next(stack for stack in names if "ha_commit_trans" in stack and "do_fsync" in stack)
    path = ["start_thread", "do_command", "dispatch_command", "ha_commit_trans", "fdatasync", "do_fsync"]
    assert [commit.index(name) for name in path] == sorted(commit.index(name) for name in path)
    modules = {module for stack in stacks for _, module in stack[1:]}
    assert {"mariadbd", "libc.so.6", "kernel"} <= modules


def test_facts_hold_each_frame_once_and_give_every_stack_back(counted):
    told = tracer.stack_facts(*counted)
    assert len(told["frames"]) == len({tuple(frame) for frame in told["frames"]})
    again = {
        tuple(tuple(told["frames"][int(number)]) for number in numbers.split()): count
        for numbers, count in told["stacks"].items()
    }
    assert again == counted[0]


def test_data_that_perf_cannot_read_is_a_failure_with_its_words(tmp_path):
    (tmp_path / "data").write_bytes(b"no samples")
    log = tmp_path / "perf.log"
    with pytest.raises((ToolFailed, FileNotFoundError)) as caught:
        tracer.read_stacks(Path(tmp_path / "data"), log)
    if isinstance(caught.value, ToolFailed):
        assert "gave 0 samples" in str(caught.value)
        assert last_lines(log, 1) in str(caught.value)
