"""What a process got of huge pages, asynchronous I/O and locked memory, from texts of /proc as kernels write them."""

import os

import pytest

from scripts.lib.host.machine_supplies import Got, Left, got_by, read_left

# PostgreSQL 15 with huge_pages=try (kernel 6.18), the lines about anonymous memory.
MAPS = """55d0c8a00000-55d0c8b30000 r--p 00000000 fe:00 1234                       /usr/lib/postgresql/15/bin/postgres
7f2a40000000-7f2a49000000 rw-s 00000000 00:0f 40976                      /anon_hugepage (deleted)
7f2a4a1f0000-7f2a4a1f1000 rw-s 00000000 00:01 1024                       /dev/zero (deleted)
7f2a4a1f2000-7f2a4a1f9000 rw-s 00000000 00:11 8                          /[aio] (deleted)
7f2a4a1f9000-7f2a4a200000 rw-s 00000000 00:11 9                          /[aio] (deleted)
"""
STATUS = "Name:\tpostgres\nVmLck:\t    2048 kB\nHugetlbPages:\t   {} kB\n"
MEMINFO = """MemTotal:       24683612 kB
HugePages_Total:     100
HugePages_Free:       90
HugePages_Rsvd:       60
HugePages_Surp:        0
Hugepagesize:       2048 kB
"""


def process(root, maps=MAPS, used_kib=4096, links=()):
    folder = root / "proc" / "77"
    (folder / "fd").mkdir(parents=True)
    (folder / "maps").write_text(maps)
    (folder / "status").write_text(STATUS.format(used_kib))
    for number, target in enumerate(links):
        (folder / "fd" / str(number)).symlink_to(target)
    return root


@pytest.mark.parametrize(
    ("maps", "used_kib", "mib"),
    [
        (MAPS, 4096, 144),
        ("7f00-8f00 rw-s 0 00:01 0 /SYSV00000000 (deleted)\n", 20480, 20),
        ("7f00-8f00 r-xp 0 0 0\n", 0, 0),
    ],
)
def test_huge_pages_are_those_mapped_or_those_in_use_where_the_mapping_has_no_name(tmp_path, maps, used_kib, mib):
    assert got_by(77, process(tmp_path, maps, used_kib)).huge_pages_mib == mib


def test_rings_of_both_kinds_of_asynchronous_io_are_counted(tmp_path):
    links = ["anon_inode:[io_uring]", "anon_inode:[eventpoll]", "/var/lib/data", "anon_inode:[io_uring]"]
    assert got_by(77, process(tmp_path, links=links)) == Got(144, 2, 2, 2)


def test_nothing_told_is_not_zero(tmp_path):
    assert got_by(77, tmp_path) == Got(None, None, None, None)
    (tmp_path / "proc" / "77" / "fd").mkdir(parents=True)
    (tmp_path / "proc" / "77" / "status").write_text("Name:\tx\n")
    (tmp_path / "proc" / "77" / "maps").write_text("7f00-8f00 r-xp 0 0 0\n")
    assert got_by(77, tmp_path) == Got(None, 0, 0, None)


def test_this_process_locked_nothing_and_has_no_ring():
    found = got_by(os.getpid())
    assert (found.aio_contexts, found.io_urings) == (0, 0)
    assert found.locked_mib is not None


def test_reserved_huge_pages_and_taken_slots_are_not_left(tmp_path):
    files = {"meminfo": MEMINFO, "sys/fs/aio-max-nr": "65536\n", "sys/fs/aio-nr": "60000\n"}
    for name, text in files.items():
        (tmp_path / "proc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc" / name).write_text(text)
    left = read_left(tmp_path)
    assert (left.huge_pages_mib, left.huge_page_mib, left.aio_slots) == (60, 2, 5536)


def test_kernel_that_tells_nothing_leaves_nothing_known(tmp_path):
    left = read_left(tmp_path)
    assert left == Left(lockable_mib=left.lockable_mib)
