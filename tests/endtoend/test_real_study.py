"""The quick study shortened, from the source archive to the report: PostgreSQL compiled three times, trained, measured.

Nothing is taken from an earlier study: the working directory is empty at the start.
"""

import json
import math
import os
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from scripts.build.relink import kept_relinks
from scripts.lib import json_record
from scripts.lib.host import workplace
from tests.endtoend import recomputing
from tests.endtoend.short_study import NEEDED, SHORT, made, made_by_clang
from tests.workflow.running import snakemake

pytestmark = pytest.mark.real

CELLS = [("baseline", "simple_select"), ("pgo", "oltp"), ("aa", "oltp")]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return made(tmp_path_factory.mktemp("real-study"))


def test_every_planned_run_is_there_and_went_well(study):
    runs = study.runs()
    assert len(runs) == 2 * 4 * 2
    assert {run["outcome"] for run in runs} == {"ok"}
    assert [run["run_number"] for run in runs] == list(range(1, 17))


def test_blocks_were_measured_side_by_side_in_the_planned_random_order(study):
    planned = [tuple(place) for *place, _ in study.read("study.json")["order"]]
    measured = [(block["workload"], block["clients"], block["repetition"]) for block in study.blocks()]
    assert measured == planned
    assert {block["method"] for block in study.blocks()} == {"slices"}
    for block in study.blocks():
        slices = pd.DataFrame(block["slices"])
        orders = slices.groupby("round")["arm"].apply(tuple)
        assert block["open_s"] >= 0.95 * 4 * SHORT["measure_s"]
        assert {frozenset(order) for order in orders} == {frozenset({"baseline", "aa", "pgo", "relinked"})}
        assert len(set(orders)) > 1
    assert len({tuple(block["starts"]) for block in study.blocks()}) > 1


def test_no_block_overlaps_another(study):
    assert all(one["ended_at"] <= other["started_at"] for one, other in pairwise(study.blocks()))
    edges = ("started_at", "window_started_at", "window_ended_at", "ended_at")
    times = [run["times"] for run in study.runs()]
    assert all([run[edge] for edge in edges] == sorted(run[edge] for edge in edges) for run in times)


def test_no_block_and_no_training_overlaps_any_other_job(study):
    found = study.jobs()
    alone = [job for job in found if job[0] in ("measure_block", "train_server")]
    overlaps = [
        (one, other) for one in alone for other in found if one is not other and one[1] < other[2] and other[1] < one[2]
    ]
    assert len(alone) == 4 + 1
    assert overlaps == []


def test_everything_was_compiled_trained_and_loaded_before_the_first_run(study):
    first = study.runs()[0]["times"]["started_at"]
    before = [job for job in study.jobs() if job[0] in ("fetch_source", "build_server", "train_server", "load_dataset")]
    assert len(before) == 1 + 3 + 1 + 2
    assert max(end for *_, end in before) <= first


def test_profile_was_used_by_what_ran_in_training(study):
    audit = study.build("pgo", "audit")
    assert audit["units_nonzero"] > 100
    assert audit["matched_share"] >= 0.99
    assert audit["functions_executed"] > 1000
    assert audit["executed_share_optimised"] >= 0.99
    assert audit["top_functions"][0]["count"] > 0


def test_training_loaded_its_tables_on_the_server_with_counters(study):
    (said,) = (study.folder / "results" / "logs" / "train_server").rglob("*.load.txt")
    assert said.read_text().count("Creating table 'sbtest") == SHORT["datasets"]["sbtest"]["tables"]


def test_both_builds_answered_every_statement_alike_before_the_first_run(study):
    assert (study.check("baseline")["is_check_reference"], study.check("pgo")["is_check_reference"]) == (True, False)
    assert study.check("pgo")["answered_identically"] >= 300
    answered = [job for job in study.jobs() if job[0] in ("answer_statements", "compare_answers", "prove_builds")]
    assert len(answered) == 5
    assert max(end for *_, end in answered) <= study.runs()[0]["times"]["started_at"]


