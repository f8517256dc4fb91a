"""Facts read from a server program's file: digest, sizes, build-id, compiler, hardening, libraries it needs."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from scripts.lib.build_records import BuildFacts, BuildIdentity
from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.process import CommandFailed, output_of
from scripts.lib.json_record import Json, file_sha256

# Name length, content length, type and the name "GNU" stand before the build-id in its note (elf(5)).
NOTE_HEAD_DIGITS = 32


class ProgramMarks(NamedTuple):
    """By what a program is told from another one; a file without a build-id has None."""

    sha256: str
    build_id: str | None


def identify(program: Path) -> ProgramMarks:
    """Return SHA-256 and build-id of a program."""
    # --notes would go through all that annobin left in a file: 17 s on MySQL's own 8.0.33.
    words = re.findall(
        r"^  0x[0-9a-f]+ ((?:[0-9a-f]{2,8} ){1,4})", _section(program, "hex", ".note.gnu.build-id"), re.M
    )
    note = "".join(words).replace(" ", "")
    return ProgramMarks(file_sha256(program), note[NOTE_HEAD_DIGITS:] or None)


def identified(names: BuildIdentity, install: Path, server_file: str, source_path: str | None) -> BuildIdentity:
    """Return the identity of an installed server."""
    sha256, build_id = identify(install / server_file)
    return replace(names, sha256=sha256, build_id=build_id, server_file=server_file, source_path=source_path)


def sized(facts: BuildFacts, install: Path) -> BuildFacts:
    """Return facts with the bytes of the program's machine code, of its file and of the whole install tree.

    Raises ValueError when the program has no machine code.
    """
    program = install / (facts.server_file or "")
    text = re.search(r"^\.text\s+(\d+)", output_of(["size", "--format=sysv", program]), re.M)
    if not text:
        raise ValueError(f"{program}: `size` shows no .text section")
    installed = sum(path.stat().st_size for path in install.rglob("*") if path.is_file() and not path.is_symlink())
    return replace(facts, text_bytes=int(text[1]), file_bytes=program.stat().st_size, install_bytes=installed)


def binary_facts(program: Path) -> dict[str, Json]:
    """Return how a program was made: compilers, whether its symbols were stripped, hardening.

    The compiler is None when the file has no .comment section or an empty one.
    """
    comments = re.findall(r"^  \[ *[0-9a-f]+\]  (.*\S)", _section(program, "string", ".comment"), re.M)
    sections = output_of(["readelf", "--section-headers", "--wide", program])
    return {
        "compiler_comment": "; ".join(dict.fromkeys(comments)) or None,
        "stripped": not re.search(r"\s\.symtab\s", sections),
        "debug_information": bool(re.search(r"\s\.z?debug_info\s", sections)),
        "hardening": hardening(program),
    }


def hardening(program: Path) -> dict[str, Json]:
    """Return how a program is protected, read from its headers and from the library functions it calls.

    `relro` is full when all symbols are bound at start too, so that the table of addresses is read-only.
    Stack protector and FORTIFY_SOURCE are recognised by the functions that gcc calls for them: __stack_chk_fail, *_chk.
    """
    header = output_of(["readelf", "--file-header", "--program-headers", "--dynamic", "--wide", program])
    called = set(re.findall(r"\b(\w+)@", output_of(["readelf", "--dyn-syms", "--wide", program])))
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
    return output_of(["readelf", "--wide", f"--{dump}-dump={name}", program])


def demangled(symbols: Iterable[str]) -> dict[str, str]:
    """Return symbol -> its name in the source, for example `THD::cleanup()`."""
    symbols = list(dict.fromkeys(symbols))
    text = "".join(f"{symbol}\n" for symbol in symbols)
    return dict(zip(symbols, output_of(["c++filt"], stdin=text).splitlines(), strict=True))


CODE_SECTION = re.compile(r"^\s*\[ *\d+\] \.text\s+\w+\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", re.M)


def text_sha256(program: Path) -> str:
    """Return the SHA-256 of the content of a program's .text section. Raises ValueError when it has none."""
    section = CODE_SECTION.search(output_of(["readelf", "--sections", "--wide", program]))
    if not section:
        raise ValueError(f"{program}: `readelf --sections` shows no .text section")
    offset, size = (int(number, 16) for number in section.groups())
    with program.open("rb") as stream:
        stream.seek(offset)
        return hashlib.sha256(stream.read(size)).hexdigest()


ELF_MAGIC = b"\x7fELF"
NEEDED = re.compile(r"^\s*(?:(\S+) => )?(/\S+|not found)(?: \(0x[0-9a-f]+\))?$", re.M)


@dataclass(frozen=True)
class Library:
    """One shared library: its name, and the distribution's package that holds it, None where that is unknown."""

    name: str
    found: bool
    package: str | None


def needed_libraries(install: Path) -> list[Library]:
    """Return the libraries outside the install tree that its programs need, by name, as the loader finds them here."""
    paths: dict[str, str] = {}
    for program in elf_programs(install):
        paths |= _loaded(program, install)
    inside = f"{install.resolve()}/"
    outside = {name: path for name, path in paths.items() if not os.path.realpath(path).startswith(inside)}
    packages = packages_of(sorted(outside.values()))
    return [Library(name, path != "not found", packages.get(path)) for name, path in sorted(outside.items())]


def elf_programs(install: Path) -> list[Path]:
    """Return the ELF programs in bin, sbin and libexec of an install tree."""
    files = [file for folder in ("bin", "sbin", "libexec") for file in sorted((install / folder).glob("*"))]
    return [file for file in files if file.is_file() and _magic(file) == ELF_MAGIC]


def _magic(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(len(ELF_MAGIC))


def _loaded(program: Path, install: Path) -> dict[str, str]:
    own_libraries = {"LD_LIBRARY_PATH": str(install.resolve() / "lib")}
    try:
        listed = output_of(["ldd", program], environment=own_libraries)
    except CommandFailed as failure:
        # A static program needs no library.
        if "not a dynamic executable" in str(failure):
            return {}
        raise
    return {name or Path(path).name: path for name, path in NEEDED.findall(listed)}


def packages_of(paths: list[str]) -> dict[str, str]:
    """Return path -> Debian package of the files that dpkg knows, empty if there is no dpkg."""
    if not paths or not shutil.which("dpkg"):
        return {}
    # dpkg knows a file under the name it was packed with, from before or after /lib became a link to /usr/lib
    spellings = {path: _spellings(path) for path in paths}
    command = ["dpkg", "-S", *sorted({spelling for named in spellings.values() for spelling in named})]
    answer = subprocess.run(command, env=made_environment(), capture_output=True, text=True, check=False)
    lines = (line.rpartition(": ") for line in answer.stdout.splitlines() if not line.startswith("diversion"))
    owners = {path: owner.split(",")[0].split(":")[0] for owner, _, path in lines}
    holders = {path: [owners[name] for name in named if name in owners] for path, named in spellings.items()}
    return {path: packages[0] for path, packages in holders.items() if packages}


def _spellings(path: str) -> list[str]:
    named = [path, os.path.realpath(path)]
    return [spelling for name in named for spelling in (name, name.removeprefix("/usr"), f"/usr{name}")]
