"""A disk fills up in each phase: told, nothing half is kept, with room the same command goes on. For `make faults`."""

import contextlib
import os
import re
import subprocess
import time

import pytest

from scripts.lib.host import workplace
from scripts.lib.json_record import file_sha256
from tests.endtoend import installed_mariadb
from tests.endtoend.folders import open_folder
from tests.endtoend.short_study import short
from tests.endtoend.watching import leftovers
from tests.faults.interrupting import REPORT, STUDY, TABLE, Struck, demand_no_leftovers
from tests.faults.scale import WHOLE
from tests.workflow.running import Answer, command_line, environment

MISSING = installed_mariadb.missing() or ("" if os.getuid() == 0 else "only root can mount a small disk")
pytestmark = [pytest.mark.real, pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")]
MARIA = {
    **STUDY,
    "variants": {"maria": {**STUDY["variants"]["maria"], "storage": "small"}},
    "repetitions": 1,
}
FULL = r"No space left on device|failed with error 28|The table '\w+' is full|\b0 MiB are free"
BLOCKS = "studies/*/blocks/*/*/*/*/block.json"
# what lies on the small disk, its size, the workload, and what is not there afterwards
DISKS = {
    "pack": ("results/datasets", "4M", "simple_select", "datasets/*/*/dataset.json"),
    "clone": ("storage", "4M", "simple_select", BLOCKS),
    "start": ("storage", "48M", "simple_select", BLOCKS),
    "measure": ("storage", "128M", "bulk_insert", BLOCKS),
    "record": ("results/studies", "16k", "simple_select", BLOCKS),
}
# how much is free, in KiB
REPORTS = {"collect": 4, "plot": 64}
long = pytest.mark.skipif(not WHOLE, reason="long: make faults tries it")
# The cache is everybody's, so the small one lies over it in a mount namespace of this command's own.
IN_SMALL_CACHE = """
mount -t tmpfs -o size="$1",mode=755 small "$2" || exit 99
cache=$2; shift 2
"$@"; status=$?
find "$cache/data" "$cache"/build* -mindepth 1 -maxdepth 1 ! -name '*.lock' -printf 'left behind: %p\\n' 2>/dev/null
exit $status
"""


@contextlib.contextmanager
def small_disk(folder, size):
    """Have a small disk mounted on a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "small", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def enlarge(folder):
    subprocess.run(["mount", "-o", "remount,size=1G", folder], check=True)


def fill_up(folder, free_kib):
    """Leave so much room; returns the file that takes the rest."""
    filler, room = folder / "filler", os.statvfs(folder)
    subprocess.run(["fallocate", "-l", str(room.f_bavail * room.f_frsize - free_kib * 1024), filler], check=True)
    return filler


def with_small_cache(study, size, target, *flags):
    """Return Snakemake's answer where the cache folder has a small disk of its own, which ends with the command."""
    shell = ["unshare", "--mount", "--propagation", "private", "sh", "-c", IN_SMALL_CACHE, "sh", size]
    command = command_line(study.folder, "--cores", "2", "--configfile", study.config, *flags, "--", target)
    done = subprocess.run(
        [*shell, workplace.cache_directory(), *command],
        cwd=study.folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout)


def demand_full(answer):
    assert answer.status not in (0, 99), answer.text
    assert re.search(FULL, answer.text), answer.text
    assert "left behind" not in answer.text


@pytest.fixture
def study():
    with open_folder("struck-disk-") as folder:
        made = Struck(folder)
        (made.folder / "storage").mkdir()
        made.configure({**MARIA, "storage": {"small": str(made.folder / "storage")}})
        yield made


@long
@pytest.mark.parametrize("phase", DISKS)
def test_full_disk_stops_the_study_in_words_and_costs_only_the_step(study, phase):
    place, size, workload, made = DISKS[phase]
    study.configure({**MARIA, "storage": {"small": str(study.folder / "storage")}, "workloads": {workload: None}})
    before, since_s = leftovers(), time.time()
    with small_disk(study.folder / place, size):
        demand_full(study.finish(TABLE))
        assert study.files(made) == []
        enlarge(study.folder / place)
        demand_no_leftovers(before, since_s)
        again = study.finish(TABLE)
        assert again.status == 0, again.text
        assert [sorted(block["arms"]) for block in study.blocks().values()] == [["aa", "maria"]]


@long
@pytest.mark.parametrize("phase", REPORTS)
def test_full_disk_while_the_report_is_made_costs_no_run(study, phase):
    place = study.folder / "results" / "studies"
    with small_disk(place, "1G"):
        answer = study.finish(REPORT)
        assert answer.status == 0, answer.text
        wanted, kept = study.forget_report(), study.digests()
        filler = fill_up(place, REPORTS[phase])
        demand_full(study.finish(REPORT))
        filler.unlink()
        again = study.finish(REPORT)
        assert again.status == 0, again.text
        assert "rule measure_block:" not in again.text
        assert {path: file_sha256(path) for path in wanted} == wanted
        assert study.digests() == kept


@long
@pytest.mark.parametrize("size", ["24M", "72M"], ids=["initialise", "load"])
def test_cache_that_is_full_while_a_dataset_is_loaded_leaves_no_dataset(study, size):
    study.configure({**STUDY, "datasets": {"sbtest": {"tables": 2, "rows": 100000}}})
    demand_full(with_small_cache(study, size, TABLE))
    assert study.files("datasets/*/maria*/dataset.json") == []
    again = study.finish(TABLE)
    assert again.status == 0, again.text


@long
def test_disk_that_is_full_while_a_server_is_made_costs_only_the_step(study):
    study.configure(short())
    sources, target = study.folder / "results" / "sources", "results/studies/short/prepared.txt"
    with small_disk(sources, "4M"):
        demand_full(study.finish(target))
        subprocess.run(["mount", "-o", "remount,size=60M", sources], check=True)
        demand_full(study.finish(target))
        assert study.files("sources/*/source.json") == []
        enlarge(sources)
        demand_full(with_small_cache(study, "24M", target))
        assert len(study.files("sources/*/source.json")) == 1
        assert study.files("builds/*/*/identity.json") == []
        built = with_small_cache(study, "2G", target, "--omit-from", "train_server")
        assert built.status == 0, built.text
        demand_full(with_small_cache(study, "16M", target))
        assert study.files("profiles/*/*/profile.json") == []
        again = study.finish(target)
        assert again.status == 0, again.text
        assert "left behind" not in built.text
        assert again.text.count("rule build_server:") == 1
