"""What a user of `make` sees of Snakemake: a line for each finished step, failures with their logs, the answer last.

Snakemake's own texts go to its log. A dry run has none, since a plan changes no file: it names the command that shows
Snakemake's list of jobs.
"""

import logging
import os
import re
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from scripts.lib.visible import visible
from scripts.lib.wording import duration, plural
from scripts.workflow.interrupts import Received
from scripts.workflow.progress_bar import ProgressBar
from scripts.workflow.time_left import TimeLeft

if TYPE_CHECKING:
    from snakemake.workflow import Workflow

LAST_LINES = 10
DIGEST = re.compile(r"-?\b[0-9a-f]{12}\b")


@dataclass(frozen=True)
class Event:
    """What Snakemake says of a job, or of the run: the fields of a record that are used here."""

    kind: LogEvent | None
    number: int
    rule: str
    wildcards: dict[str, str]
    outputs: tuple[str, ...]
    logs: tuple[str, ...]
    exception: str | None
    at_s: float

    @classmethod
    def of(cls, record: logging.LogRecord) -> "Event":
        """Return the event of a record; fields that a record lacks are empty."""
        fields = vars(record)
        return cls(
            fields.get("event"),
            number=fields.get("jobid", fields.get("job_id", 0)),
            rule=fields.get("rule_name", ""),
            wildcards=fields.get("wildcards") or {},
            outputs=tuple(fields.get("output") or ()),
            logs=tuple(fields.get("log") or ()),
            exception=fields.get("exception"),
            at_s=record.created,
        )


@dataclass(frozen=True)
class Step:
    """A job that began: rule and wildcards in words, its outputs, and when (seconds since the epoch)."""

    words: str
    outputs: tuple[str, ...]
    begun_s: float


class LogHandler(LogHandlerBase):
    """Writes the lines of steps; Snakemake calls it in a thread of its own."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin without a plan; `answer` and `next_command` are printed as the last lines of all."""
        self.answer, self.next_command = "", ""
        self.steps: dict[int, Step] = {}
        self.names: dict[str, str] = {}
        self.time_left = TimeLeft({}, {})
        self.logs: list[str] = []
        self.received: Received | None = None
        self.failed, self.is_closed = 0, False
        self.bar: ProgressBar | None = None

    def expect(self, time_left: TimeLeft, names: dict[str, str]) -> None:
        """Show this time left from now on; `names` has words for the outputs of some jobs."""
        self.time_left, self.names = time_left, names

    def begin(self, received: Received) -> None:
        """Note that jobs are run now; `received` tells whether they are interrupted."""
        self.answer, self.received = "", received

    @property
    def is_interrupted(self) -> bool:
        """Return whether the user interrupted the run."""
        return bool(self.received and self.received.interrupted)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of a record, if it is one that a user needs."""
        try:
            self._write(record)
        except Exception:
            self.handleError(record)

    def _write(self, record: logging.LogRecord) -> None:
        event = Event.of(record)
        if event.kind == LogEvent.JOB_INFO and not self.common_settings.dryrun:
            self._begin(event)
        elif event.kind == LogEvent.JOB_FINISHED:
            self._finish(event)
        elif event.kind == LogEvent.JOB_ERROR:
            self._fail(event)
        elif record.levelno >= logging.WARNING and not self._repeats_failure(event):
            self.say(record.getMessage())

    def _begin(self, job: Event) -> None:
        name = next((self.names[path] for path in job.outputs if path in self.names), _in_words(job.wildcards))
        step = self.steps[job.number] = Step(f"{job.rule} {name}".rstrip(), job.outputs, job.at_s)
        if self.bar is None and sys.stderr.isatty():
            self.bar = ProgressBar()
        self._show(step.words)

    def _finish(self, job: Event) -> None:
        step = self.steps.pop(job.number)
        self.time_left.finish(step.outputs)
        left_s = self.time_left.seconds
        to_come = f", about {duration(left_s)} left" if left_s else ""
        self.say(f"{_clock(job.at_s)}  {step.words}: {duration(job.at_s - step.begun_s)}{to_come}")
        self._show(next((other.words for other in self.steps.values()), ""))

    def _repeats_failure(self, event: Event) -> bool:
        """Return whether an error of Snakemake says of a job, with its whole command, what `_fail` says."""
        of_a_job = {"RuleException"} if self.steps else set()
        of_the_run = {"WorkflowError"} if self.failed or self.is_interrupted else set()
        return event.kind == LogEvent.ERROR and event.exception in of_a_job | of_the_run

    def _fail(self, job: Event) -> None:
        if self.is_interrupted:
            return
        self.failed += 1
        step = self.steps.pop(job.number, None)
        words = step.words if step else job.rule
        logs = [log for log in job.logs if Path(log).exists()]
        self.say(f"{_clock(job.at_s)}  {words}: FAILED; log: {', '.join(logs) or 'none was written'}")
        for log in logs:
            with Path(log).open(encoding="utf-8", errors="replace") as stream:
                self.say("".join(f"    {visible(line)}" for line in deque(filter(str.strip, stream), LAST_LINES)))

    def _show(self, words: str) -> None:
        if self.bar:
            self.bar.show(words, self.time_left.share_done, self.time_left.seconds)

    def say(self, text: str) -> None:
        """Write lines; jobs write to the same stream, so that all stay in order."""
        sys.stderr.write(text.rstrip("\n") + "\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Write the last lines, once: Snakemake closes its loggers, and Python closes them again at its end."""
        if not self.is_closed:
            self.is_closed = True
            if self.bar:
                self.bar.close()
            for line in self._last_lines():
                self.say(line)
        super().close()

    def _last_lines(self) -> Iterator[str]:
        if self.logs:
            yield f"Snakemake's own log: {', '.join(os.path.relpath(log) for log in self.logs)}"
        if self.failed:
            yield f"{plural(self.failed, 'step')} failed; the same command tries again, and keeps what is made"
        elif self.steps:
            running = ", ".join(step.words for step in self.steps.values())
            yield f"interrupted: {running}; the same command continues, and keeps what is made"
        yield from filter(None, [self.answer, self.next_command and f"Next: {self.next_command}"])


def handler_of(workflow: "Workflow") -> LogHandler | None:
    """Return what writes the lines of steps in this call of Snakemake; None without `--logger steps`."""
    handlers = workflow.logger_manager.get_log_handlers()
    return next((handler for handler in handlers if isinstance(handler, LogHandler)), None)


def _in_words(wildcards: dict[str, str]) -> str:
    """Return wildcards without the digests in them."""
    words = (DIGEST.sub("", str(value)).replace("/", " ").strip() for value in wildcards.values())
    return " ".join(filter(None, words))


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
