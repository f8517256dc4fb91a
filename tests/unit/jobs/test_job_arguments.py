"""The command line of each job has the arguments that its function needs, and none that it does not take."""

import inspect
import runpy

import pytest

from scripts.lib.host import entry
from tests.made.studies import CHECKOUT

# describe_study is started by Snakemake itself, without a command line.
JOBS = sorted({file.stem for file in (CHECKOUT / "scripts" / "jobs").glob("*.py")} - {"__init__", "describe_study"})


# The module is imported already when it is run as a program.
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("job", JOBS)
def test_command_line_of_a_job_fits_its_function(job, monkeypatch):
    calls = []

    def note(main, _description, *paths, **others):
        calls.append((main, {*paths, *(option.get("dest", name) for name, option in others.items())}))

    monkeypatch.setattr(entry, "run", note)
    runpy.run_module(f"scripts.jobs.{job}", run_name="__main__")
    ((main, arguments),) = calls
    signature = inspect.signature(main)
    signature.bind(**dict.fromkeys(arguments | signature.parameters.keys() & {"log"}))
