"""What a server asks, by its options, of supplies that a whole machine shares: first come, first served."""

from dataclasses import dataclass
from enum import Enum, auto

from scripts.measure.servers.families.option_rules import Options, OptionValue

TRUE = ("true", "on", "1", "yes")
# Events that one thread for reading or writing may have under way (OS_AIO_N_PENDING_IOS_PER_THREAD, os0file.h).
EVENTS_PER_THREAD = 256
IO_THREADS = 4
# Before reading and writing came the threads of the change buffer and, up to 8.0, of the log.
OTHER_THREADS = 2


class HugePages(Enum):
    """How a server takes huge pages for its pool: not at all, where there are enough, or nothing else."""

    NOT = auto()
    WHERE_FREE = auto()
    ONLY = auto()


@dataclass(frozen=True)
class SupplyDemand:
    """Huge pages and locked memory are as large as the pool; `aio_slots` is the most that a server may ask for."""

    huge_pages: HugePages = HugePages.NOT
    aio_slots: int = 0
    locks_pool: bool = False


def asked_by_postgresql(options: Options) -> SupplyDemand:
    """Return the supplies of a server of PostgreSQL; its `huge_pages` is `try` by default."""
    value = _word(options.get("huge_pages", "try"))
    how = HugePages.ONLY if _is_true(value) else HugePages.WHERE_FREE if value == "try" else HugePages.NOT
    return SupplyDemand(huge_pages=how)


def asked_by_innodb(options: Options) -> SupplyDemand:
    """Return the supplies of a server of MySQL's line, which goes on without those that it does not get."""
    threads = sum(_number(options.get(f"innodb_{what}_io_threads", ""), IO_THREADS) for what in ("read", "write"))
    native = _is_true(options.get("innodb_use_native_aio", True))
    return SupplyDemand(
        huge_pages=HugePages.WHERE_FREE if _is_true(options.get("large_pages", False)) else HugePages.NOT,
        aio_slots=(threads + OTHER_THREADS) * EVENTS_PER_THREAD if native else 0,
        locks_pool=_is_true(options.get("memlock", False)),
    )


def _is_true(value: OptionValue) -> bool:
    return _word(value) in TRUE


def _word(value: OptionValue) -> str:
    return str(value).strip().lower()


def _number(value: OptionValue, default: int) -> int:
    return int(value) if _word(value).isdecimal() else default
