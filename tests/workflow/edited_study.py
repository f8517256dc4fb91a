"""The study whose edits are tried: servers from an archive and from a working tree, and a Lua script of ours."""

from pathlib import Path
from typing import Any

from tests.workflow.stubbed import Stubbed

TARGET = "results/report.html"
POSTGRESQL = "postgresql-15"
# A file and a folder of the user's, and the server that the folder holds.
ARCHIVE, TREE = "archive.tar", "tree"
VARIANTS = {
    "baseline": {"server": POSTGRESQL, "build": "baseline"},
    "pgo": {"server": POSTGRESQL, "build": "pgo"},
    "patched": {"server": TREE, "build": "o3", "storage": "disk"},
}
# A name of the catalog that no training uses, here with a script of ours.
MINE = "non_index_update"
SCRIPT = {"script": "mine.lua", "dataset": "sbtest"}
WORKLOADS = {"oltp": None, MINE: SCRIPT}
CONTENT = {ARCHIVE: "an archive\n", f"{TREE}/configure": "PACKAGE_VERSION='15.1'\n"}
PATCHED = {"family": "postgresql", "product": "PostgreSQL", "version": "15", "compile_cpu_minutes": 6}


def sources(study: Stubbed) -> Path:
    """Return the folder of the user's own sources, outside the checkout."""
    return study.root.parent / "sources"


def begin(study: Stubbed) -> None:
    """Write the sources, the script and the config of the study."""
    for name, text in CONTENT.items():
        (sources(study) / name).parent.mkdir(parents=True, exist_ok=True)
        (sources(study) / name).write_text(text)
    (study.root / "workloads" / "mine.lua").write_text("-- a script of ours\n")
    configure(study)


def configure(study: Stubbed, archive: dict[str, str] | None = None, **changes: Any) -> None:
    """Write the study with some of its keys replaced, or another source in place of the archive."""
    servers = {
        POSTGRESQL: {"sources": [archive or {"file": str(sources(study) / ARCHIVE)}]},
        TREE: {**PATCHED, "sources": [{"directory": str(sources(study) / TREE)}]},
    }
    own = {"variants": VARIANTS, "servers": servers, "workloads": WORKLOADS, "storage": {"disk": "/var/tmp"}}
    study.configure(**{**own, **changes})
