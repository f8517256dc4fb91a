"""What a program needs is what the loader finds; packages are those of the distribution."""

import shutil
from pathlib import Path

import pytest

from scripts.build.compilation.binary import NEEDED, Library, elf_programs, needed_libraries, packages_of

LDD = """\tlinux-vdso.so.1 (0x00007ffc)
\tlibaio.so.1 => /lib/x86_64-linux-gnu/libaio.so.1 (0x00007f)
\tlibgone.so.2 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f)
"""


def laid_out(root: Path) -> Path:
    (root / "bin").mkdir()
    shutil.copy("/bin/true", root / "bin" / "server")
    (root / "bin" / "script").write_text("#!/bin/sh\n")
    return root


def test_lines_of_the_loader_are_read():
    assert NEEDED.findall(LDD) == [
        ("libaio.so.1", "/lib/x86_64-linux-gnu/libaio.so.1"),
        ("libgone.so.2", "not found"),
        ("", "/lib64/ld-linux-x86-64.so.2"),
    ]


def test_programs_are_binaries_and_no_scripts(tmp_path):
    assert elf_programs(laid_out(tmp_path)) == [tmp_path / "bin" / "server"]


def test_libraries_of_a_program_are_found(tmp_path):
    found = {library.name: library for library in needed_libraries(laid_out(tmp_path))}
    assert found["libc.so.6"].found
    assert "linux-vdso.so.1" not in found


def test_own_libraries_of_a_tree_are_not_needed_from_elsewhere(tmp_path):
    laid_out(tmp_path)
    (tmp_path / "lib").mkdir()
    libc = next(Path("/lib").glob("*/libc.so.6"))
    shutil.copy(libc, tmp_path / "lib" / "libc.so.6")
    assert "libc.so.6" not in {library.name for library in needed_libraries(tmp_path)}


@pytest.mark.skipif(not shutil.which("dpkg"), reason="no dpkg here")
def test_package_is_known_whether_or_not_its_path_names_usr(tmp_path):
    libc = next(Path("/usr/lib").glob("*/libc.so.6"))
    plain = str(libc).removeprefix("/usr")
    assert packages_of([str(libc), plain, "/nowhere/x.so"]) == {str(libc): "libc6", plain: "libc6"}
    assert Library("libc.so.6", True, "libc6") in needed_libraries(laid_out(tmp_path))


def test_without_dpkg_no_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert packages_of(["/lib/x.so"]) == {}
