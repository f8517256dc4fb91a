"""A small CMake project of C++ with static archives, compiled through the compiler wrapper as a server is.

It has what makes relinking hard: members of one name in an archive, a member that nobody uses, an archive linked as a
whole, copies of a function that differ between units, and constructors of static variables that print.
"""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scripts.build.compilation import binary, compiler_calls
from scripts.build.compilation.compile import compile_server
from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.compilation.flags import build_flags
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.relink.relink_ways import BuildTree
from scripts.lib.build_records import BuildIdentity
from scripts.lib.recipe_models import CompileRecipe
from scripts.measure.servers import families
from scripts.measure.servers.families import innodb
from tests.made.declared import compiled

PARTS = 8
# The program is called server in the build tree, and installed as a server of the family.
SERVER = families.of("mysql").SERVER
CMAKE = f"""
cmake_minimum_required(VERSION 3.18)
project(tiny CXX)
add_library(parts STATIC {" ".join(f"part{number}.cc" for number in range(PARTS))} one/x.cc two/x.cc)
add_library(spare STATIC used.cc unused.cc)
add_library(plugins STATIC plugin.cc)
set_source_files_properties(part1.cc part5.cc PROPERTIES COMPILE_OPTIONS -O1)
add_executable(server main.cc early.cc late.cc)
target_link_libraries(server parts -Wl,--whole-archive plugins -Wl,--no-whole-archive spare parts)
"""
HEAD = """#pragma once
#include <cstdio>
template <class T> __attribute__((noinline)) T mixed(T n) { T s = 0; while (n > 1) s += n % 3 ? n-- : n / 7, n -= 2;
  return s; }
struct Told { Told(const char *name); };
"""


def part(number: int) -> str:
    """Return a unit with a function of its own, a copy of a shared one, and a static one named as in other parts."""
    return f"""#include "all.h"
__attribute__((noinline)) static long local(long n) {{ long s = {number};
  for (long i = 0; i < n; i++) s += i ^ {number}; return s; }}
__attribute__((noinline)) long part{number}(long n) {{ return local(n) + mixed<long>(n * {number + 1}); }}
"""


SOURCES = {
    "CMakeLists.txt": CMAKE,
    "all.h": HEAD,
    **{f"part{number}.cc": part(number) for number in range(PARTS)},
    "one/x.cc": '#include "../all.h"\n__attribute__((noinline)) long one(long n) { return n * 5 + 1; }\n',
    "two/x.cc": '#include "../all.h"\n__attribute__((noinline)) long two(long n) { return n * 7 + 2; }\n',
    "used.cc": '#include "all.h"\nTold::Told(const char *name) { std::printf("%s\\n", name); }\n',
    "unused.cc": "long unused() { return 1; }\n",
    "plugin.cc": '#include "all.h"\nstatic Told plugin("plugin");\nlong plugged() { return 3; }\n',
    "early.cc": '#include "all.h"\nstatic Told early("early");\nlong begin() { return 1; }\n',
    "late.cc": '#include "all.h"\nstatic Told late("late");\nlong end() { return 2; }\n',
    "main.cc": '#include "all.h"\n'
    + "".join(f"long part{number}(long);\n" for number in range(PARTS))
    + "long one(long), two(long);\nint main(int n, char **) { long s = one(n) + two(n);\n"
    + "".join(f"s += part{number}(n + 20);\n" for number in range(PARTS))
    + 'std::printf("%ld\\n", s); return 0; }\n',
}


def without_twins() -> dict[str, str]:
    """Return the sources with another name for one of the two units of one name."""
    other = {name.replace("two/x.cc", "two/y.cc"): text for name, text in SOURCES.items()}
    return {**other, "CMakeLists.txt": CMAKE.replace("two/x.cc", "two/y.cc")}


TINY = SimpleNamespace(
    configure_command=lambda source, compiler, recipe: innodb.cmake_command(source, compiler, "-O2", []),
    compile_commands=lambda threads: [["ninja", f"-j{threads}", "server"]],
    library_commands=lambda _names: [],
    PROFILE_SCOPE=families.of("mysql").PROFILE_SCOPE,
)


@dataclass(frozen=True)
class Linked:
    """The project, compiled and installed below `folder`, as a build's folder holds it."""

    folder: Path
    calls: list[CompilerCall]
    place: BuildTree
    recipe: CompileRecipe

    @property
    def program(self) -> Path:
        return self.folder / "install" / SERVER

    @property
    def identity(self) -> BuildIdentity:
        names = BuildIdentity(server="tiny", family="mysql", build="baseline", release="1")
        return binary.identified(names, self.folder / "install", SERVER, "/nowhere")


def linked(compiler: Toolchain, folder: Path, *, stage: str = "plain", twins: bool = True, **declared: Any) -> Linked:
    """Write, compile and install the project; `declared` holds further keys of its recipe, such as `lto`.

    Without `twins` the members of one name have two names.
    """
    for name, text in SOURCES.items() if twins else without_twins().items():
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "source" / name).write_text(text)
    recipe = compiled(stage=stage, **declared)
    build = folder / "trees" / "build"
    flags = build_flags(recipe, compiler, build, None, folder / "source", 1)
    made = compile_server(TINY, folder / "source", build, compiler, flags, recipe, 2, folder / "log.txt")
    calls = compiler_calls.read_calls(made.records, build)
    found = Linked(folder / "made", calls, BuildTree(build, compiler), recipe)
    found.program.parent.mkdir(parents=True)
    found.program.write_bytes((build / "server").read_bytes())
    found.program.chmod(0o755)
    (found.folder / "install" / "share").mkdir()
    (found.folder / "install" / "share" / "messages").write_text("hello")
    return found
