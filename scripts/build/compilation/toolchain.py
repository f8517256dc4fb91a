"""Toolchains: where their commands are, which version they have, what they can do."""

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from scripts.lib.build_records import UsedToolchain
from scripts.lib.host.process import CommandFailed, output_of
from scripts.lib.json_record import Json

OLDEST_GCC = 9
COMMANDS = {
    "gcc": ("cc", "cxx", "ar", "ranlib", "nm", "gcov_dump"),
    "clang": ("cc", "cxx", "ar", "ranlib", "nm", "profdata"),
    "bolt": ("bolt", "merge_fdata"),
}
# How each kind is asked for its version: the command's key, the option, the pattern in the answer.
ASKED = {
    "gcc": ("cc", "-dumpfullversion", r"^\s*(\d+[\d.]*)"),
    "clang": ("cc", "-dumpversion", r"^\s*(\d\S*)"),
    "bolt": ("bolt", "--version", r"version (\d[\w.]*)"),
}
# gcc 12 brought -fprofile-prefix-path; without it the directory is part of each counter file's name.
PROBES: dict[str, Json] = {
    "gcc": ["-fprofile-prefix-path=/nowhere", "-fprofile-generate"],
    "clang": ["-fprofile-generate"],
}


@dataclass(frozen=True)
class Toolchain:
    """Absolute commands of one toolchain and its full version, such as 12.2.0; `kind` is gcc, clang or bolt."""

    name: str
    kind: str
    version: str
    commands: dict[str, str] = field(hash=False)
    probe: tuple[str, ...] = ()

    def __getattr__(self, key: str) -> str:
        """Return a command by its key in the catalog: cc, cxx, ar, ranlib, nm, gcov_dump, profdata, bolt …"""
        commands: dict[str, str] = self.__dict__.get("commands", {})
        if key not in commands:
            raise AttributeError(f"toolchain {self.__dict__.get('name')} has no command {key!r}")
        return commands[key]

    def search_path(self) -> str:
        """Return PATH with the compiler's folder: a toolset elsewhere brings its own assembler and linker."""
        folder, usual = str(Path(self.cc).parent), os.get_exec_path()
        return os.pathsep.join(usual if folder in usual else [folder, *usual])

    def facts(self) -> UsedToolchain:
        """Return the toolchain as a build's facts record it."""
        cc, cxx, bolt = (self.commands.get(key) for key in ("cc", "cxx", "bolt"))
        return UsedToolchain(self.name, self.kind, self.version, cc, cxx, bolt)


def _words(value: Json) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def _command(entry: Mapping[str, Json], key: str, toolchain: str) -> str:
    """Return the absolute path of one command: in the entry's folders, also under its plain name, else on PATH."""
    command, folders = str(entry[key]), list(map(Path, _words(entry.get("directories"))))
    # As Red Hat lays out the commands of a software collection.
    folders += [Path("/opt/rh", str(entry["toolset"]), "root", "usr", "bin")] if "toolset" in entry else []
    for folder in folders:
        for name in (command, re.sub(r"-[\d.]+$", "", command)):
            if (folder / name).exists():
                return str(folder / name)
    if on_path := shutil.which(command):
        # BOLT looks for its run-time library beside the file itself, not beside a link to it.
        return os.path.realpath(on_path) if entry.get("kind") == "bolt" else on_path
    raise ValueError(
        f"toolchains.{toolchain}.{key}: command {command!r} found neither on PATH nor in "
        f"{[str(folder) for folder in folders]}; install the package of that name, or name another toolchain"
    )


def find(name: str, entry: Mapping[str, Json]) -> Toolchain:
    """Resolve a toolchain entry of the catalog.

    Raises ValueError naming the key when a command is missing, prints no version, or is a gcc older than 9.
    """
    kind = str(entry.get("kind", "gcc"))
    commands = {key: _command(entry, key, name) for key in COMMANDS[kind]}
    try:
        version = _version(kind, commands)
    except ValueError as error:
        raise ValueError(f"toolchains.{name}: {error}") from error
    if kind == "gcc" and int(version.split(".")[0]) < OLDEST_GCC:
        raise ValueError(f"toolchains.{name}.cc: gcc {version} is too old, {OLDEST_GCC} or newer is needed")
    return Toolchain(name, kind, version, commands, _words(entry.get("probe", PROBES.get(kind))))


def _version(kind: str, commands: dict[str, str]) -> str:
    key, option, pattern = ASKED[kind]
    printed = _output(commands[key], option)
    if match := re.search(pattern, printed):
        return match.group(1)
    raise ValueError(f"{commands[key]} {option}: no version in {printed.strip()[:200]!r}")


@cache
def _output(*command: str) -> str:
    try:
        return output_of(command)
    except OSError as error:
        raise ValueError(f"{command[0]}: cannot be run, expected a command ({error.strerror or error})") from error
    except CommandFailed as failure:
        raise ValueError(f"expected the version of {command[0]}: {failure}") from failure


def probe_profile_flags(toolchain: Toolchain) -> None:
    """Raise ValueError if a profile of this compiler could not be found from another build directory.

    It names the compiler, its version, the flags, and the compiler's messages.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("int probe;\n")
        command = [toolchain.cc, *toolchain.probe, "-c", str(source), "-o", f"{folder}/probe.o"]
        try:
            output_of(command)
        except CommandFailed as failure:
            raise ValueError(
                f"toolchains.{toolchain.name}: {toolchain.cc} {toolchain.version} does not know "
                f"{' '.join(toolchain.probe)}, gcc 12 and clang do; without it a profile is lost in silence. {failure}"
            ) from failure
