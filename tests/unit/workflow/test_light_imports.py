"""Every job reads the Snakefile anew, so what it imports is paid for with each of them."""

import re
import subprocess
import sys

from tests.conftest import CHECKOUT

IMPORT = re.compile(r"^ +(from scripts\S* import .+)$", re.M)
HEAVY = {"matplotlib", "pandas", "scipy", "seaborn"}


def test_snakefile_imports_no_library_of_tables_or_figures():
    lines = IMPORT.findall((CHECKOUT / "rules" / "common.smk").read_text())
    assert any("opening" in line for line in lines)
    code = "\n".join(["import snakemake.api, sys", *lines, "print(*sys.modules)"])
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert "scripts.study.plan.preview.plan_text" in done.stdout.split()
    assert HEAVY.isdisjoint(done.stdout.split())
