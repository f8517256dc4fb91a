"""A PostgreSQL server that is killed leaves no shared memory, neither files nor a System V segment."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.endtoend import installed_postgresql
from tests.faults.interrupting import wait_until
from tests.workflow.running import CHECKOUT, environment

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(installed_postgresql.missing()), reason=installed_postgresql.missing() or "-"),
]
# Prints the server's process, its segment and the files that it has mapped, and ends by itself once the server did.
HOLDER = """
import re
from pathlib import Path
from scripts.lib.host import lifetime
from scripts.measure.servers.server import running
from tests.endtoend import installed
lifetime.heed_signals()
with installed.initialised("memory-", "postgresql") as ready:
    with running(ready.family, ready.install, ready.data, ready.options, ready.folder / "server.log") as server:
        connection = server.connect()
        connection.cursor().execute("select 1")
        pids = [server.process.pid, *map(int, Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
                .read_text().split())]
        maps = "".join(Path(f"/proc/{pid}/maps").read_text() for pid in pids)
        *_, segment, control = server.family.clean_up_command(server.process.pid, ready.data)
        files = {control, *re.findall(r"/dev/shm/PostgreSQL[.]\\d+", maps)}
        print(server.process.pid, segment, *sorted(files), flush=True)
        server.process.wait()
"""


@pytest.mark.parametrize(
    ("victim", "number"), [("holder", signal.SIGKILL), ("holder", signal.SIGTERM), ("server", signal.SIGKILL)]
)
def test_shared_memory_of_a_killed_server_is_gone(victim, number):
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(command, cwd=CHECKOUT, env=environment(), stdout=subprocess.PIPE, text=True) as holder:
        server, segment, *files = holder.stdout.readline().split()
        assert files
        assert all(Path(file).exists() for file in files)
        assert segment in segments()
        psutil.Process(holder.pid if victim == "holder" else int(server)).send_signal(number)
    wait_until(lambda: not any(Path(file).exists() for file in files), seconds=10, rest_s=0.1)
    wait_until(lambda: segment not in segments(), seconds=10, rest_s=0.1)


# Prints the same for a server that has its memory and is not asked yet whether it is ready.
UNREADY = """
import re, time
from pathlib import Path
from scripts.lib.host import lifetime
from scripts.measure.servers.server import Server, running
from tests.endtoend import installed
lifetime.heed_signals()
def wait_ready(server):
    files, lines = [], []
    while len(lines) < 7 or not files:
        time.sleep(0.01)
        files = re.findall(r"/dev/shm/PostgreSQL[.]\\d+", Path(f"/proc/{server.process.pid}/maps").read_text())
        pid_file = ready.data / "postmaster.pid"
        lines = pid_file.read_text().splitlines() if pid_file.exists() else []
    print(server.process.pid, lines[6].split()[-1], *files, flush=True)
    time.sleep(60)
Server.wait_ready = wait_ready
with installed.initialised("memory-", "postgresql") as ready:
    with running(ready.family, ready.install, ready.data, ready.options, ready.folder / "server.log"):
        pass
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_shared_memory_of_a_server_killed_before_it_is_ready_is_gone(number):
    command = [sys.executable, "-c", UNREADY]
    with subprocess.Popen(command, cwd=CHECKOUT, env=environment(), stdout=subprocess.PIPE, text=True) as holder:
        _, segment, *files = holder.stdout.readline().split()
        assert files
        assert all(Path(file).exists() for file in files)
        assert segment in segments()
        holder.send_signal(number)
    wait_until(lambda: not any(Path(file).exists() for file in files), seconds=10, rest_s=0.1)
    wait_until(lambda: segment not in segments(), seconds=10, rest_s=0.1)


def segments():
    """Return the numbers of the System V segments on this machine."""
    return {line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}
