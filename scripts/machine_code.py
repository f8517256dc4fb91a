"""The machine code of a program: what two builds that differ in anything that matters cannot have in common."""

import hashlib
import re
import subprocess
from pathlib import Path

SECTION = re.compile(r"^\s*\[ *\d+\] \.text\s+\w+\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", re.M)


def text_sha256(program: Path) -> str:
    """Return the SHA-256 of the content of a program's .text section. Raises ValueError when it has none."""
    command = ["readelf", "--sections", "--wide", str(program)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = SECTION.search(told)
    if not found:
        raise ValueError(f"{program}: `readelf --sections` shows no .text section")
    offset, size = (int(number, 16) for number in found.groups())
    with program.open("rb") as stream:
        stream.seek(offset)
        return hashlib.sha256(stream.read(size)).hexdigest()
