"""What the plan says of a made-up results folder after an edit: what is to be made, and why."""

import hashlib
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from scripts.build.compilation import toolchain
from scripts.lib import json_record
from scripts.lib.host import locks
from scripts.study.plan.preview import plan_text as preview_text
from tests.made import results as made_results
from tests.made.studies import CHECKOUT, SMALL, paths

SERVER = "postgresql-15"
VARIANTS = SMALL["variants"]
MIXED = {"workloads": ["simple_select", "index_update", "oltp"], "clients": 4, "seconds": 20}
ROWS = {"datasets": {"sbtest": {"tables": 4, "rows": 7}}}
MEMORY = {"options": {"work_mem": "8MB"}}
MEASURED_MEMORY = {**MEMORY, "trainings": {"mixed": {**MIXED, "options": {}}}}
CHECKSUMS = {"options": {"data_checksums": True}}
LONGER = {"trainings": {"mixed": {**MIXED, "seconds": 30}}}
FLAGS = {"builds": {"pgo": {"profile": "mixed", "flags": "-O3"}}}
VERSION = {"servers": {SERVER: {"version": "15.9"}}}
BESIDE = "12 runs of baseline, aa: measured again beside the others of their blocks"
FASTER = {**VARIANTS, "faster": {"server": SERVER, "build": "pgo", **MEMORY}}
OLTP = yaml.safe_load((CHECKOUT / "catalog" / "workloads.yaml").read_text())["workloads"]["oltp"]
RANGES = {**OLTP, "options": {**OLTP["options"], "range_size": 11}}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planned(made):
    """Return phase -> (things to make, things in all, lines of reasons) of a plan."""
    found, phase = {}, None
    for line in preview_text.plan_text(made, cores=1).splitlines():
        if line.startswith("  blocks"):
            phase = None
        elif row := re.match(r"  (\w+) +(\d+) of (\d+) ", line):
            phase = row[1]
            found[phase] = (int(row[2]), int(row[3]), [])
        elif line.startswith(" " * 12) and phase:
            found[phase][2].append(line.strip())
    return found


def after(edit, **before):
    """Return what is planned when a finished study is edited."""
    made_results.finish(paths(**before))
    return planned(paths(**{**before, **edit}))


def said_of_turns(**edit):
    return [line.strip() for line in preview_text.plan_text(paths(**edit), cores=1).splitlines() if "by turns" in line]


def test_plan_says_that_blocks_bound_by_a_disk_go_by_turns_and_how_long_that_takes():
    (line,) = said_of_turns()
    # 6 blocks of 3 arms, each a window of 20 s, and two starts with a warm-up of 2 s and 5 s for the rest.
    assert line == (
        "by turns where the reference, warming up, exceeds one of: 100 fsyncs, 100 commits synced to the binary log, "
        "100 pool misses, 64 MiB written per second; all of them: about 10 min"
    )
    assert said_of_turns(turn_s=60)[0].endswith("all of them: about 22 min")
    assert said_of_turns(together=6) == []


def test_everything_is_new_in_an_empty_folder():
    found = planned(paths())
    counts = {phase: line[:2] for phase, line in found.items()}
    assert counts == {
        "fetch": (1, 1),
        "compile": (3, 3),
        "train": (1, 1),
        "load": (1, 1),
        "check": (4, 4),
        "measure": (18, 18),
    }
    assert found["measure"][2] == ["18 runs: new"]
    assert found["compile"][2] == [f"{SERVER} instrumented_gcc-12, baseline, pgo: new"]


@pytest.mark.parametrize(
    ("server", "text"),
    [
        ({"archive_mib": 430}, r"about \d\.\d h, estimated from the size of the sources"),
        ({}, r"about \d\.\d h, estimated from the size of the sources"),
        ({"sources": [{"file": "mysql-5.6.51.tar.gz"}]}, r"about (28|29) min, estimated from the size of the sources"),
        ({"compile_cpu_minutes": 10}, r"about 33 min, a stated estimate"),
    ],
    ids=["archive in the catalog", "family", "archive on disk", "minutes in the catalog"],
)
def test_compile_without_stated_minutes_is_estimated_from_the_size_of_the_sources(results, server, text):
    with (results / "mysql-5.6.51.tar.gz").open("wb") as archive:
        archive.truncate(29 * 2**20)
    own = {"family": "mysql", "product": "MySQL", "version": "8.0.36", "sources": [{"debian": "mysql"}]} | server
    if "file" in own["sources"][0]:
        own["sources"] = [{"file": str(results / own["sources"][0]["file"])}]
    variants = {name: {"server": "mine", "build": name} for name in ("baseline", "pgo")}
    made = preview_text.plan_text(paths(servers={"mine": own}, variants=variants), cores=1)
    assert re.search(rf"  compile +3 of 3 +{text}", made)


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        ({"sql": "add-column.sql", "dataset": "sbtest"}, True),
        ({"script": "oltp_read_only", "dataset": "sbtest"}, False),
    ],
)
def test_stated_time_of_measuring_says_that_timed_statements_are_left_out(workload, said):
    made = preview_text.plan_text(paths(workloads={"asked": workload}, clients=[1]), cores=1)
    (measure,) = re.findall(r"^  measure .*", made, re.MULTILINE)
    assert measure.endswith("a stated estimate" + ", without the time of the statements" * said)


