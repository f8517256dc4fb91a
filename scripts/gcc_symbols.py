"""Names of functions that gcc instrumented: from the symbols of a program to those of a counter file.

A counter file knows a function by three numbers only. The instrumented program has them in a `struct gcov_fn_info`
for each function, at the symbol `__gcov_.` and the function's own (libgcov.h, coverage.c of gcc).
"""

import mmap
import re
import struct
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.gcc_counters import Key

INFO = struct.Struct("=8xIII")
SYMBOL = re.compile(r"^([0-9a-f]+) \w __gcov_\.(.+)$", re.M)
OPERATOR = re.compile(
    r"\boperator(?!\w)\s*(?:(?P<symbol>\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[-+*/%^&|~!=<>,]=?|&&|\|\||\+\+|--)|(?P<type>[^(]+))"
)
SEGMENT = re.compile(r"^\s*LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)", re.M)


def function_symbols(install: Path) -> dict[Key, str]:
    """Return the symbol of every instrumented function of the programs and libraries of an install tree."""
    found: dict[Key, str] = {}
    for program in sorted(install.rglob("*")):
        if program.is_file() and not program.is_symlink() and _is_elf(program):
            found.update(_symbols(program))
    return found


def _is_elf(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _symbols(program: Path) -> Iterator[tuple[Key, str]]:
    segments = [
        tuple(int(number, 16) for number in match.groups())
        for match in SEGMENT.finditer(_output("readelf", "--program-headers", "--wide", program))
    ]
    with program.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for match in SYMBOL.finditer(_output("nm", "--defined-only", program)):
            address = int(match[1], 16)
            for offset, start, size in segments:
                if start <= address <= start + size - INFO.size:
                    yield INFO.unpack_from(content, address - start + offset), match[2]


def _output(*command: str | Path) -> str:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def demangled(symbols: Iterable[str]) -> dict[str, str]:
    """Return the names people know of symbols."""
    symbols = list(dict.fromkeys(symbols))
    text = "".join(f"{symbol}\n" for symbol in symbols)
    told = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True).stdout
    return dict(zip(symbols, told.splitlines(), strict=True))


def is_public(symbol: str, key: Key) -> bool:
    """Tell whether gcc knows the function by its symbol alone, as it does unless it is local to a unit.

    The ident is then the CRC-32 of the symbol with its closing zero, without the top bit (coverage.c of gcc,
    coverage_compute_profile_id).
    """
    crc = 0
    for byte in symbol.encode() + b"\0":
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return (crc & 0x7FFFFFFF or 1) == key[0]


def plain_name(function: str) -> str:
    """Return the qualified name of a C or C++ function without result, arguments, templates and lambdas within it.

    The compiler's warnings and c++filt write a function differently; of this part both make the same.
    """
    text = function.partition(" [with ")[0].replace("(anonymous namespace)", "{anonymous}")
    text = re.split(r"::[<{]lambda", text)[0]
    if match := OPERATOR.search(text):
        symbol = match["symbol"] or _without_templates(match["type"])
        return f"{_last_word(text[: match.start()])}operator{symbol.replace(' ', '')}"
    return _last_word(_without_templates(text).partition("(")[0])


def _last_word(text: str) -> str:
    return _without_templates(text).rpartition(" ")[2].lstrip("*&")


def _without_templates(text: str) -> str:
    """Return text without what stands in angle brackets."""
    kept, depth = [], 0
    for character in text:
        depth += character == "<"
        if not depth:
            kept.append(character)
        depth -= character == ">" and depth > 0
    return "".join(kept)
