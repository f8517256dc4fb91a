"""A job and its guard are killed together: doctor tells what they left, the next job that measures ends it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.commands.doctor.load_checks import check_leftovers
from scripts.lib.host import freezer, leftovers
from scripts.lib.host.cache import cache_path
from tests.endtoend import installed, watching
from tests.endtoend.folders import open_folder
from tests.endtoend.guards import kill_with_guard
from tests.faults.interrupting import wait_until
from tests.workflow.running import CHECKOUT, environment

pytestmark = [pytest.mark.real, pytest.mark.alone]
# Holds a server with three connections still, as a block does while other servers work; prints its processes.
HOLDER = """
import sys, time
from pathlib import Path
from scripts.lib.host import lifetime, pausing as stopping, workplace
from scripts.measure.engine import side_by_side
from scripts.measure.servers import families
from scripts.measure.servers.server import running
from tests.endtoend import installed
family, means, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
lifetime.heed_signals()
if means == side_by_side.Signals.NAME:
    side_by_side.freezer_of = lambda pid: None
install = workplace.installed(installed.identity(family, folder))
with installed.initialised_as(families.of(family), install, installed.SMALL[family], folder) as ready:
    with running(ready.family, ready.install, ready.data, ready.options, ready.folder / "server.log") as server:
        connections = [server.connect() for _ in range(3)]
        arm = side_by_side.Held(server)
        arm.stop()
        assert arm.held_by == means, arm.held_by
        print(*stopping.descendants(server.process.pid), flush=True)
        time.sleep(600)
"""
MEANS = [freezer.Freezer.NAME, "SIGSTOP"]


def start_and_kill(family, means, folder):
    """Kill a job that holds a server still, and its guard at the same time; returns the server's processes."""
    command = [sys.executable, "-c", HOLDER, family, means, str(folder)]
    with subprocess.Popen(command, cwd=CHECKOUT, env=environment(), stdout=subprocess.PIPE, text=True) as holder:
        pids = [int(word) for word in holder.stdout.readline().split()]
        kill_with_guard(holder.pid)
    return pids


def alive(pids):
    return [pid for pid in pids if not leftovers.has_ended(pid)]


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("family", installed.SERVERS)
def test_next_job_on_the_machine_ends_what_a_job_and_its_guard_left(family, means, capsys):
    if lost := installed.SERVERS[family].missing():
        pytest.skip(lost)
    if means == freezer.Freezer.NAME and freezer.own_folder() is None:
        pytest.skip("no cgroups of version 2 are mounted here")
    before, ledgers = watching.leftovers(), set(cache_path().glob("held-*"))
    with open_folder("guards-") as folder:
        pids = start_and_kill(family, means, folder)
    (leftover,) = leftovers.find()
    left = watching.leftovers() - before
    assert left
    # Backends of PostgreSQL never see the end of their server; MariaDB has one process, which dies with the job.
    wait_until(lambda: bool(alive(pids)) == (family == "postgresql"), seconds=10)
    (finding,) = check_leftovers()
    assert (finding.state, finding.fact) == ("warning", str(leftovers.find()[0]))
    assert all(str(folder) in finding.fact for folder in leftover.folders)
    with leftovers.hold_machine():
        pass
    assert f"process {leftover.owner.pid} of host" in capsys.readouterr().err
    assert alive(pids) == []
    assert watching.leftovers() - before == set()
    assert leftovers.find() == []
    assert set(cache_path().glob("held-*")) == ledgers
    assert next(check_leftovers()).state == "ok"


def test_job_that_ends_in_order_or_is_killed_alone_leaves_no_ledger(tmp_path):
    code = "import sys, os, pathlib; from scripts.lib.host import lifetime; held = pathlib.Path(sys.argv[1]);"
    code += "held.mkdir(); lifetime.remove_folder_at_death(held);"
    code += "print(lifetime._ledger[0].path, flush=True); os.kill(os.getpid(), int(sys.argv[2]))"
    for number in (0, signal.SIGKILL):
        command = [sys.executable, "-c", code, str(tmp_path / "held"), str(int(number))]
        said = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False).stdout
        ledger = Path(said.strip())
        assert ledger.name.startswith("held-")
        wait_until(lambda: not (tmp_path / "held").exists(), seconds=10)
        wait_until(lambda path=ledger: not path.exists(), seconds=10)
