"""A study as a call of Snakemake opens it: read, planned, announced, and begun before the first job."""

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from snakemake.exceptions import WorkflowError

from scripts.build.sources import addresses
from scripts.lib.host import leftovers, locks
from scripts.lib.json_record import Json
from scripts.lib.visible import visible
from scripts.lib.vocabulary import BLOCK_FILE
from scripts.lib.wording import plural
from scripts.measure.servers import credentials
from scripts.report.page.study_answer import ANSWER_FILE, last_lines
from scripts.study.config.loading import load
from scripts.study.plan import decisions, earlier_layout, looks
from scripts.study.plan.block_layout import Block
from scripts.study.plan.preview import estimates, plan_text
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from scripts.workflow import announcing, command_line, job_records, session, terminal
from scripts.workflow.time_left import TimeLeft

if TYPE_CHECKING:
    from snakemake.workflow import Workflow

RESULTS = Path("results")


@dataclass(frozen=True)
class OpenStudy:
    """The plan of a study, its paths, and the call of Snakemake that works on it; `is_partial`: nothing is measured."""

    workflow: "Workflow"
    files: list[Path]
    plan: Plan
    paths: Schedule
    is_partial: bool

    @cached_property
    def measured_runs(self) -> list[str]:
        """Return the paths of the planned runs that exist."""
        return [path for path in self.paths.runs if Path(path).exists()]

    @property
    def terminal(self) -> terminal.LogHandler | None:
        """Return what writes the lines of steps; None where Snakemake writes its own texts."""
        return terminal.handler_of(self.workflow)

    def announce(self, is_dry_run: bool) -> None:
        """Print what will be made and how long that takes; of a partial report, what it is made from."""
        if self.is_partial:
            runs = f"{len(self.measured_runs)} of {len(self.paths.runs)} planned runs"
            sys.stderr.write(f"partial report of study {self.plan.study.name}: {runs}\n\n")
            return
        with mistakes_told():
            cores = command_line.planned_cores(self.workflow, is_dry_run, sys.argv[1:])
            sys.stderr.write(visible(plan_text.plan_text(self.paths, cores, announcing.forced_steps(self.workflow))))
            if self.terminal and is_dry_run:
                plain = shlex.join(word for word in sys.argv[1:] if word not in ("--logger", "steps"))
                self.terminal.answer = f"Snakemake's list of jobs: .venv/bin/snakemake {plain}"
                self.terminal.next_command = f"make report{self._make_arguments()}"
            elif self.terminal:
                self.terminal.answer = self._answer()  # that of a finished study, until a job begins
                blocks = {path: self._records(block) for path, block in self.paths.jobs.items()}
                self.terminal.logs = self.workflow.logger_manager.get_logfile()
                self.terminal.expect(TimeLeft(estimates.expected_s(self.paths, cores), blocks), self._block_names())

    def _answer(self) -> str:
        return last_lines(Path(self.paths.study, ANSWER_FILE))

    def _records(self, block: Block) -> list[str]:
        return [f"{folder}/{BLOCK_FILE}" for folder in self.paths.shared(block)]

    def _block_names(self) -> dict[str, str]:
        """Return output -> name in words of each job that measures."""
        keys = {path: block.key for path, block in self.paths.jobs.items()}
        return {
            path: f"{key.workload}, {plural(key.clients, 'client')}, repetition {key.repetition}"
            for path, key in keys.items()
        }

    def _make_arguments(self) -> str:
        """Return how a call of make names this study."""
        scale = " SCALE=small" if self.plan.study.declared.scale == "small" else ""
        named = self.files[-1].parent.name == "studies"
        return (f" STUDY={self.files[-1].stem}" if named else "") + scale

    def begin(self) -> None:
        """Take the machine's locks and write what jobs need to know; called before the first job, never in a dry run.

        Raises WorkflowError where this machine cannot carry out the study, or is not free for it.
        """
        if not self.is_partial and (refused := plan_text.refusals(self.paths)):
            raise WorkflowError("\n".join(["this machine cannot carry out the study", *refused]))
        try:
            received = session.begin(self.workflow)
            if self.terminal:
                self.terminal.begin(received)
            locks.hold_checkout(RESULTS)
            leftovers.clear_if_free()
            job_records.keep(RESULTS)
            looks.keep(Path(self.paths.study))
            if not self.is_partial:
                decisions.write(self.paths)
        except ValueError as error:
            why = "; a report would take CPU time from what it measures; `make watch` shows its figures so far"
            raise WorkflowError(f"{error}{why if self.is_partial else ''}") from None

    def end(self) -> None:
        """Print the answer of the finished study; on a terminal of steps as the last lines of all."""
        answer = self._answer()
        if self.terminal:
            edited = (
                f"edit {self.files[-1].name} and make report{self._make_arguments()}; what it leaves as it was is kept"
            )
            self.terminal.answer, self.terminal.next_command = answer, edited
        elif self.workflow.is_main_process:
            sys.stderr.write(answer)


@contextlib.contextmanager
def mistakes_told() -> Iterator[None]:
    """Turn a ValueError of the body into Snakemake's error for mistakes of a user, which has no traceback."""
    try:
        yield
    except ValueError as error:
        raise WorkflowError(str(error)) from None


@mistakes_told()
def open_study(workflow: "Workflow", config: dict[str, Json]) -> OpenStudy:
    """Read the study of `config`, plan it, and prepare Snakemake and the environment of jobs for it.

    A job's process takes the blocks that the main process decided on. Raises WorkflowError with all mistakes of the
    config, and for a partial report of a study without runs.
    """
    # `--config partial=true` gives a text; only True would be a boolean.
    if config.get("partial") in ("true", "false"):
        config["partial"] = config["partial"] == "true"
    root, files = Path(workflow.basedir), command_line.config_files(workflow)
    plan = Plan(load(config, root, " ".join(map(str, files)), files), root)
    paths = Schedule(plan, None if workflow.is_main_process else decisions.read(plan))
    study = OpenStudy(workflow, files, plan, paths, plan.study.declared.partial)
    earlier_layout.demand_blocks(paths)
    session.prepare(workflow, RESULTS)
    _force_what_snakemake_cannot_see(study)
    session.forget_python_settings()
    os.environ.update(_environment(study))
    if study.is_partial and not study.measured_runs:
        raise ValueError(
            f"partial: none of the {len(paths.runs)} planned runs of study {plan.study.name} is measured yet in "
            f"{Path(paths.study).resolve()}, so there is nothing to report; the same command without `partial` measures"
        )
    if workflow.is_main_process:
        announcing.before_jobs(workflow, study.announce)
    return study


def _force_what_snakemake_cannot_see(study: OpenStudy) -> None:
    """Force rules whose reason to run Snakemake cannot know: a decision to come, and blocks lost beside others."""
    if study.is_partial:
        return
    if study.paths.is_undecided:
        session.force("describe_study")
    if study.workflow.is_main_process and study.paths.lacks_levels:
        session.force("measure_block")


def _environment(study: OpenStudy) -> dict[str, str]:
    """Return what the environment of jobs has beside that of the user: their Python, and where logins are kept."""
    servers = study.plan.study.server_sources
    return {
        **session.job_environment(study.plan.root),
        **credentials.job_environment(servers),
        **addresses.job_environment(servers),
    }
