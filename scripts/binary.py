"""What a server program's file tells: its bytes, sizes and build-id."""

import re
import subprocess
from pathlib import Path
from typing import Any

from scripts.record import file_sha256


def identify(program: Path) -> dict[str, Any]:
    """Return sha256 and build-id of a program; the build-id is None when the file has none."""
    notes = _output("readelf", "--notes", program)
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return {"sha256": file_sha256(program), "build_id": found.group(1) if found else None}


def sizes(program: Path, install: Path) -> dict[str, int]:
    """Return bytes of the program's machine code, of its file and of the whole install tree."""
    sections = _output("size", "--format=sysv", program)
    text = re.search(r"^\.text\s+(\d+)", sections, re.M)
    if not text:
        raise ValueError(f"{program}: `size` shows no .text section")
    installed = sum(path.stat().st_size for path in install.rglob("*") if path.is_file() and not path.is_symlink())
    return {"text_bytes": int(text.group(1)), "file_bytes": program.stat().st_size, "install_bytes": installed}


def _output(*command: str | Path) -> str:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout
