"""What many ask for is worked out once."""

from scripts.build.compilation import toolchain
from tests.made.studies import paths


def test_thousands_of_runs_look_for_a_compiler_once(monkeypatch):
    sought, find = [], toolchain.find
    monkeypatch.setattr(toolchain, "find", lambda name, entry: sought.append(name) or find(name, entry))
    made = paths(repetitions=400)
    for run in made.runs.values():
        made.plan.variant(run.variant)
        made.plan.load(run.variant, run.workload)
    assert len(made.runs) == 2400
    assert sought == ["gcc-12"]
