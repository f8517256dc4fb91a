"""A block that is planned in slices goes by turns when its load proves to be bound by a disk."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from scripts.lib import json_record
from scripts.measure.engine import block as block_module
from scripts.measure.engine.disk_load import DiskBound
from scripts.measure.engine.planned import PlannedBlock
from scripts.measure.engine.run_parts import WindowFacts
from scripts.measure.engine.run_record import MeasuredRun
from scripts.measure.engine.slices import Taken
from scripts.measure.loadgen import sysbench
from tests.made import studies

ARMS, TURNS = ("baseline", "aa", "pgo"), ["pgo", "baseline", "aa"]
BOUND = DiskBound("fsyncs", "bound by a disk: over 100 fsyncs per second")


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Measure a block with a made-up load; returns its record, those of its arms, and the turns that were taken."""
    identity = {"server": "tiny", "family": "postgresql", "build": "baseline", "release": "1.2"}
    json_record.write(tmp_path / "identity.json", {**identity, "build_id": "ab", "sha256": "cd"})
    monkeypatch.setattr(sysbench, "read_capabilities", lambda: SimpleNamespace(version="1", path="s", sha256="5b"))
    monkeypatch.setattr(block_module.warnings, "warnings_of", lambda run: [])
    turns = []

    def measure_block(bound, turn_s):
        def measure_together(settings, seed, phases, *, may_turn):
            taken = Taken(open_s=9.0, disk_per_s={"fsyncs": 412.0}, bound=bound)
            runs = {name: MeasuredRun(replace(setting.planned, outcome="ok")) for name, setting in settings.items()}
            return list(settings), {} if bound and may_turn else runs, taken

        def runs_of_levels(settings, phases, refusal):
            (level,) = settings
            turns.append((level.context.variant, level.window_s))
            return [MeasuredRun(replace(level.planned, outcome="ok", window=WindowFacts(duration_s=20.0)))]

        monkeypatch.setattr(block_module, "measure_together", measure_together)
        monkeypatch.setattr(block_module.by_turns, "runs_of_levels", runs_of_levels)
        block = tmp_path / "blocks" / "x" / "block.json"
        block_module.measure([planned(tmp_path, block, turn_s)], tmp_path / "log")
        return (
            json_record.read(block),
            {name: json_record.read(block.with_name(f"{name}.json")) for name in ARMS},
            turns,
        )

    return measure_block


def planned(folder, block, turn_s):
    schedule = studies.paths()
    known = schedule.planned(next(iter(schedule.to_measure.values())))
    arm = replace(known.arms[0], identity=str(folder / "identity.json"), dataset=str(folder / "dataset.json"))
    arms = [replace(arm, name=name, context=replace(arm.context, variant=name, judged=[])) for name in ARMS]
    how = {"method": "slices", "why": "", "turns": TURNS, "turn_s": turn_s}
    return PlannedBlock.of(replace(known, folder=str(block.parent), arms=arms, **how).facts())


def test_load_bound_by_a_disk_goes_by_turns_and_its_records_say_why(measured):
    block, arms, turns = measured(BOUND, 30)
    assert turns == [(name, 30) for name in TURNS]
    said = {"method": "turns", "why": BOUND.text, "turned_by": "fsyncs", "disk_per_s": {"fsyncs": 412.0}}
    assert {name: block[name] for name in said} == said
    assert (block["turns"], block["open_s"]) == (TURNS, 60.0)
    assert {name: facts["sliced"] for name, facts in arms.items()} == dict.fromkeys(ARMS, said)


@pytest.mark.parametrize(("bound", "turn_s"), [(None, 20), (BOUND, None)])
def test_other_loads_and_studies_that_say_how_many_servers_are_up_stay_in_slices(measured, bound, turn_s):
    block, arms, turns = measured(bound, turn_s)
    assert turns == []
    assert (block["method"], block["disk_per_s"], block["open_s"]) == ("slices", {"fsyncs": 412.0}, 9.0)
    assert "turned_by" not in block
    assert arms["pgo"]["sliced"] == {"method": "slices", "disk_per_s": {"fsyncs": 412.0}}
