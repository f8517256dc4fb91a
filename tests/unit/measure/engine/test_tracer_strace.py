"""What strace wrote of real processes is read: its summary, and how long single calls took."""

import pytest

from scripts.measure.engine import tracer
from scripts.measure.engine.tracer import ToolFailed

SUMMARY = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 23.02    0.003437         127        27           clock_nanosleep
  9.57    0.001429           3       438        48 newfstatat
  7.15    0.001068          71        15           fdatasync
  0.70    0.000104           1        61        60 ioctl
  0.10    0.000015           0        71           _sysctl
------ ----------- ----------- --------- --------- ----------------
100.00    0.014928          11      1354       138 total
"""
TIMED = """\
31551 fsync(3 <unfinished ...>
31552 fdatasync(4 <unfinished ...>
31551 <... fsync resumed>)              = 0 <0.000312>
31552 <... fdatasync resumed>)          = 0 <0.001209>
31552 fdatasync(4)                      = 0 <0.001207>
31552 fdatasync(4)                      = -1 EIO (Input/output error) <0.020001>
31552 +++ exited with 0 +++
31551 fsync(3 <detached ...>
"""


def test_summary_is_read_with_errors_and_without_the_total():
    rows = {row.pop("name"): row for row in tracer.read_summary(SUMMARY)["calls"]}
    assert rows["newfstatat"] == {"calls": 438, "errors": 48, "system_s": 0.001429}
    assert rows["fdatasync"] == {"calls": 15, "errors": 0, "system_s": 0.001068}
    assert list(rows) == ["clock_nanosleep", "newfstatat", "fdatasync", "ioctl", "_sysctl"]


def test_summary_of_nothing_tells_what_strace_wrote():
    with pytest.raises(ToolFailed, match="no system call: ptrace says no"):
        tracer.read_summary("ptrace says no\n")


def test_durations_are_read_whether_told_in_one_part_or_two():
    found = tracer.read_syncs(TIMED.splitlines(keepends=True))["syncs"]
    assert found["fsync"] == {"duration_us": [312], "count": [1]}
    assert found["fdatasync"] == {"duration_us": [1210, 20000], "count": [2, 1]}


def test_a_server_that_never_waits_for_the_disk_has_no_durations():
    assert tracer.read_syncs(["1 +++ exited with 0 +++\n"]) == {"syncs": {}}


def test_commands_attach_to_every_process(tmp_path):
    for command in (tracer.summary_command([7, 8], tmp_path / "x"), tracer.syncs_command([7, 8], tmp_path / "x")):
        assert command[0] == "strace"
        assert command[-2:] == ["-p7", "-p8"]
