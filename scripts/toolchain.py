"""Compilers: where a toolchain's commands are, which version they have, what they can do."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

OLDEST_GCC = 9
PREFIX_FLAG = "-fprofile-prefix-path=/nowhere"


@dataclass(frozen=True)
class Toolchain:
    """Absolute commands of one toolchain and the compiler's full version, such as 12.2.0."""

    name: str
    version: str
    cc: str
    cxx: str
    ar: str
    ranlib: str
    nm: str
    gcov_dump: str

    def search_path(self) -> str:
        """Return PATH with the compiler's folder: a toolset elsewhere brings its own assembler and linker."""
        folder, usual = str(Path(self.cc).parent), os.get_exec_path()
        return os.pathsep.join(usual if folder in usual else [folder, *usual])

    def facts(self) -> dict[str, str]:
        """Return what a build's facts keep of the toolchain."""
        return {key: asdict(self)[key] for key in ("name", "version", "cc", "cxx")}


def toolset_directory(toolset: str) -> Path:
    """Return the commands' folder of a software collection, as Red Hat lays it out."""
    return Path("/opt/rh", toolset, "root", "usr", "bin")


def _command(entry: dict, key: str, toolchain: str) -> str:
    """Return the absolute path of one command: in the entry's folders, also under its plain name, else on PATH."""
    folders = [Path(folder) for folder in entry.get("directories", [])]
    folders += [toolset_directory(entry["toolset"])] if "toolset" in entry else []
    for folder in folders:
        for name in (entry[key], entry[key].rsplit("-", 1)[0]):
            if (folder / name).exists():
                return str(folder / name)
    if found := shutil.which(entry[key]):
        return found
    raise ValueError(
        f"toolchains.{toolchain}.{key}: command {entry[key]!r} found neither on PATH nor in "
        f"{[str(folder) for folder in folders]}; install the compiler (`make setup` does), or name another toolchain"
    )


def find(name: str, entry: dict) -> Toolchain:
    """Resolve a toolchain entry of the catalog.

    Raises ValueError naming the key when a command is missing or gcc is older than 9.
    """
    commands = {key: _command(entry, key, name) for key in ("cc", "cxx", "ar", "ranlib", "nm", "gcov_dump")}
    version = _output(commands["cc"], "-dumpfullversion").strip()
    if int(version.split(".")[0]) < OLDEST_GCC:
        raise ValueError(f"toolchains.{name}.cc: gcc {version} is too old, {OLDEST_GCC} or newer is needed")
    return Toolchain(name=name, version=version, **commands)


@cache
def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def probe_profile_flag(toolchain: Toolchain) -> None:
    """Refuse a compiler that cannot find a profile again from another build directory.

    gcc 12 brought -fprofile-prefix-path; without it the directory is part of each counter file's name.
    Raises ValueError naming the compiler and its version.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("int probe;\n")
        command = [toolchain.cc, PREFIX_FLAG, "-fprofile-generate", "-c", str(source), "-o", f"{folder}/probe.o"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        flag = PREFIX_FLAG.partition("=")[0]
        raise ValueError(
            f"toolchains.{toolchain.name}: {toolchain.cc} {toolchain.version} does not know {flag}, gcc 12 does; "
            f"without it a profile is lost in silence. It said: {answer.stderr.strip()}"
        )
