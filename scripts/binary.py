"""What a server program's file tells: its bytes, sizes, build-id, compiler and hardening."""

import re
import subprocess
from pathlib import Path
from typing import Any

from scripts.record import file_sha256

# Name length, content length, type and the name "GNU" stand before the build-id in its note (elf(5)).
NOTE_HEAD_DIGITS = 32


def identify(program: Path) -> dict[str, Any]:
    """Return sha256 and build-id of a program; the build-id is None when the file has none."""
    # --notes would go through all that annobin left in a file: 17 s on MySQL's own 8.0.33.
    words = re.findall(
        r"^  0x[0-9a-f]+ ((?:[0-9a-f]{2,8} ){1,4})", _section(program, "hex", ".note.gnu.build-id"), re.M
    )
    note = "".join(words).replace(" ", "")
    return {"sha256": file_sha256(program), "build_id": note[NOTE_HEAD_DIGITS:] or None}


def sizes(program: Path, install: Path) -> dict[str, int]:
    """Return bytes of the program's machine code, of its file and of the whole install tree."""
    sections = _output("size", "--format=sysv", program)
    text = re.search(r"^\.text\s+(\d+)", sections, re.M)
    if not text:
        raise ValueError(f"{program}: `size` shows no .text section")
    installed = sum(path.stat().st_size for path in install.rglob("*") if path.is_file() and not path.is_symlink())
    return {"text_bytes": int(text.group(1)), "file_bytes": program.stat().st_size, "install_bytes": installed}


def told(program: Path) -> dict[str, Any]:
    """Return what a program tells of how it was made: compilers, whether its symbols were stripped, hardening.

    The compiler is None when the file has no .comment section or an empty one.
    """
    comments = re.findall(r"^  \[ *[0-9a-f]+\]  (.*\S)", _section(program, "string", ".comment"), re.M)
    sections = _output("readelf", "--section-headers", "--wide", program)
    return {
        "compiler_comment": "; ".join(dict.fromkeys(comments)) or None,
        "stripped": not re.search(r"\s\.symtab\s", sections),
        "debug_information": bool(re.search(r"\s\.z?debug_info\s", sections)),
        "hardening": hardening(program),
    }


def hardening(program: Path) -> dict[str, Any]:
    """Return how a program is protected, as its headers and the library functions it calls show it.

    `relro` is full when all symbols are bound at start too, so that the table of addresses is read-only.
    Stack protector and FORTIFY_SOURCE show by the functions that gcc calls for them: __stack_chk_fail, and *_chk.
    """
    header = _output("readelf", "--file-header", "--program-headers", "--dynamic", "--wide", program)
    called = set(re.findall(r"\b(\w+)@", _output("readelf", "--dyn-syms", "--wide", program)))
    bound = bool(re.search(r"\(FLAGS(?:_1)?\).*\b(?:BIND_NOW|NOW)\b|\(BIND_NOW\)", header))
    stack = re.search(r"GNU_STACK\s.* 0x\w+ ([RWE ]{3}) 0x", header)
    return {
        "pie": bool(re.search(r"Type:\s+DYN", header)),
        "relro": "none" if "GNU_RELRO" not in header else "full" if bound else "partial",
        "executable_stack": "E" in stack.group(1) if stack else None,
        "stack_protector": "__stack_chk_fail" in called,
        "fortified_functions": len([name for name in called if name.endswith("_chk")]),
    }


def _section(program: Path, dump: str, name: str) -> str:
    """Return readelf's hex or string dump of a section, an empty text when the program has none of that name."""
    command = ["readelf", "--wide", f"--{dump}-dump={name}", str(program)]
    return subprocess.run(command, capture_output=True, text=True, check=True, errors="replace").stdout


def _output(*command: str | Path) -> str:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout
