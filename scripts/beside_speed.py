"""What a study shows beside its speedups, a sentence each, for the answer: statement pairs, ladders, sizes, traffic."""

from collections.abc import Iterator, Mapping
from typing import Any

from scripts.allocated_sizes import TABLES, AllocatedTable
from scripts.comparison import AA
from scripts.wording import listing

Study = Mapping[str, Any]


def sentences(study: Study, shown: Mapping[str, Any]) -> list[str]:
    """Return the sentences; `shown` holds the page's values of the sections that tell it in full."""
    pairs = [sentence for timed in shown["timed_sql"].values() for sentence in timed["against_sentences"]]
    sizes = [sentence for table in shown["allocated"] for sentence in _sizes(study, table)]
    held = [sentence for table in shown["ladders"] for sentence in table.sentences]
    return [*pairs, *held, *sizes, *shown.get("storage_sentences", ()), *map(_traffic, shown.get("network", ()))]


def _sizes(study: Study, table: AllocatedTable) -> Iterator[str]:
    """Compose what all tables of a variant take on disk, before and after, against the reference's."""
    column, arms = table.head.index(TABLES), {*study["variants"]} - {AA}
    taken: dict[str, list[str]] = {}
    for variant, when, cells in table.rows:
        if variant in arms and len(notes := cells[column].notes) > 1:
            taken.setdefault(variant, []).append(f"{notes[-1]} {when}")
    for variant, each in taken.items():
        yield f"{table.title}: disk space of {TABLES} of {variant} to that of {study['reference']}: {listing(each)}."


def _traffic(row: tuple[str, ...]) -> str:
    variant, workload, clients, to_packets, to_mbit, from_packets, from_mbit, *_ = row
    there, back = f"{to_packets} packets and {to_mbit} Mbit", f"{from_packets} packets and {from_mbit} Mbit"
    return f"{variant}, {workload}, {clients} clients: {there} a second went to the server, {back} came from it."