def test_every_server_was_measured_with_the_library_that_was_compiled_for_it(study):
    builds = study.folder / "results" / "builds" / "postgresql-15"
    assert len(list(builds.glob("*/install/lib/plpgsql.so"))) == 3
    assert len(list(builds.glob("*/install/lib/pg_stat_statements.so"))) == 3
    shared = [json.loads(file.read_text())["variables"] for file in study.home.rglob("variables/*.json")]
    assert shared
    assert {variables["shared_preload_libraries"] for variables in shared} == {"pg_stat_statements"}
    assert all("pg_stat_statements.max" in variables for variables in shared)


def test_reference_has_relinks_that_are_other_programs_with_its_answers(study):
    made = study.build("baseline", "relinked")
    assert (made["refused"], made["lto"], made["from_archives"] > 50) == (None, False, True)
    assert all(one["refused"] is None and one["moved_share"] > 0.9 for one in made["relinks"])
    (file,) = (study.folder / "results" / "builds" / "postgresql-15").glob("*/relinked.json")
    checks = study.folder / "results" / "checks" / "postgresql-15" / file.parent.name
    programs = {
        json_record.read(kept_relinks.identity_for(file.parent, checks, number))["sha256"] for number in range(1, 6)
    }
    assert len(programs - {study.build("baseline")["sha256"]}) == 5


def test_builds_are_proven_to_differ_in_their_profile_and_in_nothing_else(study):
    proofs = {proof["kind"]: proof for proof in study.read("proofs.json")["proofs"]}
    assert all(proofs[kind]["builds"] == ["baseline", "pgo"] for kind in ("machine_code", "profile_only"))
    assert all(proof["holds"] for proof in proofs.values())


def test_reference_measured_again_is_the_same_program_and_pgo_another(study):
    ids = {run["variant"]: run["server"]["build_id"] for run in study.runs()}
    assert ids["aa"] == ids["baseline"] != ids["pgo"]
    assert all(ids.values())


def test_each_repetition_measured_another_relink_of_the_reference(study):
    programs = {(run["variant"], run["repetition"]): run["server"]["sha256"] for run in study.runs()}
    measured = [programs[name, repetition] for name in ("baseline", "relinked") for repetition in (1, 2)]
    assert len(set(measured)) == 3
    moved = study.table("relinked")
    assert moved[moved["workload"].isna() & (moved["metric"] == "tps")]["n_relinks"].tolist() == [2]


