"""What real servers got of huge pages and asynchronous I/O, while the machine had huge pages for one of two only."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.lib.host.machine_supplies import got_by, read_left
from scripts.measure.servers.server import running
from tests.endtoend import installed, installed_postgresql

pytestmark = pytest.mark.real
PAGES = Path("/proc/sys/vm/nr_hugepages")
POOL_MIB = 32


@contextlib.contextmanager
def huge_pages(mib: float) -> Iterator[None]:
    """Have so many MiB of huge pages more for the body; skip the test where that cannot be."""
    before, size_mib = PAGES.read_text().strip(), read_left().huge_page_mib
    if os.getuid() != 0 or not size_mib:
        pytest.skip("only root sets huge pages")
    try:
        with contextlib.suppress(OSError):
            PAGES.write_text(str(int(before) + int(mib / size_mib)))
        if read_left().huge_pages_mib < mib:
            pytest.skip(f"this machine has no {mib} MiB of huge pages to give")
        yield
    finally:
        PAGES.write_text(before)


@pytest.mark.skipif(bool(installed_postgresql.missing()), reason=installed_postgresql.missing() or "-")
def test_second_server_of_postgresql_goes_without_huge_pages_and_both_are_told_apart():
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        ready = [enter(installed.initialised("supplies-", "postgresql")) for _ in range(2)]
        enter(huge_pages(1.5 * POOL_MIB))
        got = []
        for number, one in enumerate(ready):
            options = {**one.options, "shared_buffers": f"{POOL_MIB}MB", "huge_pages": "try"}
            server = enter(running(one.family, one.install, one.data, options, one.folder / f"{number}.log"))
            got.append(got_by(server.process.pid))
    assert got[0].huge_pages_mib >= POOL_MIB
    assert got[1].huge_pages_mib == 0
    assert [one.aio_contexts for one in got] == [0, 0]


@pytest.mark.parametrize("native", [True, False])
def test_innodb_has_asynchronous_io_unless_it_is_switched_off(native):
    with installed.initialised("supplies-", "mariadb") as one:
        options = {**one.options, "innodb_use_native_aio": native}
        with running(one.family, one.install, one.data, options, one.folder / "server.log") as server:
            got = got_by(server.process.pid)
    assert (got.aio_contexts + got.io_urings > 0) is native
