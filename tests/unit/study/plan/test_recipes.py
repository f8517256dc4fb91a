"""What many ask for is worked out once, and never for another object."""

from dataclasses import dataclass, field

import pytest

from scripts.build.compilation import toolchain
from scripts.study.plan.recipes import once
from tests.made.studies import paths


@dataclass(frozen=True)
class Counted:
    """An object whose answers say how often they were worked out."""

    name: str
    calls: list[str] = field(default_factory=list, compare=False)

    @once
    def answer(self, question: str) -> str:
        self.calls.append(question)
        if question == "bad":
            raise ValueError(question)
        return f"{self.name} {question}"


def test_answer_is_worked_out_once_for_each_argument_and_object():
    one, other = Counted("one"), Counted("other")
    assert [one.answer("a"), one.answer("b"), one.answer("a")] == ["one a", "one b", "one a"]
    assert one.calls == ["a", "b"]
    assert other.answer("a") == "other a"
    assert one == Counted("one")


def test_failure_is_not_kept():
    one = Counted("one")
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            one.answer("bad")
    assert one.calls == ["bad", "bad"]


def test_thousands_of_runs_look_for_a_compiler_once(monkeypatch):
    sought, find = [], toolchain.find
    monkeypatch.setattr(toolchain, "find", lambda name, entry: sought.append(name) or find(name, entry))
    made = paths(repetitions=400)
    for run in made.runs.values():
        made.plan.variant(run.variant)
        made.plan.load(run.variant, run.workload)
    assert len(made.runs) == 2400
    assert sought == ["gcc-12"]
