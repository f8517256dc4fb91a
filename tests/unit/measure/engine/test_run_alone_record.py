"""The record of a run is a value: a misspelt name is an error, a missing value is None, variables are kept once."""

import json
import tarfile
from dataclasses import fields, replace
from pathlib import Path

import pytest

from scripts.lib import json_record, version
from scripts.lib.host import machine_facts
from scripts.lib.host.cpus import Placement
from scripts.lib.vocabulary import RUN
from scripts.measure.engine import machine_parts, run_parts, run_record
from scripts.measure.engine.run_record import Diagnosis, MeasuredRun, Run
from tests.conftest import CHECKOUT
from tests.made import diagnoses, synthetic

FORMATS = CHECKOUT / "tests" / "data" / "formats"
SHARED = {"version": "10.11.18", "innodb_purge_threads": "4"}


@pytest.fixture
def facts():
    return synthetic.runs(synthetic.Plan(workloads=("oltp",), repetitions=1))[0]


def path_of(folder, variant="pgo", repetition=1, kind="runs"):
    return folder / "study" / kind / f"{variant}-0123456789ab" / "oltp-0123456789ab" / "8" / f"{repetition}.json"


def measured(facts, private):
    """Return the run of such facts, which shares all variables but one."""
    return MeasuredRun(replace(Run.of(facts), format=None, variables={"datadir": private}), SHARED)


def test_values_are_attributes_and_a_misspelt_one_is_an_error(facts):
    run = Run.of(facts)
    assert run.window.tps == facts["window"]["tps"]
    assert run.key == tuple(facts[name] for name in RUN)
    with pytest.raises(AttributeError, match="tsp"):
        run.window.tsp  # noqa: B018
    with pytest.raises(TypeError, match="tsp"):
        run_parts.WindowFacts(tsp=1.0)


def test_missing_and_null_values_are_none_and_parts_without_values_are_false():
    for facts in ({}, {"window": None, "cpu": {"cpus": None}}):
        run = Run.of(facts)
        assert (run.window.tps, run.cpu.cpus, run.client_host.network.server.interface) == (None, None, None)
        assert [part for part in (run.window, run.cpu, run.client_host) if part] == []
        assert (run.counters, run.warnings, run.phases_s) == ({}, [], {})


def test_keys_of_other_releases_are_ignored_in_reading(facts):
    assert Run.of({**facts, "later": 1, "window": {**facts["window"], "later": 2}}) == Run.of(facts)


def test_a_part_of_another_shape_is_named(tmp_path):
    path = path_of(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"window": [1.0]}))
    with pytest.raises(ValueError, match=r"1\.json: .*record\.window: \[1\.0\], expected an object"):
        run_record.read(path)


def test_written_record_is_read_back_with_the_release_that_wrote_it(facts, tmp_path):
    path = path_of(tmp_path)
    run_record.write(path, measured(facts, "/tmp/a"))
    run = run_record.read(path)
    assert run.window == Run.of(facts).window
    assert run.path == path
    assert run.workflow.values() == version.workflow()


def test_a_value_that_json_lacks_is_not_written(facts, tmp_path):
    run = measured(facts, "/tmp/a")
    with pytest.raises(TypeError, match="expected a part of a record, or what JSON has"):
        run_record.write(path_of(tmp_path), replace(run, run=replace(run.run, recipe={"path": tmp_path})))
    assert not path_of(tmp_path).exists()


def recorded():
    """Yield the records of runs that release 1.0.0 wrote, failed ones among them."""
    with tarfile.open(FORMATS / "1.0.0.tar.xz") as archive:
        for member in archive:
            if "/blocks/" in member.name and member.name.endswith(".json") and not member.name.endswith("/block.json"):
                yield json.load(archive.extractfile(member))


def test_recorded_runs_are_written_as_they_were_key_by_key_and_in_the_same_order_within():
    read = [{name: json.dumps(fact) for name, fact in facts.items()} for facts in recorded()]
    written = [
        {name: json.dumps(fact) for name, fact in json_record.dump(Run.of(facts)).items()} for facts in recorded()
    ]
    assert {facts["outcome"] for facts in read} == {'"ok"', '"failed"'}
    assert written == read


# As real servers left them, of each method; keys that only some runs have are left out.
ORDERS = {
    "slices": "outcome reason commands times window sliced counters files statements slow_stop_s warnings phases_s",
    "turns": "outcome reason times window counters files statements commands slow_stop_s warnings phases_s sliced",
    "failed in slices": "outcome reason failure sliced times phases_s",
    "failed by turns": "outcome reason failure times phases_s sliced",
}


