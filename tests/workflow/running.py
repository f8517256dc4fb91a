"""Run Snakemake as a user does, and read the jobs that a dry run prints.

A logger plugin must be an installed package, so jobs are read from Snakemake's text: the table "Job stats", and the
lines "rule x:" and "output:" of each job. Tests that reach into Snakemake elsewhere: benchmarks/sized.py
(Workflow._prepare_dag, _build_dag, persistence.finished), tests/workflow/test_stub_kill.py and
tests/faults/test_random_kills.py (names of the marks in .snakemake/incomplete), tests/endtoend/short_study.py (records
in .snakemake/metadata), and tests/workflow/test_quiet_scheduler.py (number of its threads).
"""

import os
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.workflow import forked

# A call that hangs: PostgreSQL with LTO took over 10 minutes beside three other workers and another compile.
TIMEOUT_S = 1800
CHECKOUT = Path(__file__).parents[2]
COSTLY = {
    "fetch_source",
    "build_server",
    "bolt_server",
    "install_prebuilt",
    "train_server",
    "load_dataset",
    "answer_statements",
    "measure_block",
    "diagnose_run",
}
REPORTING = {"describe_study", "collect_runs", "compare_variants", "export_tables", "plot_figures", "render_report"}


@dataclass(frozen=True)
class Answer:
    """Exit status and output of a call of Snakemake."""

    status: int
    text: str

    @property
    def jobs(self) -> Counter[str]:
        """Count the jobs of a dry run by rule, without the target `all`."""
        table = re.search(r"^Job stats:\njob +count\n[- ]+\n(.*?)^total ", self.text, re.M | re.S)
        rows = [line.split() for line in table[1].splitlines()] if table else []
        return Counter({rule: int(count) for rule, count in rows if rule != "all"})

    @property
    def costly(self) -> dict[str, int]:
        """Count the jobs that compile, train, load or measure."""
        return {rule: count for rule, count in self.jobs.items() if rule in COSTLY}

    def made(self, rule: str) -> list[str]:
        """Return the first output of every planned job of a rule."""
        return re.findall(rf"^rule {rule}:\n(?: +input: .*\n)? +output: ([^,\n]+)", self.text, re.M)


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without what pytest and a developer's shell put into it."""
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SNAKEMAKE_PROFILE")}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **more}


def command_line(directory: Path, *arguments: str | Path, root: Path = CHECKOUT) -> list[str]:
    """Return the command line of a call that works in `directory` on the checkout `root`."""
    places = ["--snakefile", root / "Snakefile", "--directory", directory]
    return [sys.executable, "-m", "snakemake", *map(str, [*places, *arguments])]


def snakemake(directory: Path, *arguments: str | Path, root: Path = CHECKOUT, **more: str) -> Answer:
    """Run Snakemake on the checkout `root` in `directory`; `more` is laid over its environment."""
    with tempfile.TemporaryDirectory(prefix="snakemake-output-") as place:
        output = Path(place, "output.txt")
        _, _, _, *words = command_line(directory, *arguments, root=root)
        status = forked.run(words, directory, environment(**more), output, TIMEOUT_S)
        return Answer(status, output.read_text())