def test_builds_differ_in_their_flags_and_in_nothing_configure_found(study):
    folders = sorted((study.folder / "results" / "builds" / "postgresql-15").glob("*/headers"))
    trees = [{path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.h")} for folder in folders]
    assert len(trees) == 3
    assert Path("src/include/pg_config.h") in trees[0]
    assert trees[0] == trees[1] == trees[2]
    assert len({json.dumps(study.build(name)["configure_command"]) for name in ("baseline", "pgo")}) == 1
    assert any("-fprofile-use" in flag for flag in study.build("pgo")["compile_arguments"])
    assert not any("profile" in flag for flag in study.build("baseline")["compile_arguments"])


@pytest.mark.parametrize(("variant", "workload"), CELLS)
def test_cell_is_what_the_gate_counted_and_sysbench_printed(study, variant, workload):
    runs = study.table("runs")
    cell = runs[(runs["variant"] == variant) & (runs["workload"] == workload)]
    assert len(cell) == 2
    for row in cell.itertuples():
        counted = recomputing.Counted.of(study.folder / row.file)
        assert row.tps == pytest.approx(counted.tps, rel=0.05)
        # Beside other programs the waits at the edges reach a seventh of a slice.
        assert 0.8 * row.tps < counted.tps_of_open < row.tps
        assert row.p95_ms == pytest.approx(counted.p95_ms, rel=1e-6)
        assert counted.transactions == pytest.approx(row.transactions * counted.share_of_open, rel=0.05)
        assert counted.transactions <= row.transactions
        # What was printed has the warm-up too, in which other programs may slow a server down without limit.
        printed = recomputing.printed_transactions((study.folder / row.file).with_suffix(".txt"))
        assert row.transactions < printed < row.transactions + 2 * row.tps * SHORT["warmup_s"]


def test_tables_were_in_shared_buffers_before_the_warm_up(study):
    for run in study.runs():
        pool = run["pool"]
        assert 0.9 * pool["table_bytes"] < pool["used_bytes"] <= pool["pool_bytes"]


def test_speedup_is_that_of_the_counted_rates_block_by_block(study):
    counted = {
        (run["variant"], run["workload"], run["repetition"]): recomputing.Counted.of(run["path"]).tps
        for run in study.runs()
    }
    ratios = [
        math.log(counted["pgo", workload, repetition])
        - sum(math.log(counted[name, workload, repetition]) for name in ("baseline", "aa")) / 2
        for workload in ("simple_select", "oltp")
        for repetition in (1, 2)
    ]
    overall = study.table("overall").set_index(["variant", "metric"])
    assert overall.loc[("pgo", "tps"), "ratio"] == pytest.approx(math.exp(sum(ratios) / len(ratios)), rel=0.01)


def test_phases_of_a_block_account_for_all_its_time(study):
    for block in study.blocks():
        assert sum(block["phases_s"].values()) == pytest.approx(block["wall_s"], rel=0.01)


def test_server_and_load_generator_were_seen_on_disjoint_cpus_and_the_server_not_as_root(study):
    expected = workplace.server_identity().get("user", os.getuid())
    assert study.seen["postgres"].users == {expected}
    placement = study.runs()[0]["placement"]
    assert tuple(placement["client_cpus"]) in study.seen["sysbench"].cpus
    assert tuple(placement["server_cpus"]) in study.seen["postgres"].cpus
    if os.cpu_count() > 1:
        assert not set(placement["client_cpus"]) & set(placement["server_cpus"])


def test_nothing_is_left_behind(study):
    assert study.running == []
    assert study.left == set()
    assert list((study.folder / "results" / "builds" / "postgresql-15").glob("*/scratch")) == []


class Loads(HTMLParser):
    """Everything a page would fetch by itself."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag != "a":
            self.found += [value for name, value in attrs if name in ("src", "href", "xlink:href", "srcset") and value]


def test_report_is_one_file_that_fetches_nothing(study):
    page = (study.home / "report.html").read_text()
    assert [load for load in Loads(page).found if not load.startswith(("#", "data:"))] == []
    assert not re.search(r"url\(\s*['\"]?(?!#|data:|['\"]?#)[^)]|@import", page)
    assert study.read("study.json")["title"] in page
    assert "Smoke test, no verdict under 5 repetitions: pgo gave" in page


def test_report_names_the_release_that_was_compiled(study):
    release = study.build("pgo")["release"]
    assert re.fullmatch(r"15\.\d+", release)
    assert release in (study.home / "report.html").read_text()


def test_same_command_again_finds_nothing_to_do(study):
    answer = snakemake(study.folder, "--cores", "all", "--configfile", study.config)
    assert answer.status == 0
    assert "Nothing to be done" in answer.text


@pytest.fixture(scope="module")
def by_clang(study):
    """A second study, in the results of the first."""
    if lost := [name for name in NEEDED if not shutil.which(name)]:
        pytest.skip(f"not installed: {', '.join(lost)}")
    return made_by_clang(study)


def test_clang_makes_a_thin_lto_build_and_bolt_lays_it_out(by_clang):
    relocatable, bolted = by_clang.build("relocatable_clang-16_*"), by_clang.build("clang_lto_bolt")
    assert relocatable["flags"]["lto"] == ["-flto=thin"]
    assert {"-fuse-ld=lld", "-Wl,--emit-relocs"} <= set(relocatable["flags"]["link"])
    assert "-flto=thin" in relocatable["compile_arguments"]
    assert bolted["bolt"]["functions_profiled"] > 500
    assert bolted["sha256"] != relocatable["sha256"]


def test_build_by_clang_answers_as_the_reference_and_is_measured_and_reported(by_clang):
    assert by_clang.check("clang_lto_bolt")["answered_identically"] >= 300
    runs = by_clang.runs()
    assert len(runs) == 2 * 3
    assert {run["outcome"] for run in runs} == {"ok"}
    assert all(run["supplies"]["huge_pages_mib"] is not None for run in runs)
    page = (by_clang.home / "report.html").read_text()
    assert "clang_lto_bolt" in page
    assert re.search(r"clang-16 16\.", page)


def test_second_study_compiled_what_the_first_had_not(by_clang):
    compiled = [job for job in by_clang.jobs() if job[0] == "build_server"]
    assert len(compiled) == 3 + 1
    assert (by_clang.left, by_clang.running) == (set(), [])
