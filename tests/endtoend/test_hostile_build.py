"""PostgreSQL compiled by the workflow in a usual shell and in a hostile one: the same command lines, the same bytes."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from scripts.build.compilation.compiler_calls import CompilerCall, read_kept_calls
from scripts.lib import json_record
from tests.made.hostile import BY_PROGRAM, VARIABLES
from tests.made.studies import config, paths
from tests.workflow.running import command_line, environment

pytestmark = pytest.mark.real

BUILT_WITHIN_S = 1800
# Compiled in half the time of -O2.
BUILDS = {"baseline": {"flags": "-O0"}}
# With these of the loader and of Python in its environment Snakemake itself would not start.
HOSTILE = {
    name: value for name, value in VARIABLES.items() if name not in {**BY_PROGRAM["ld.so"], **BY_PROGRAM["python"]}
}


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("study") / "small.yaml"
    file.write_text(yaml.safe_dump(config(builds=BUILDS), sort_keys=False))
    return file


@pytest.fixture(scope="module")
def build() -> Path:
    """The folder of the baseline within a working directory."""
    (folder,) = (folder for folder, (_, name) in paths(builds=BUILDS).builds.items() if name == "baseline")
    return Path(folder)


def made(directory: Path, study: Path, build: Path, **variables: str) -> tuple[str, list[CompilerCall]]:
    """Make the build in a working directory; returns the checksum of the server, and the compiler's calls."""
    words = command_line(directory, "--cores", "2", build / "identity.json", "--configfile", study)
    how = {"capture_output": True, "text": True, "timeout": BUILT_WITHIN_S, "check": False}
    done = subprocess.run(words, env=environment(**variables), **how)
    assert done.returncode == 0, done.stderr
    server = json_record.read(directory / build / "identity.json")["sha256"]
    assert json_record.read(directory / build / "facts.json")["foreign_flags"] == {"compiles": [], "links": []}
    return server, read_kept_calls(directory / build / "calls.json.gz")


def test_server_and_command_lines_are_the_same_in_a_hostile_shell(tmp_path, study, build):
    usual, hostile = tmp_path / "usual", tmp_path / "hostile"
    usual.mkdir()
    server, calls = made(usual, study, build)
    assert len(calls) > 800
    shutil.copytree(usual / "results" / "sources", hostile / "results" / "sources", symlinks=True)
    assert made(hostile, study, build, **HOSTILE) == (server, calls)
