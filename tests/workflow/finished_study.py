"""The study of stubs that release 1.0.0 finished, and a machine whose compilers tell fixed versions.

tests/data/formats/finished-1.0.0.tar.xz holds its `results` with Snakemake's records of the jobs, dates included.
"""

import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

from tests.workflow.running import CHECKOUT, Answer
from tests.workflow.stubbed import Stubbed

FINISHED = CHECKOUT / "tests" / "data" / "formats" / "finished-1.0.0.tar.xz"
TARGET = "results/report.html"
SERVER = {"server": "postgresql-15"}
STUDY: dict[str, Any] = {
    "variants": {
        "baseline": {**SERVER, "build": "baseline"},
        "bolted": {**SERVER, "build": "pgo_lto_bolt"},
        "ready": {"server": "ready", "build": "prebuilt"},
    },
    "workloads": {"oltp": None},
    "clients": [1, 8],
    "repetitions": 2,
    "relinked": True,
    "diagnose": {"workloads": ["oltp"], "variants": ["baseline"], "tools": ["waits"], "seconds": 3},
}
GCC = ("gcc-12", "g++-12", "gcc-ar-12", "gcc-ranlib-12", "gcc-nm-12", "gcov-dump-12")
BOLT = ("llvm-bolt-16", "merge-fdata-16")
VERSIONS = {**dict.fromkeys(GCC, "12.2.0"), **dict.fromkeys(BOLT, "LLVM version 16.0.6")}


def begin(study: Stubbed) -> None:
    """Write the config, a ready-made server and compilers of fixed versions, in the checkout."""
    commands = {f"tools/{name}": _of_version(name, version) for name, version in VERSIONS.items()}
    for name, text in {**commands, "ready/bin/postgres": "#!/bin/sh\necho 'postgres (PostgreSQL) 15.18'\n"}.items():
        (file := study.root / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    ready = {"family": "postgresql", "product": "PostgreSQL", "version": "15"}
    entry = {**ready, "sources": [{"installed": str(study.root / "ready" / "bin" / "postgres")}]}
    study.configure(**STUDY, servers={"ready": entry})


def _of_version(name: str, version: str) -> str:
    """Return a script that tells this version, and is the installed program for what a plan tries with it."""
    return f"""#!/bin/sh
case $1 in
    -dumpfullversion | --version) echo {version} ;;
    *) exec {Path(shutil.which(name)).resolve()} "$@" ;;
esac
"""


def unpack(study: Stubbed) -> None:
    """Put the finished results into the checkout."""
    with tarfile.open(FINISHED) as archive:
        archive.extractall(study.root)


def run(study: Stubbed, *arguments: str) -> Answer:
    """Call Snakemake for the report, on a machine that has these compilers."""
    return study.run(*arguments, TARGET, PATH=os.pathsep.join([str(study.root / "tools"), os.environ["PATH"]]))
