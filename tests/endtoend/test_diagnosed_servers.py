"""Installed servers are looked into for real: each tool finds what a server under load must show, or says why not."""

import json
import subprocess
import sys

import pytest

from scripts.lib.host import outcome
from scripts.measure.engine.run_record import read, read_diagnosis
from tests.endtoend.looked_into import STUDY
from tests.workflow.running import CHECKOUT, environment

pytestmark = pytest.mark.real
RUN_IN_STUDY = (
    *("study", "variant", "workload", "clients", "repetition"),
    *("block", "position", "run_number", "runs_total"),
)


@pytest.fixture(scope="module")
def found(study_looked_into):
    """Return (variant, tool) -> record."""
    records = [
        json.loads(file.read_text()) for file in study_looked_into.glob("results/studies/*/diagnoses/*/*/2/*.json")
    ]
    return {(facts["variant"], facts["tool"]): facts for facts in records}


def ok(found, variant, tool):
    """Return what a tool found; a machine that does not let it look must have been told why, and is skipped."""
    facts = found[variant, tool]
    if outcome.has_failed(facts):
        assert len(facts["reason"]) > 40
        pytest.skip(f"{tool} cannot be used here: {facts['reason']}")
    return facts


@pytest.mark.parametrize("variant", STUDY["variants"])
def test_perf_finds_the_servers_own_functions(found, variant):
    facts = ok(found, variant, "perf")["diagnosis"]
    program = {"mariadb": "mariadbd", "postgresql": "postgres"}[variant]
    total = sum(facts["stacks"].values())
    served = [number for number, (_, module) in enumerate(facts["frames"]) if module == program]
    within = sum(count for stack, count in facts["stacks"].items() if {*map(int, stack.split())} & {*served})
    assert total > 10
    assert within / total > 0.5


@pytest.mark.parametrize("variant", STUDY["variants"])
def test_waits_are_those_of_connections_and_no_longer_than_they_could_be(found, variant):
    facts = ok(found, variant, "waits")
    rows = [row for row in facts["diagnosis"]["waits"] if row["who"] == "connections"]
    assert rows
    assert max(row["seconds"] for row in rows) <= 2 * (facts["window"]["duration_s"] + 1)
    if looks := facts["diagnosis"]["samples"]:
        assert max(row["count"] for row in rows) <= 2 * looks
    assert any(row["event"] in ("Client: ClientRead", "wait/io/socket/sql/client_connection") for row in rows)


@pytest.mark.parametrize("variant", STUDY["variants"])
def test_system_calls_are_at_least_those_that_answer_the_client(found, variant):
    facts = ok(found, variant, "syscalls")
    calls = {row["name"]: row["calls"] for row in facts["diagnosis"]["calls"]}
    assert max(calls.values()) >= facts["window"]["transactions"]


@pytest.mark.parametrize("variant", STUDY["variants"])
def test_a_durable_server_waits_for_the_disk_at_its_commits(found, variant):
    facts = ok(found, variant, "fsyncs")
    durations = facts["diagnosis"]["syncs"]
    assert sum(sum(each["count"]) for each in durations.values()) > facts["window"]["duration_s"]
    assert all(us > 0 for each in durations.values() for us in each["duration_us"])


def test_performance_schema_is_on_only_where_it_was_needed(found, study_looked_into):
    (waits,) = study_looked_into.glob("results/studies/*/diagnoses/mariadb-*/*/2/waits.json")
    assert read_diagnosis(waits).server_variables()["performance_schema"] == "ON"
    runs = [read(file) for file in study_looked_into.glob("results/studies/*/blocks/*/2/*/*/mariadb.json")]
    assert runs
    assert {run.server_variables()["performance_schema"] for run in runs} == {"OFF"}
    assert "performance_schema" not in found["mariadb", "waits"]["recipe"]["variant"].get("options", {})


def test_missing_program_is_a_notice_and_no_run(study_looked_into, tmp_path):
    recipe = next(study_looked_into.glob("results/studies/*/diagnoses/*/*/2/perf.json"))
    facts = json.loads(recipe.read_text())
    place = {key: facts[key] for key in RUN_IN_STUDY}
    files = {"--diagnosis": tmp_path / "perf.json", "--text": tmp_path / "perf.txt", "--log": tmp_path / "perf.log"}
    texts = {"--recipe": json.dumps(facts["recipe"]), "--place": json.dumps(place), "--identity": "-", "--dataset": "-"}
    arguments = [str(part) for pair in {**texts, **files}.items() for part in pair]
    command = [sys.executable, "-m", "scripts.jobs.diagnose_run", *arguments]
    done = subprocess.run(
        command, cwd=CHECKOUT, env=environment(PATH=str(tmp_path)), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "perf is not installed here" in json.loads(files["--diagnosis"].read_text())["reason"]