@pytest.mark.parametrize("kind", ORDERS)
def test_keys_stand_in_the_order_in_which_a_run_was_measured(facts, kind):
    method = "turns" if "turns" in kind else "slices"
    measured = {"statements": {"sent": ["BEGIN"], "total": 1}, "slow_stop_s": 1.0, "phases_s": {"start": 1.0}}
    failed = {"outcome": "failed", "reason": "died", "failure": {"kind": "server", "cause": ""}}
    run = Run.of({**facts, **(measured if "failed" not in kind else failed), "sliced": {"method": method}})
    if run.failed:
        run = Run(**{name: getattr(run, name) for name in ORDERS[kind].split()})
    keys = list(run_record.in_order_of_method(run))
    assert [name for name in keys if name in ORDERS[kind].split()] == ORDERS[kind].split()


def test_variables_of_a_variant_are_stored_once_and_read_whole(facts, tmp_path):
    places = [path_of(tmp_path, repetition=number) for number in (1, 2)]
    for place in places:
        run_record.write(place, measured(facts, f"/tmp/{place.stem}"))
    diagnosis = path_of(tmp_path, kind="diagnoses")
    run = Diagnosis(**{**measured(facts, "/tmp/3").run.values(), "tool": "perf"})
    run_record.write(diagnosis, MeasuredRun(run, SHARED))
    (shared,) = (tmp_path / "study" / "variables").iterdir()
    assert "innodb_purge_threads" not in places[0].read_text()
    assert run_record.read(places[1]).server_variables() == {**SHARED, "datadir": "/tmp/2"}
    assert run_record.read_diagnosis(diagnosis).server_variables() == {**SHARED, "datadir": "/tmp/3"}
    assert shared.stem == json_record.sha256(SHARED)


def test_variables_move_with_their_study(facts, tmp_path):
    run_record.write(path_of(tmp_path / "here"), measured(facts, "/tmp/1"))
    (tmp_path / "here").rename(tmp_path / "there")
    assert run_record.read(path_of(tmp_path / "there")).server_variables() == {**SHARED, "datadir": "/tmp/1"}


def test_earlier_records_hold_all_their_variables(facts):
    assert Run.of(facts).server_variables() == facts["variables"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (Path.unlink, "missing, expected the server variables"),
        (lambda file: file.write_text('{"variables": {}}'), "was changed"),
    ],
)
def test_shared_variables_that_are_gone_or_changed_are_named(facts, tmp_path, spoil, message):
    run_record.write(path_of(tmp_path), measured(facts, "/tmp/1"))
    (file,) = (tmp_path / "study" / "variables").iterdir()
    spoil(file)
    with pytest.raises(ValueError, match=f"{file.name}: .*{message}"):
        run_record.read(path_of(tmp_path)).server_variables()


def test_a_record_outside_a_study_is_refused(facts, tmp_path):
    with pytest.raises(ValueError, match="below a folder named blocks or runs or diagnoses"):
        run_record.write(tmp_path / "1.json", measured(facts, "/tmp/1"))


def test_record_without_large_parts_keeps_the_others(facts, tmp_path):
    run_record.write(path_of(tmp_path), measured(facts, "/tmp/1"))
    run = run_record.read(path_of(tmp_path), without=("histogram", "variables"))
    assert (bool(run.histogram), run.variables) == (False, {})
    assert run.window == Run.of(facts).window


@pytest.mark.parametrize(
    ("part", "source"), [(machine_parts.HostFacts, machine_facts.Host), (machine_parts.PlacementFacts, Placement)]
)
def test_parts_have_the_fields_of_what_they_are_made_from(part, source):
    assert {each.name for each in fields(source)} == {each.name for each in fields(part)}


def test_diagnosis_has_its_tool_and_what_it_found(tmp_path):
    place = {"study": "s", "variant": "baseline", "workload": "oltp", "clients": 8}
    path = path_of(tmp_path, kind="diagnoses")
    run_record.write(path, MeasuredRun(Diagnosis.of(diagnoses.diagnosed(place, "waits"))))
    found = run_record.read_diagnosis(path)
    assert (found.tool, found.diagnosis["samples"], found.engine_report.before) == (
        "waits",
        None,
        diagnoses.REPORTS["before"],
    )


def test_seconds_of_runs_that_worked_side_by_side_count_once():
    together, by_turns = [(100.0, 160.0)] * 7, [(200.0, 230.0), (231.0, 261.0)]
    assert run_record.measured_s(together) == 60
    assert run_record.measured_s([*by_turns, *together]) == 120
    assert run_record.measured_s([(0.0, 10.0), (2.0, 5.0), (8.0, 12.0)]) == 12
    assert run_record.measured_s([(None, None), (5.0, 6.0)]) == 1
    assert run_record.measured_s([]) == 0
