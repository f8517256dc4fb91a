"""The code of a failure: set by what a command, a server or sysbench printed, where that is read."""

import errno

import pytest

from scripts.lib.host import causes, process
from scripts.lib.vocabulary import FailureKind
from scripts.measure.loadgen.output import SysbenchFailed, reject_failure
from scripts.measure.loadgen.run_sysbench import ClientHostFailed, SysbenchKilled, reject_failed

FULL = "as: x.o: No space left on device"
OF_COMMANDS = {
    FULL: FailureKind.FULL_DISK,
    "cp: Disk quota exceeded": FailureKind.FULL_DISK,
    "c++: fatal error: Killed signal terminated program cc1plus": FailureKind.KILLED,
    "clang: error: unable to execute command: Terminated": FailureKind.KILLED,
    "make: *** [Makefile:3: x.o] Terminated": FailureKind.KILLED,
    "ninja: build stopped: interrupted by user.": FailureKind.KILLED,
    "virtual memory exhausted: Cannot allocate memory": FailureKind.NO_MEMORY,
    "error: no such flag": FailureKind.COMMAND,
    "BOLT-ERROR: 'cannot pre-process profile': Input/output error.": FailureKind.COMMAND,
}


@pytest.mark.parametrize(("printed", "code"), OF_COMMANDS.items(), ids=OF_COMMANDS)
@pytest.mark.parametrize("logged", [True, False])
def test_command_that_fails_has_the_cause_that_it_printed(tmp_path, printed, code, logged):
    with pytest.raises(process.CommandFailed) as raised:
        process.run(["sh", "-c", f'echo "{printed}"; exit 1'], tmp_path / "log" if logged else None)
    assert raised.value.cause.code is code
    assert causes.of_host(raised.value) == code.of_host == (code is not FailureKind.COMMAND)


def test_command_that_somebody_kills_has_no_result():
    with pytest.raises(process.CommandKilled) as raised:
        process.run(["sh", "-c", "kill -KILL $$"])
    assert raised.value.cause.code is FailureKind.KILLED
    assert causes.of_host(raised.value)


@pytest.mark.parametrize(
    ("status", "printed", "kind", "code"),
    [
        (1, "FATAL: error 1114 (The table 'sbtest1' is full)", SysbenchFailed, FailureKind.FULL_DISK),
        (1, "sh: 1: cannot write: No space left on device", SysbenchFailed, FailureKind.FULL_DISK),
        (1, "mmap: Cannot allocate memory", SysbenchFailed, FailureKind.LOAD),
        (-9, "", SysbenchKilled, FailureKind.LOAD_KILLED),
        (errno.EHOSTUNREACH, "gone", ClientHostFailed, FailureKind.HOST_LOST),
    ],
)
def test_sysbench_that_fails_has_the_cause_that_it_printed_or_ended_with(status, printed, kind, code):
    with pytest.raises(kind) as raised:
        reject_failed(status, printed, None)
    assert raised.value.cause.code is code


def test_other_words_for_a_failure_keep_its_cause():
    with pytest.raises(SysbenchFailed) as raised:
        reject_failure("FATAL: error 1114 (The table 'sbtest1' is full)\n")
    other = raised.value.reworded("elsewhere")
    assert (str(other), other.cause) == ("elsewhere", raised.value.cause)
    assert other.cause.of_host


@pytest.mark.parametrize(("number", "full"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.ENOENT, False)])
def test_write_that_fails_is_of_the_host_by_its_number(number, full):
    assert causes.of_host(OSError(number, "whatever it says")) is full


def test_text_that_names_a_full_disk_is_no_cause():
    assert not causes.of_host(ValueError(FULL))
    assert not causes.of_host(process.CommandFailed(FULL))
