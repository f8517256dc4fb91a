"""The life of a server process, with a small program in place of a real server."""

import os
import signal
from types import SimpleNamespace

import pytest

from scripts.lib import json_record
from scripts.lib.host import usage, workplace
from scripts.lib.vocabulary import FailureKind
from scripts.measure.engine.run_facts import failed_run
from scripts.measure.engine.run_record import Run
from scripts.measure.servers import server
from scripts.measure.servers.families.innodb import InnoDB

READY = """import signal, sys, time, pathlib
def leave(*_): sys.exit({status})
signal.signal(signal.SIGTERM, leave)
print("said before", flush=True)
pathlib.Path(sys.argv[1]).write_text("up")
time.sleep(60)
"""


class Connection:
    def close(self):
        """Close nothing."""


def made_family(tmp_path, program):
    """A stub of a family: its server is a Python program that tells by a file that it is ready."""
    script = tmp_path / "server.py"
    script.write_text(program)
    up = tmp_path / "data" / "up"

    def connect(_sockets):
        if not up.exists():
            raise ConnectionRefusedError("not yet")
        return Connection()

    return SimpleNamespace(
        SERVER="bin/made",
        STOP_SIGNAL="SIGTERM",
        COMPLAINT=InnoDB.COMPLAINT,
        OPTION_REFUSED=InnoDB.OPTION_REFUSED,
        NOT_TAKEN=InnoDB.NOT_TAKEN,
        options_of_release=lambda install, options: options,
        option_text=lambda options: f"{options}\n",
        libraries=lambda program: None,
        refused_value=lambda name, value, libraries: "",
        fit_data=lambda install, data, options: None,
        clean_up_command=lambda pid, data: [],
        clean_up_unready_command=lambda data, option_file: [],
        server_command=lambda *_: [os.sys.executable, str(script), str(up)],
        connect=connect,
        before_stop=lambda connection, keep_data: None,
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(workplace, "server_identity", dict)
    (tmp_path / "data").mkdir()
    return SimpleNamespace(data=tmp_path / "data", log=tmp_path / "log")


def started(tmp_path, place, program):
    return server.running(made_family(tmp_path, program), tmp_path, place.data, {}, place.log)


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_server_is_started_in_a_session_of_its_own_and_stopped(tmp_path, place):
    with started(tmp_path, place, READY.format(status=0)) as running:
        assert os.getsid(running.process.pid) == running.process.pid
        assert (running.sockets.stat().st_mode & 0o777) == 0o700
        running.stop(keep_data=False)
        assert running.process.returncode == 0
    assert not running.sockets.exists()


def test_server_that_ends_at_once_is_told_with_its_last_lines(tmp_path, place):
    program = "import sys; print('no such option'); sys.exit(7)"
    with pytest.raises(server.ServerFailed, match=r"(?s)did not start: it ended with status 7.*no such option"):
        with started(tmp_path, place, program):
            pytest.fail("a dead server was called ready")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("0 [ERROR] [MY-000067] [Server] unknown variable 'x=64M'.", FailureKind.OPTION),
        ("0 [ERROR] /b/mysqld: Error while setting value 'y' to 'x'", FailureKind.OPTION),
        ("0 [ERROR] Can't start server: Bind on TCP/IP port", FailureKind.NOT_STARTED),
        ("it said nothing that counts", FailureKind.NOT_STARTED),
    ],
)
def test_server_that_ends_at_once_has_a_kind_of_failure_and_its_own_words(tmp_path, place, line, kind):
    with pytest.raises(server.ServerFailed) as failed:
        with started(tmp_path, place, f"import sys; print({line!r}); sys.exit(1)"):
            pytest.fail("a dead server was called ready")
    assert failed.value.cause.code is kind
    assert failed.value.cause.text in line
    run = failed_run(Run(), failed.value)
    facts = json_record.dump(run)
    assert facts["failure"] == {"kind": kind, "cause": failed.value.cause.text}
    assert Run.of(facts) == run
    assert run.comes_again


def test_server_that_was_killed_as_it_started_may_start_next_time(tmp_path, place):
    with pytest.raises(server.ServerFailed) as failed:
        with started(tmp_path, place, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"):
            pytest.fail("a dead server was called ready")
    assert failed.value.cause.code is FailureKind.SERVER
    run = failed_run(Run(), failed.value)
    assert json_record.dump(run)["failure"] == {"kind": "server", "cause": ""}
    assert not run.comes_again


def test_server_whose_log_tells_of_a_full_disk_has_the_cause_of_the_host(tmp_path, place):
    with pytest.raises(server.ServerFailed) as failed:
        with started(tmp_path, place, "import sys; print('0 [ERROR] OS errno 28 - No space left'); sys.exit(1)"):
            pytest.fail("a dead server was called ready")
    assert failed.value.cause.code is FailureKind.FULL_DISK


def test_server_that_asks_for_too_much_memory_fails_by_itself(tmp_path, place):
    with pytest.raises(server.ServerFailed) as failed:
        with started(tmp_path, place, "import sys; print('[ERROR] mmap: Cannot allocate memory'); sys.exit(1)"):
            pytest.fail("a dead server was called ready")
    assert not failed.value.cause.of_host


def test_unclean_stop_is_a_failure(tmp_path, place):
    with started(tmp_path, place, READY.format(status=3)) as running:
        with pytest.raises(server.ServerFailed, match="ended with status 3 when asked to stop"):
            running.stop(keep_data=True)


def test_server_is_gone_after_an_error_of_ours(tmp_path, place):
    with pytest.raises(KeyError), started(tmp_path, place, READY.format(status=0)) as running:
        raise KeyError("ours")
    assert gone(running.process.pid)
    assert not running.sockets.exists()


def test_error_under_a_dead_server_is_the_servers(tmp_path, place):
    with started(tmp_path, place, READY.format(status=0)) as running:
        os.kill(running.process.pid, signal.SIGKILL)
        with pytest.raises(server.ServerFailed, match=r"(?s)died with status -9 under load \(lost\).*said before"):
            with running.blamed():
                raise ConnectionError("lost")


def test_server_that_the_kernel_killed_for_lack_of_memory_is_told_so(tmp_path, place, monkeypatch):
    with started(tmp_path, place, READY.format(status=0)) as running:
        monkeypatch.setattr(usage, "oom_kills", lambda: running.oom_kills + 1)
        os.kill(running.process.pid, signal.SIGKILL)
        with pytest.raises(server.ServerFailed, match=r"\(lost\), after the kernel killed for lack of memory \(1 in "):
            with running.blamed():
                raise ConnectionError("lost")


def test_error_under_a_living_server_stays_ours(tmp_path, place):
    with started(tmp_path, place, READY.format(status=0)) as running:
        with pytest.raises(ZeroDivisionError), running.blamed():
            raise ZeroDivisionError
