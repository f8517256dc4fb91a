"""Supplies that not all servers of a block would get are told by the plan, for all arms together."""

import pytest

from scripts.lib.host.machine_supplies import Left
from scripts.measure.servers import families
from scripts.study.plan.preview.supply_checks import Asking, supply_limits

ARMS = ("baseline", "aa", "pgo")


def asking(family, arms=ARMS, pool_mib=128, **options):
    asked = families.of(family)
    return [Asking(arm, asked.supplies(options), pool_mib, asked.HUGE_PAGES_OPTION) for arm in arms]


def found(group, **left):
    return list(supply_limits([group, group], Left(huge_page_mib=2, **left)))


def test_huge_pages_for_some_servers_only_are_a_limit_of_all_arms_together():
    (limit,) = found(asking("postgresql"), huge_pages_mib=300)
    assert limit.text == (
        "huge pages: 300 MiB are left, about 588 MiB are asked for by 3 servers at the same time (baseline, aa, "
        "pgo); some servers of a block would get them, others not"
    )
    assert limit.remedy == "`sysctl vm.nr_hugepages=294` beyond those in use, or `huge_pages: false` under `options`"
    assert (limit.certain, limit.refused) == (False, False)


def test_huge_pages_for_the_pools_alone_may_not_suffice():
    (limit,) = found(asking("postgresql", huge_pages="on"), huge_pages_mib=400)
    assert (limit.certain, limit.refused) == (False, False)


@pytest.mark.parametrize("left_mib", [0, 588, None])
def test_huge_pages_for_all_or_for_nobody_are_no_limit(left_mib):
    assert found(asking("postgresql"), huge_pages_mib=left_mib) == []


@pytest.mark.parametrize("value", [False, "off"])
def test_server_that_asks_for_none_has_no_limit(value):
    assert found(asking("postgresql", huge_pages=value), huge_pages_mib=300) == []
    assert found(asking("mariadb"), huge_pages_mib=300) == []


def test_server_that_does_not_start_without_huge_pages_refuses_the_study():
    needing = asking("postgresql", ["pgo"], huge_pages="on")
    (limit,) = found([*asking("postgresql", ["baseline"], huge_pages=False), *needing], huge_pages_mib=0)
    assert limit.text.endswith("by 1 server at the same time (pgo); does not start: pgo")
    assert (limit.certain, limit.refused) == (True, True)


def test_large_pages_of_innodb_count_too():
    (limit,) = found(asking("mariadb", large_pages=True), huge_pages_mib=300)
    assert "`large_pages: false`" in limit.remedy


def test_slots_of_asynchronous_io_are_counted_for_all_arms():
    # Eight threads for reading and writing by default, and two others, with 256 events each.
    (limit,) = found(asking("mysql"), aio_slots=7000)
    assert "7000 slots (fs.aio-max-nr) are left, up to 7680 may be asked for by 3 servers" in limit.text
    assert (
        found(asking("mysql"), aio_slots=7680) == found(asking("mysql", innodb_use_native_aio=False), aio_slots=0) == []
    )
    (limit,) = found(asking("mysql", innodb_read_io_threads="16"), aio_slots=7680)
    assert "up to 16896" in limit.text


def test_pool_to_be_locked_beyond_the_limit_of_a_process_is_told():
    (limit,) = found(asking("mysql", ["pgo"], memlock=True), lockable_mib=8)
    assert "a process may lock 8 MiB (`ulimit -l`), pools of up to 128 MiB are to be locked" in limit.text
    assert found(asking("mysql", memlock=True), lockable_mib=None) == []