@pytest.mark.parametrize("cloned", [True, False])
def test_copying_of_snapshots_is_part_of_the_time_where_blocks_are_not_cloned(monkeypatch, cloned):
    monkeypatch.setattr(preview_text.storage, "can_reflink", lambda *_: cloned)
    said = preview_text.plan_text(paths(), cores=2)
    assert bool(re.search(r"^  time .*, copying snapshots about [\d.]+ \w+, the rest", said, re.M)) is not cloned


def test_finished_study_is_one_line():
    made_results.finish(paths())
    lines = preview_text.plan_text(paths(), cores=1).rstrip().splitlines()
    assert len(lines) == 2
    assert "nothing to make or measure: 18 runs and the report are there" in lines[1]


# edit -> phase -> (how many are made, the reason of the first of them)
EDITS = {
    "measure_s": ({"measure_s": 8}, {"measure": (18, "load.measure_s: 5 → 8")}),
    "campaign": ({"campaign": 2}, {"measure": (18, "load.campaign: 1 → 2")}),
    "placement": (
        {"placement": {"server": "0", "client": "1"}},
        {"measure": (18, "load.placement: automatic → server: 0, client: 1")},
    ),
    "client": ({"client": {"ssh": "loadgen"}}, {"measure": (18, "load.client.ssh: nothing → loadgen")}),
    "option": (
        MEMORY,
        {"train": (1, "options.work_mem: nothing → 8MB"), "measure": (18, "options.work_mem: nothing → 8MB")},
    ),
    "option of runs alone": (MEASURED_MEMORY, {"measure": (18, "options.work_mem: nothing → 8MB")}),
    "option of a variant": (
        {"variants": {**VARIANTS, "pgo": {**VARIANTS["pgo"], **MEMORY}}},
        {"measure": (18, "options.work_mem: nothing → 8MB")},
    ),
    "option of the data": (
        CHECKSUMS,
        {
            "load": (1, "options.data_checksums: nothing → true"),
            "measure": (18, "options.data_checksums: nothing → true"),
        },
    ),
    "workload": (
        {"workloads": {"simple_select": None, "oltp": RANGES}},
        {
            "train": (1, "workloads.oltp.options.range_size: 10 → 11"),
            "measure": (18, "load.options.range_size: 10 → 11"),
        },
    ),
    "new workload": ({"workloads": {**SMALL["workloads"], "index_update": None}}, {"measure": (9, "new")}),
    "repetitions": ({"repetitions": 5}, {"measure": (12, "new: more repetitions")}),
    "clients": ({"clients": [8, 64]}, {"measure": (18, "new: 64 clients")}),
    "new variant": ({"variants": FASTER}, {"measure": (18, "new")}),
    "rows": (
        ROWS,
        {
            "compile": (1, "profile.workloads.simple_select.tables.rows: 100000 → 7"),
            "train": (1, "workloads.simple_select.tables.rows: 100000 → 7"),
            "load": (1, "tables.rows: 100000 → 7"),
            "measure": (18, "load.tables.rows: 100000 → 7"),
        },
    ),
    "a variant's data": (
        {"variants": {**VARIANTS, "pgo": {**VARIANTS["pgo"], "data": {"rows": 7, "options": {"secondary": True}}}}},
        {
            "load": (1, "tables.rows: 100000 → 7; tables.options.secondary: nothing → true"),
            "measure": (18, "load.tables.rows: 100000 → 7; load.tables.options.secondary: nothing → true"),
        },
    ),
    "training": (
        LONGER,
        {
            "compile": (1, "profile.seconds: 20 → 30"),
            "train": (1, "seconds: 20 → 30"),
            "measure": (18, "build.profile.seconds: 20 → 30"),
        },
    ),
    "loads of the training": (
        {"trainings": {"mixed": {**MIXED, "workloads": ["oltp"]}}},
        {"train": (1, "workloads: simple_select index_update oltp → oltp")},
    ),
    "build of a variant": (
        {"variants": {**VARIANTS, "pgo": {"server": SERVER, "build": "baseline"}}},
        {"measure": (18, "build: pgo → baseline")},
    ),
    "flag": (
        FLAGS,
        {
            "train": (1, "instrumented.name: instrumented_gcc-12 → instrumented_gcc-12_4f708b"),
            "measure": (
                18,
                "build.flags: nothing → -O3; "
                "build.profile.instrumented.name: instrumented_gcc-12 → instrumented_gcc-12_4f708b",
            ),
        },
    ),
    "sources": (
        VERSION,
        {
            "fetch": (1, "source.version: 15 → 15.9"),
            "compile": (3, "source.version: 15 → 15.9"),
            "measure": (18, "build.source.version: 15 → 15.9"),
        },
    ),
}


