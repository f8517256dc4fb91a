"""The study as its report reads it from study.json: every entry resolved, and the blocks in the order of measuring."""

from dataclasses import dataclass, field
from typing import Any

from scripts.lib.parts import Part

Entries = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ResolvedStudy(Part):
    """A study with the options, workloads, datasets and trainings that it uses; None stands for a key it lacks.

    `repetitions` are those measured, `matters` is a share. `scaled` holds what the small scale changed: dotted key,
    value at full scale, value at the small one. `looks` are the other numbers of repetitions that were reported before.
    `trained_on` has the workloads of the trainings of a build. `order` has, for each block, workload, clients,
    repetition and the arms in their order by turns; `blocks` its name.
    """

    study: str | None = None
    title: str | None = None
    question: str | None = None
    reference: str | None = None
    clients: list[int] = field(default_factory=list)
    repetitions: int | None = None
    seed: int | None = None
    campaign: int | None = None
    warmup_s: int | None = None
    measure_s: int | None = None
    placement: str | dict[str, str] | None = None
    rest_s: int | None = None
    restart: str | None = None
    stop: str | None = None
    series: bool | None = None
    matters: float | None = None
    expect: list[Any] | dict[str, Any] | None = None
    stopping: dict[str, Any] | None = None
    looks: list[int] | None = None
    variants: Entries = field(default_factory=dict)
    workloads: Entries = field(default_factory=dict)
    datasets: Entries = field(default_factory=dict)
    trainings: Entries = field(default_factory=dict)
    builds: Entries = field(default_factory=dict)
    trained_on: dict[str, list[str]] = field(default_factory=dict)
    matrix: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    scaled: list[list[Any]] | None = None
    diagnose: dict[str, Any] | None = None
    config_text: str | None = None
    order: list[list[Any]] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)

    def dump(self) -> dict[str, Any]:
        """Return the study as a JSON object without the keys that it lacks."""
        return {name: value for name, value in self.values().items() if value is not None}
