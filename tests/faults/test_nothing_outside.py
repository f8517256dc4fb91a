"""What a study opens to others and writes elsewhere, seen from outside: one socket folder of its own, and nothing."""

import os
import re
import shutil
import socket
import stat
import subprocess
from pathlib import Path

import psutil
import pytest

from scripts.lib.host import workplace
from scripts.measure.servers import families
from scripts.measure.servers.server import running
from tests.endtoend import installed, looked_into
from tests.endtoend.folders import open_folder
from tests.endtoend.ready_made import Ready
from tests.faults.scale import WHOLE

pytestmark = pytest.mark.real
BINARY = "mysql-8.0.33-binary"
STRANGER = 65533
KNOCK = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"


@pytest.fixture(scope="module", params=[*installed.SERVERS, BINARY])
def server(request):
    """A real server on an empty data directory, as a run starts it."""
    small = installed.SMALL.get(request.param, installed.SMALL["mariadb"])
    with open_folder("outside-") as folder:
        with installed.initialised_as(*_installed(request.param, folder), small, folder) as ready:
            with running(ready.family, ready.install, ready.data, ready.options, folder / "server.log") as started:
                yield started
                started.stop(keep_data=False)


def _installed(name, folder):
    if name == BINARY:
        ready = Ready(BINARY, folder)
        if not WHOLE or ready.fetch():
            pytest.skip(f"{BINARY}: unpacked by make faults, where its artifact can be had")
        ready.take()
        return ready.family, ready.install
    return families.of(name), workplace.installed(installed.identity(name, folder))


def listening(process, *options):
    """Return the addresses that a process and its children listen on, as ss of iproute2 tells them."""
    whole = psutil.Process(process.pid)
    wanted = {f"pid={each.pid}," for each in [whole, *whole.children(recursive=True)]}
    lines = subprocess.run(["ss", "-Hlnp", *options], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[4] for line in lines if any(pid in line for pid in wanted)]


@pytest.mark.skipif(not shutil.which("ss"), reason="ss is not installed (iproute2)")
def test_server_listens_in_its_own_folder_and_nowhere_else(server):
    assert listening(server.process, "-t", "-u", "-S", "-w", "-0") == []
    found = listening(server.process, "-x")
    assert found
    assert {str(Path(path).parent) for path in found} == {str(server.sockets)}


def test_folder_of_the_socket_is_its_owners_alone(server):
    status = server.sockets.stat()
    assert stat.S_IMODE(status.st_mode) == 0o700
    assert status.st_uid == workplace.server_identity().get("user", os.getuid())
    assert psutil.Process(server.process.pid).uids().effective == status.st_uid


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_another_user_is_not_let_in(server):
    path = next(path for path in server.sockets.iterdir() if path.is_socket())
    with socket.socket(socket.AF_UNIX) as ours:
        ours.connect(str(path))
    knock = subprocess.run(
        ["/usr/bin/python3", "-c", KNOCK, path],
        user=STRANGER,
        group=STRANGER,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "PermissionError" in knock.stderr


@pytest.fixture
def shut_in(study_looked_into):
    if not looked_into.NAMESPACE:
        pytest.skip("a mount namespace of one's own takes root")
    return study_looked_into


def test_study_writes_to_its_folder_the_cache_and_temporary_files_alone(shut_in):
    assert (shut_in / "results" / "studies" / "looked_into" / "report.html").is_file()
    assert sorted(path.name for path in shut_in.iterdir()) == [".snakemake", "cache", "results", "study.yaml"]


def test_no_password_is_in_anything_a_study_writes(shut_in):
    secret = re.compile(r"password\s*[=:]\s*\S|--(mysql|pgsql)-password|PGPASSWORD|MYSQL_PWD|IDENTIFIED BY", re.I)
    texts = [
        path for path in (shut_in / "results").rglob("*") if path.suffix in (".json", ".log", ".txt", ".html", ".md")
    ]
    assert len(texts) > 20
    assert [str(path) for path in texts if secret.search(path.read_text(errors="replace"))] == []