@pytest.mark.parametrize(("edit", "wanted"), EDITS.values(), ids=EDITS)
def test_edit_of_a_finished_study_is_named_as_the_reason(edit, wanted):
    found = after(edit)
    for phase, (count, reason) in wanted.items():
        assert found[phase][0] == count
        assert any(line.endswith(f": {reason}") for line in found[phase][2]), found[phase]


def test_profile_of_one_tool_is_not_compared_with_that_of_another():
    arms = {**VARIANTS, "bolted": {"server": SERVER, "build": "pgo_bolt"}}
    found = after(LONGER, variants=arms)
    assert found["train"][2] == [f"{SERVER} mixed: seconds: 20 → 30"]
    assert found["train"][0] == 2


def test_first_profile_of_bolt_is_new_beside_those_of_gcc():
    arms = {**VARIANTS, "bolted": {"server": SERVER, "build": "pgo_bolt"}}
    assert after({"variants": arms})["train"] == (1, 2, [f"{SERVER} mixed: new"])


def test_build_that_loses_bolt_says_so():
    arms = {**VARIANTS, "bolted": {"server": SERVER, "build": "own"}}
    bolted = {"variants": arms, "builds": {"own": {"profile": "mixed", "bolt": "mixed"}}}
    found = after({"builds": {"own": {"profile": "mixed"}}}, **bolted)
    beside, line = found["measure"][2]
    assert beside == BESIDE
    assert line.startswith("6 runs of bolted: build.stage: bolted → optimised; ")
    assert line.endswith(" more differences")


@pytest.mark.parametrize("edit", [MEASURED_MEMORY, {"campaign": 2}, {"repetitions": 5}, {"clients": [8, 64]}], ids=str)
def test_edit_of_measuring_plans_nothing_but_runs(edit):
    assert set(after(edit)) == {"measure"}


def test_flag_makes_the_build_because_of_the_flag_and_its_stage_anew():
    lines = after(FLAGS)["compile"][2]
    assert any(line.startswith(f"{SERVER} pgo: flags: nothing → -O3; ") for line in lines)
    assert [line for line in lines if re.fullmatch(rf"{SERVER} instrumented_gcc-12_\w+: new", line)]


def test_root_of_a_chain_is_named_and_not_the_links():
    for line in [line for phase in after(LONGER, variants=FASTER).values() for line in phase[2]]:
        assert line == BESIDE or line.endswith("seconds: 20 → 30")


def test_of_several_earlier_versions_the_most_similar_is_compared():
    made_results.finish(paths(**MEMORY, measure_s=9, warmup_s=9))
    made_results.finish(paths(measure_s=4))
    assert planned(paths())["measure"][2] == ["18 runs: load.measure_s: 4 → 5"]


def test_going_back_to_an_earlier_config_makes_nothing():
    made_results.finish(paths())
    made_results.finish(paths(**ROWS))
    assert planned(paths()) == {}


def test_compiler_of_another_version_is_the_reason_of_what_it_compiles(monkeypatch):
    made_results.finish(paths())
    known = paths().plan.toolchain("gcc-12").version
    monkeypatch.setattr(toolchain, "_version", lambda kind, commands: "12.9.9")
    found = planned(paths())
    reason = f"toolchain.version: {known} → 12.9.9"
    assert found["compile"][2] == [f"{SERVER} instrumented_gcc-12, baseline, pgo: {reason}"]
    assert found["measure"][2] == [f"18 runs: build.{reason}"]


