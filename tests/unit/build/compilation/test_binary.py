"""What a program's file tells, against programs compiled for it."""

import re
import subprocess

import pytest

from scripts.build.compilation import binary

pytestmark = pytest.mark.real
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) { char text[64]; strcpy(text, argv[0]); puts(text); return argc - 1; }
"""
HARD = ["-O2", "-fPIE", "-pie", "-fstack-protector-all", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro,-z,now"]
SOFT = ["-O2", "-fno-pie", "-no-pie", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-Wl,-z,norelro", "-Wl,-z,lazy"]


@pytest.fixture
def compiled(tmp_path):
    """Compile the program with flags of a test's own and return its path."""

    def compile_with(*flags):
        (tmp_path / "program.c").write_text(PROGRAM)
        program = tmp_path / "program"
        subprocess.run(["gcc", tmp_path / "program.c", "-o", program, *flags], check=True, capture_output=True)
        return program

    return compile_with


def test_build_id_is_the_one_readelf_names(compiled):
    program = compiled("-Wl,--build-id=sha1")
    notes = subprocess.run(["readelf", "--notes", program], capture_output=True, text=True, check=True).stdout
    assert binary.identify(program).build_id == re.search(r"Build ID: ([0-9a-f]{40})", notes)[1]


def test_program_without_a_build_id_has_none(compiled):
    assert binary.identify(compiled("-Wl,--build-id=none")).build_id is None


def test_hardened_program_is_seen_as_such(compiled):
    assert binary.hardening(compiled(*HARD)) == {
        "pie": True,
        "relro": "full",
        "executable_stack": False,
        "stack_protector": True,
        "fortified_functions": 1,
    }


def test_plain_program_is_seen_as_such(compiled):
    assert binary.hardening(compiled(*SOFT)) == {
        "pie": False,
        "relro": "none",
        "executable_stack": False,
        "stack_protector": False,
        "fortified_functions": 0,
    }


def test_lazily_bound_program_has_partial_relro(compiled):
    found = binary.hardening(compiled("-Wl,-z,relro,-z,lazy", "-z", "execstack"))
    assert (found["relro"], found["executable_stack"]) == ("partial", True)


def test_compiler_is_what_it_left_in_the_file(compiled):
    version = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    told = binary.binary_facts(compiled("-g"))
    assert re.fullmatch(rf"GCC: \(.*\) {re.escape(version)}.*", told["compiler_comment"])
    assert (told["stripped"], told["debug_information"]) == (False, True)


def test_stripped_program_tells_no_compiler(compiled):
    program = compiled()
    subprocess.run(["strip", "--remove-section=.comment", program], check=True)
    told = binary.binary_facts(program)
    assert (told["compiler_comment"], told["stripped"], told["debug_information"]) == (None, True, False)
