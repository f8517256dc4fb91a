"""The published recipe on a small CMake project with MySQL's FPROFILE options: two build directories lose the profile.

The family here is MySQL's but for its own CMake options, sources and target, which the project does not have.
"""

import shutil
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from scripts.build.compilation import compiler_calls, gcc
from scripts.build.compilation.compile import FOLDERS, compile_server
from scripts.build.compilation.flags import build_flags, published_options
from scripts.lib.build_records import Audit
from scripts.lib.json_record import write
from scripts.measure.servers import families
from scripts.measure.servers.families import innodb
from tests.made.declared import compiled

pytestmark = pytest.mark.real

# What FPROFILE_GENERATE and FPROFILE_USE do, in our words.
PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(tiny C CXX)
if(FPROFILE_GENERATE)
  add_compile_options(-fprofile-generate=${FPROFILE_DIR} -fprofile-update=prefer-atomic)
  add_link_options(-fprofile-generate=${FPROFILE_DIR})
elseif(FPROFILE_USE)
  add_compile_options(-fprofile-use=${FPROFILE_DIR} -fprofile-correction)
endif()
add_executable(server main.cc work.c)
"""
SOURCES = {
    "CMakeLists.txt": PROJECT,
    "main.cc": """extern "C" int work(int);
int main(int n, char **) { int s = 0; while (n < 99) s += work(n++); return s < 0; }
""",
    "work.c": "int work(int n) { return n % 3 ? 2 * n : n; }\n",
}
TINY = SimpleNamespace(
    configure_command=lambda source, compiler, recipe: [
        *innodb.cmake_command(source, compiler, "-O2", []),
        *recipe.configure,
    ],
    compile_commands=lambda threads: [["ninja", f"-j{threads}", "server"]],
    library_commands=lambda _names: [],
    PROFILE_SCOPE=families.of("mysql").PROFILE_SCOPE,
)


def built(stage, compiler, folder, profile=None, **declared):
    """Compile a stage in the build directory that it has in the product; returns directory and calls."""
    recipe = compiled(stage=stage, build=stage, **declared)
    build = folder / FOLDERS.get(stage, "build")
    flags = build_flags(recipe, compiler, build, profile, folder / "source", 2)
    configured = replace(recipe, configure=tuple(published_options(recipe, profile)))
    made = compile_server(TINY, folder / "source", build, compiler, flags, configured, 2, folder / "log.txt")
    return build, compiler_calls.read_calls(made.records, build)


def trained(build, compiler, folder, name):
    """Run the server and return the record of the profile it leaves."""
    subprocess.run([build / "server"], env={"GCOV_PREFIX": str(folder / name)}, check=True)
    profile = folder / f"{name}.profile" / "profile.json"
    profile.parent.mkdir()
    shutil.move(folder / name / "counters", profile.parent / "counters")
    write(profile, {"compiler": f"{compiler.name} {compiler.version}", "source_path": str(folder / "source")})
    return profile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "source").mkdir()
    for name, text in SOURCES.items():
        (tmp_path / "source" / name).write_text(text)
    return tmp_path


def test_published_recipe_makes_counters_that_its_second_directory_does_not_find(compiler, folder):
    build, _ = built("published_instrumented", compiler, folder, published=True)
    profile = trained(build, compiler, folder, "published")
    _, calls = built("published", compiler, folder, profile, published=True)
    present = gcc.read_counters(profile.parent / "counters", compiler.gcov_dump)
    units = compiler_calls.compiled_units(calls)
    assert {call.unit.rpartition("/")[2] for call in units} == {"main.cc.o", "work.c.o"}
    assert all("-Wno-missing-profile" in call.arguments for call in units)
    assert not any(call.said for call in units)
    found = gcc.names_compared(Audit(), present, units)
    assert (found.names_sought, found.names_present, found.names_found) == (2, 2, 0)
    assert all("build-use" in name.sought and "build-generate" in name.present for name in found.names)


def test_options_reach_cmake_and_the_wrapper_adds_no_profile_flag_of_its_own(compiler, folder):
    recipe = compiled(stage="published_instrumented", published=True)
    assert build_flags(recipe, compiler, folder / "b", None, folder / "source", 2).profile == ()
    _, calls = built("published_instrumented", compiler, folder, published=True)
    given = {argument for call in compiler_calls.compiled_units(calls) for argument in call.arguments}
    assert {"-fprofile-generate=/counters", "-fprofile-update=prefer-atomic"} <= given
    assert not any(argument.startswith("-fprofile-prefix-path") for argument in given)


def test_our_way_finds_the_profile_of_the_same_project(compiler, folder):
    build, _ = built("instrumented", compiler, folder)
    profile = trained(build, compiler, folder, "ours")
    _, calls = built("optimised", compiler, folder, profile)
    counters = gcc.read_counters(profile.parent / "counters", compiler.gcov_dump)
    assert len(counters) == 2
    units = compiler_calls.compiled_units(calls)
    assert not any("profile" in call.said for call in units)
    assert all(any(argument.startswith("-fprofile-use=") for argument in call.arguments) for call in units)
