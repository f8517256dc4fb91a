"""The digest of a cheap rule's code covers every module that Python loads for it, and the templates of the page."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import PACKAGE
from scripts.workflow.code_digest import EVERYTHING, OF_BUILDS, digest_of
from tests.made.studies import CHECKOUT

# Prints the files of ours that Python loads for the jobs, relative to the package.
LOADED = """
import sys
from pathlib import Path
from scripts import PACKAGE
from scripts.jobs import audit_build, compare_answers, prove_builds
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] == "scripts":
        print(Path(module.__file__).relative_to(PACKAGE))
"""


@pytest.fixture
def package(tmp_path):
    return Path(shutil.copytree(PACKAGE, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__")))


def test_jobs_that_read_builds_load_nothing_that_their_digest_leaves_out():
    command = [sys.executable, "-c", LOADED]
    loaded = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split()
    assert {"jobs/audit_build.py", "build/compilation/proofs.py", "lib/json_record.py"} <= set(loaded)
    assert [file for file in loaded if not any(Path(file).is_relative_to(part) for part in OF_BUILDS)] == []


def test_every_part_is_there():
    assert all((PACKAGE / part).exists() for part in OF_BUILDS)


def test_digest_is_the_same_wherever_the_package_lies_and_whatever_is_compiled(package):
    before = {parts: digest_of(parts) for parts in (EVERYTHING, OF_BUILDS)}
    (package / "lib" / "__pycache__").mkdir()
    (package / "lib" / "__pycache__" / "parts.cpython-311.pyc").write_bytes(b"bytecode")
    (package / "lib" / ".parts.py.swp").write_bytes(b"an editor's")
    assert {parts: digest_of(parts, package) for parts in before} == before


@pytest.mark.parametrize(
    ("name", "in_builds"),
    [
        ("lib/json_record.py", True),
        ("build/compilation/compiler/cc", True),
        ("jobs/audit_build.py", True),
        ("jobs/render_report.py", False),
        ("report/page/templates/style.css", False),
        ("report/page/templates/blocks/table.html.j2", False),
    ],
)
def test_digest_follows_the_content_of_every_file(package, name, in_builds):
    before = {parts: digest_of(parts, package) for parts in (EVERYTHING, OF_BUILDS)}
    with (package / name).open("a") as stream:
        stream.write("\n")
    assert digest_of(EVERYTHING, package) != before[EVERYTHING]
    assert (digest_of(OF_BUILDS, package) != before[OF_BUILDS]) == in_builds


def test_digest_follows_names(package):
    before = digest_of(EVERYTHING, package)
    (package / "lib" / "parts.py").rename(package / "lib" / "pieces.py")
    assert digest_of(EVERYTHING, package) != before