def test_edit_of_our_lua_is_named(tmp_path):
    for folder in ("catalog", "rules", "workloads"):
        shutil.copytree(CHECKOUT / folder, tmp_path / "copy" / folder)
    script = tmp_path / "copy" / "workloads" / "ours.lua"
    loads = {"workloads": {"ours": {"script": "ours.lua", "dataset": "sbtest"}}}
    script.write_text("return 1")
    made_results.finish(paths(tmp_path / "copy", **loads))
    script.write_text("return 2")
    old, new = (hashlib.sha256(text).hexdigest()[:12] for text in (b"return 1", b"return 2"))
    assert planned(paths(tmp_path / "copy", **loads))["measure"][2] == [f"9 runs: load.content: {old} → {new}"]


def test_what_older_releases_did_not_record_is_said_not_to_be_known():
    made_results.finish(paths(), told=False)
    untold = "another version exists; what differs was not recorded"
    assert planned(paths(**LONGER))["train"][2] == [f"{SERVER} mixed: {untold}"]
    assert planned(paths(**LONGER))["measure"][2] == [
        BESIDE,
        "6 runs of pgo: build: differs, and the recipe of the earlier one was not recorded",
    ]


def test_log_without_a_result_is_named():
    made = paths()
    made_results.finish(made)
    folder = made.build(SERVER, "pgo")
    shutil.rmtree(folder)
    log = f"results/logs/build_server/{SERVER}/{Path(folder).name}.log"
    Path(log).parent.mkdir(parents=True)
    Path(log).touch()
    Path(made.study, "report.html").unlink()
    failed = f"failed, was interrupted or removed before: {log}"
    found = planned(paths())
    assert found["compile"][2] == [f"{SERVER} pgo: {failed}"]
    assert "measure" not in found, "what is measured stays measured"


@pytest.mark.parametrize("holder", [None, os.getpid(), 4242], ids=["nobody", "this one", "another"])
def test_another_snakemake_that_works_in_the_checkout_is_named(monkeypatch, holder):
    monkeypatch.setattr(locks, "checkout_holder", lambda folder: holder)
    running = [line for line in preview_text.plan_text(paths(), cores=1).splitlines() if line.startswith("  running")]
    assert ["process 4242 works here now" in line for line in running] == [True] * (holder == 4242)


def test_block_that_failed_before_is_told_apart_from_new_ones():
    made = paths()
    made_results.finish(made)
    lost = made.blocks[-1]
    shutil.rmtree(lost.folder)
    log = lost.folder.replace(f"{made.study}/blocks", "results/logs/measure_block/small") + ".log"
    Path(log).parent.mkdir(parents=True)
    Path(log).touch()
    lines = planned(paths(repetitions=4))["measure"][2]
    assert f"3 runs under {lost.key.workload}: failed, was interrupted or removed before: {log}" in lines
    assert "6 runs: new: more repetitions" in lines


def test_build_that_failed_and_may_fail_is_shown_and_not_planned():
    made = paths()
    made_results.finish(made)
    identity = f"{made.build(SERVER, 'pgo')}/identity.json"
    made_results.write(identity, {"outcome": "failed", "reason": "no"})
    text = preview_text.plan_text(paths(), cores=1)
    assert f"failed    {SERVER} pgo: not tried again unless `make retry` removes it" in text
    assert planned(paths()) == {}


def test_missing_report_alone_is_written_and_nothing_else():
    made_results.finish(paths())
    Path(paths().study, "report.html").unlink()
    assert planned(paths()) == {}
    assert "report    results/studies/small/report.html" in preview_text.plan_text(paths(), cores=1)


def test_plan_writes_nothing(results):
    preview_text.plan_text(paths(), cores=1)
    assert list(results.iterdir()) == []


def is_of_an_arm(path):
    return "/blocks/" in str(path) and path.name != "block.json"


def test_records_read_do_not_grow_with_the_runs(monkeypatch):
    genuine, read = json_record.read, []
    monkeypatch.setattr(json_record, "read", lambda path: read.append(is_of_an_arm(path)) or genuine(path))
    seen = []
    for repetitions in (3, 40):
        study = {"study": f"runs_{repetitions}", "repetitions": repetitions}
        made_results.finish(paths(**study))
        read.clear()
        assert planned(paths(**study, measure_s=9))["measure"][0] == 6 * repetitions
        seen.append(sum(read))
    assert 0 < seen[0] == seen[1] < 10
