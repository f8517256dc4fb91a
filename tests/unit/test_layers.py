"""The import contract of pyproject.toml holds, and no modules import each other in a circle."""

import os
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

CHECKOUT = Path(__file__).parents[2]
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def test_imports_keep_the_contract():
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_modules_import_each_other_in_a_circle():
    graph = grimp.build_graph("scripts", cache_dir=None)
    # Raises CycleError naming the modules.
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()
