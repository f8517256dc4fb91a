"""How long an fsync takes on a storage is measured there, recorded, and set beside the results."""

import os
from pathlib import Path

import pytest

from scripts.lib.host import storage
from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis.run_tables import collect
from scripts.report.page import machine_section
from tests.made import synthetic
from tests.made.run import records_of

DISK, MEMORY = {"min": 0.9, "p50": 1.5, "p95": 2.0, "max": 9.0}, {"min": 0.00045, "p50": 0.02, "p95": 0.03, "max": 0.4}


def test_times_are_those_of_fsync_after_a_write_and_nothing_is_left(tmp_path, monkeypatch):
    calls, real = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: calls.append(os.fstat(number).st_size) or real(number))
    taken_ms = storage.fsync_times_ms(tmp_path)
    assert storage.LEAST_FSYNCS <= len(taken_ms) <= storage.MOST_FSYNCS
    assert calls == [storage.FILE_BYTES] * (1 + len(taken_ms))
    assert min(taken_ms) > 0
    assert list(tmp_path.iterdir()) == []


def test_slow_storage_ends_the_calls_early_and_never_before_the_least(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda number: storage.time.sleep(0.02))
    taken_ms = storage.fsync_times_ms(tmp_path)
    assert len(taken_ms) == storage.LEAST_FSYNCS
    assert min(taken_ms) >= 20


def test_facts_are_in_order_and_name_the_file_system(tmp_path):
    facts = storage.fsync_facts(tmp_path)
    assert list(facts["fsync_ms"].values()) == sorted(facts["fsync_ms"].values())
    assert facts["medium"]["fsyncs"] >= storage.LEAST_FSYNCS
    mounts = Path("/proc/self/mountinfo").read_text()
    assert f" - {facts['medium']['file_system']} " in mounts
    assert facts["medium"]["mount_options"].startswith(("rw", "ro"))


def test_memory_has_a_file_system_and_no_device():
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("/dev/shm cannot be written to")
    facts = storage.fsync_facts(Path("/dev/shm"))
    assert (facts["medium"]["file_system"], facts["medium"]["device"]) == ("tmpfs", None)


def made(repetitions=5):
    """A study on a disk and in memory: a transaction of 4 ms, 2.5 ms less in memory, and fsync as above."""
    plan = synthetic.Plan(variants={"disk": 0, "aa": 0, "memory": 0}, workloads=("oltp",), repetitions=repetitions)
    study, found = synthetic.study(plan), []
    study["variants"]["memory"]["storage"] = "shm"
    for facts in synthetic.runs(plan):
        there = facts["variant"] == "memory"
        facts["window"]["latency_mean_ms"] = (1.5 if there else 4.0) + facts["repetition"] / 10
        facts |= {"fsync_ms": MEMORY if there else DISK, "storage": "/dev/shm/x" if there else "/data"}
        facts["medium"] = {
            "file_system": "tmpfs" if there else "ext4",
            "mount_options": "rw,size=1g" if there else "rw,relatime,barrier=0",
            "device": None if there else "vda",
            "fsyncs": 99,
        }
        found.append(facts)
    return study, found


def texts_of(rows):
    return [tuple(cell.text for cell in row.cells) for row in rows]


def test_page_has_a_row_a_storage_and_says_what_of_the_difference_an_fsync_is():
    study, records = made()
    records = records_of(records)
    study = ResolvedStudy.of(study)
    runs, _ = collect(study, records)
    text, table, sentences = machine_section.storage_section(study, runs, records).blocks
    assert "fsync" in text.text
    assert texts_of(table.rows) == [
        ("disk", "disk (/data)", "ext4", "rw,relatime,barrier=0", "vda", "0.900", "1.50", "2.00", "9.00", "5"),
        ("memory", "shm (/dev/shm/x)", "tmpfs", "rw,size=1g", "–", "0.00045", "0.020", "0.030", "0.400", "5"),
    ]
    (sentence,) = sentences.texts
    assert sentence == (
        "oltp with 8 clients: on memory a transaction took 2.50 ms less (interval 2.50 to 2.50) than on disk, an fsync "
        "1.48 ms less (interval 1.48 to 1.48); 5 blocks."
    )


def test_published_times_stand_below_ours():
    study, records = made()
    rows = [("fsync_min_ms", "nvme", 0.194), ("fsync_max_ms", "nvme", 0.224), ("fsync_max_ms", "tape", 800.0)]
    keys = ("metric", "variant", "value")
    own = [{**dict(zip(keys, row, strict=True)), "workload": "oltp", "clients": 1} for row in rows]
    study["published"] = {"source": "somewhere", "rows": own}
    records = records_of(records)
    study = ResolvedStudy.of(study)
    runs, _ = collect(study, records)
    _, table, _ = machine_section.storage_section(study, runs, records).blocks
    assert texts_of(table.rows)[2:] == [
        ("published: nvme", "–", "–", "–", "–", "0.194", "–", "–", "0.224", "–"),
        ("published: tape", "–", "–", "–", "–", "–", "–", "–", "800", "–"),
    ]


@pytest.mark.parametrize("lacking", ["storage", "fsync_ms"])
def test_study_without_storages_or_with_runs_of_an_older_release_has_no_such_section(lacking):
    study, records = made(2)
    if lacking == "storage":
        for variant in study["variants"].values():
            variant.pop("storage")
    for facts in records:
        facts.pop(lacking)
    records = records_of(records)
    study = ResolvedStudy.of(study)
    runs, _ = collect(study, records)
    assert machine_section.storage_section(study, runs, records) is None
