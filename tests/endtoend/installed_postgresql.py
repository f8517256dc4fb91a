"""The distribution's PostgreSQL 15 server laid out as a build of ours."""

import re
import subprocess
from pathlib import Path

from scripts.build.compilation import binary
from scripts.lib import json_record
from scripts.measure.servers import families

HOME = Path("/usr/lib/postgresql/15")
NAME = "postgresql-installed"


def missing() -> str:
    """Return why the installed server cannot be used, an empty text when it can."""
    lost = [str(path) for path in (HOME / "bin" / "postgres", HOME / "bin" / "initdb") if not path.exists()]
    return f"package postgresql-15 is not installed: no {', '.join(lost)}" if lost else ""


def lay_out(build: Path) -> Path:
    """Make an install tree of links as a build has it, and its identity; returns the identity."""
    (build / "install" / "bin").mkdir(parents=True)
    for program in ("postgres", "initdb"):
        (build / "install" / "bin" / program).symlink_to(HOME / "bin" / program)
    said = subprocess.run([HOME / "bin" / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"\) (\d+\.\d+)", said)[1]
    names = {"server": NAME, "family": "postgresql", "build": "baseline", "release": release}
    known = {
        **binary.identify(HOME / "bin" / "postgres")._asdict(),
        "server_file": families.of("postgresql").SERVER,
        "source_path": "none",
    }
    json_record.write(build / "identity.json", {**names, **known})
    return build / "identity.json"
