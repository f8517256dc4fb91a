"""The time left of a study: what its plan expects of the jobs to come, at the pace of the blocks that are measured."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from scripts.lib import json_record
from scripts.measure.engine.run_record import working_s


class TimeLeft:
    """Counts the expected seconds of jobs, by output, as they finish.

    `blocks` has the records of the blocks that a job measures, by its output; they share the starts of their servers.
    """

    def __init__(self, expected_s: Mapping[str, float], blocks: Mapping[str, Sequence[str]]) -> None:
        """Begin with all jobs to come."""
        self.blocks, self.expected_s = blocks, dict(expected_s)
        self.total_s = sum(expected_s.values())
        self.measured_s, self.planned_s = 0.0, 0.0

    def finish(self, outputs: Iterable[str]) -> None:
        """Take a finished job out; a block shows how long blocks take, waiting for the machine left out."""
        for path in outputs:
            planned_s = self.expected_s.pop(path, 0.0)
            if planned_s and math.isfinite(worked_s := sum(map(block_s, self.blocks.get(path, ())))) and worked_s:
                self.measured_s += worked_s
                self.planned_s += planned_s

    @property
    def seconds(self) -> float:
        """Return the seconds left; 0 when nothing is known of the jobs to come."""
        pace = self.measured_s / self.planned_s if self.planned_s else 1.0
        return sum(left_s * (pace if path in self.blocks else 1) for path, left_s in self.expected_s.items())

    @property
    def share_done(self) -> float:
        """Return the share of the expected time that has passed, 0 to 1."""
        return 1 - sum(self.expected_s.values()) / self.total_s if self.total_s else 0.0


def block_s(block: str) -> float:
    """Return the seconds that a block took, without waiting; NaN where its runs do not tell."""
    arms = json_record.read(Path(block))["arms"]
    return sum(working_s(json_record.read(Path(block).with_name(f"{name}.json"))["phases_s"]) for name in arms)
