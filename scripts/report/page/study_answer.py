"""The answer of a study as data, answer.json: the terminal, `make check`, summary.md and packages show the same."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from scripts.lib import json_record
from scripts.lib.parts import Part
from scripts.lib.visible import visible
from scripts.report.page.document import Table, table_row, word_heads

ANSWER_FILE = "answer.json"
ESTABLISHED = "in the first column after Holm's correction, in the others where the interval leaves out 1"
GOOD, BAD, PLAIN, QUIET = "good", "bad", "plain", "quiet"


@dataclass(frozen=True, slots=True)
class Sentence(Part):
    """One sentence; `bad` when it reports that something got worse; `brief` is a shorter form of it, if any."""

    text: str = ""
    bad: bool = False
    brief: str = ""


@dataclass(frozen=True, slots=True)
class VariantAnswer(Part):
    """The answer about one variant: a sentence to quote, and those that must be shown with it."""

    variant: str = ""
    headline: str = ""
    sentences: list[Sentence] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ShownRatio(Part):
    """A ratio to the reference with its 95 % interval; `state` is good, bad, plain, or quiet for one without verdict.

    `text` and `interval` are what page, summary and terminal show; `interval` is empty where there is none.
    """

    text: str = ""
    interval: str = ""
    state: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """Return `1.30 (1.18–1.43)`, marked with an asterisk where a difference is established."""
        mark = "*" if self.state in (GOOD, BAD) else ""
        return f"{self.text}{mark} ({self.interval})" if self.interval else f"{self.text}{mark}"


@dataclass(frozen=True, slots=True)
class RatioRow(Part):
    """The means of one variant over all cells, one ratio per quantity of `StudyAnswer.quantities`."""

    variant: str = ""
    label: str = ""
    ratios: list[ShownRatio] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JudgedExpectation(Part):
    """One expectation of the study, and whether it is held, broken or open; `text` is one line."""

    text: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class StudyAnswer(Part):
    """What a finished study answers.

    `warnings` are what stands above the title: a partial study, a small scale. `doubts` are bad news, `powers` what the
    study could have found. `word` is held, broken or open, None for a study without expectations.
    """

    study: str = ""
    title: str = ""
    question: str = ""
    is_partial: bool = False
    warnings: list[str] = field(default_factory=list)
    answer: str = ""
    doubts: list[Sentence] = field(default_factory=list)
    powers: list[str] = field(default_factory=list)
    machine: str = ""
    running: list[str] = field(default_factory=list)
    reference: str = ""
    quantities: list[str] = field(default_factory=list)
    rows: list[RatioRow] = field(default_factory=list)
    has_verdicts: bool = True
    variants: list[VariantAnswer] = field(default_factory=list)
    word: str | None = None
    expectations: list[JudgedExpectation] = field(default_factory=list)

    @property
    def doubt_text(self) -> str:
        """What to doubt, in one paragraph."""
        return " ".join([*(doubt.text for doubt in self.doubts), *self.powers])

    @property
    def established(self) -> str:
        """What the asterisk in the table says."""
        return ESTABLISHED

    @property
    def table(self) -> Table:
        """The ratios to the reference, over all cells."""
        heads = (f"ratio to {self.reference}", *self.quantities)
        rows = (table_row(row.label, *map(str, row.ratios)) for row in self.rows)
        return Table(word_heads(*heads), tuple(rows))

    def about(self, variant: str) -> VariantAnswer | None:
        """Return the answer about a variant; None for the reference, a control and an unknown one."""
        return next((answer for answer in self.variants if answer.variant == variant), None)

    def write(self, path: Path) -> None:
        """Write answer.json."""
        json_record.write(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the answer in answer.json. Raises OSError without the file, ValueError or TypeError for an odd one."""
        return cls.of(json_record.read(path), str(path))


def last_lines(path: Path) -> str:
    """Return title, answer, doubts, machine and table of an answer as plain text; empty without answer.json."""
    if not path.is_file():
        return ""
    answer = StudyAnswer.read(path)
    paragraphs = [*answer.warnings, answer.title, answer.answer, answer.doubt_text, answer.machine,
                  " ".join(answer.running), "\n".join(answer.table.lines()) if answer.rows else "",
                  f"* established: {ESTABLISHED}" if answer.rows and answer.has_verdicts else ""]  # fmt: skip
    report = f"Report: {path.with_name('report.html')}"
    return visible("\n\n".join(["", *filter(None, paragraphs), report])[1:] + "\n")
