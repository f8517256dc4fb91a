"""A disk fills up in each phase: the message names it, nothing half is kept, and with room the same command goes on."""

import contextlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.endtoend import installed_mariadb
from tests.endtoend.watching import leftovers
from tests.faults.interrupting import STUDY, TABLE, Struck

MISSING = installed_mariadb.missing() or ("" if os.getuid() == 0 else "only root can mount a small disk")
pytestmark = [pytest.mark.real, pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")]
MARIA = {
    **STUDY,
    "variants": {"maria": {**STUDY["variants"]["maria"], "storage": "small"}},
}
# what lies on the small disk, its size, and what is not there afterwards
DISKS = {
    "pack": ("results/datasets", "4M", "datasets/*/*/dataset.json"),
    "clone": ("storage", "4M", "studies/*/runs/*/*/*/*.json"),
    "start": ("storage", "24M", "studies/*/runs/*/*/*/*.json"),
    "record": ("results/studies", "16k", "studies/*/runs/*/*/*/*.json"),
}


@contextlib.contextmanager
def small_disk(folder, size):
    """Have a small disk mounted on a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "small", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def study():
    with tempfile.TemporaryDirectory(prefix="struck-disk-", dir="/var/tmp") as name:
        made = Struck(Path(name))
        made.folder.chmod(0o755)
        (made.folder / "storage").mkdir()
        made.configure({**MARIA, "storage": {"small": str(made.folder / "storage")}})
        yield made


@pytest.mark.parametrize("phase", DISKS)
def test_full_disk_stops_the_study_in_words_and_costs_only_the_step(study, phase):
    place, size, made = DISKS[phase]
    before = leftovers()
    with small_disk(study.folder / place, size):
        answer = study.finish(TABLE)
        assert answer.status != 0, answer.text
        assert re.search(r"No space left on device|failed with error 28", answer.text), answer.text
        assert study.files(made) == []
        subprocess.run(["mount", "-o", "remount,size=1G", study.folder / place], check=True)
        assert leftovers() == before
        again = study.finish(TABLE)
        assert again.status == 0, again.text
        assert len(study.files("studies/*/runs/*/*/*/*.json")) == 2
