"""Finding compilers and asking what they can do."""

from pathlib import Path

import pytest

from scripts.build.compilation import toolchain

GCC = {
    "cc": "gcc-12",
    "cxx": "g++-12",
    "ar": "gcc-ar-12",
    "ranlib": "gcc-ranlib-12",
    "nm": "gcc-nm-12",
    "gcov_dump": "gcov-dump-12",
}


def program(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_installed_gcc_is_found_with_its_full_version():
    found = toolchain.find("gcc-12", GCC)
    assert found.version.startswith("12.")
    assert found.cc.startswith("/")
    toolchain.probe_profile_flags(found)


def test_missing_command_is_told_by_key_and_value():
    with pytest.raises(ValueError, match=r"toolchains.mine.cxx: command 'g\+\+-99' found neither on PATH"):
        toolchain.find("mine", {**GCC, "cxx": "g++-99"})


def test_folder_of_a_toolset_comes_first_under_the_plain_name(tmp_path):
    for key in GCC.values():
        program(tmp_path, key.rsplit("-", 1)[0], "echo 13.1.0")
    found = toolchain.find("gcc-12", {**GCC, "directories": [str(tmp_path)]})
    assert found.cc == str(tmp_path / "gcc")
    assert found.version == "13.1.0"


def test_toolset_is_where_red_hat_puts_it(tmp_path):
    folder = Path("/opt/rh/gcc-toolset-12", "root", "usr", "bin")
    commands = dict.fromkeys(GCC, "no-such-command")
    with pytest.raises(ValueError, match=f"no-such-command.*{folder}"):
        toolchain.find("gcc-12", {**commands, "toolset": "gcc-toolset-12"})


def test_old_compiler_is_refused(tmp_path):
    for key in GCC.values():
        program(tmp_path, key, "echo 8.5.0")
    with pytest.raises(ValueError, match=r"gcc 8\.5\.0 is too old, 9 or newer is needed"):
        toolchain.find("old", {**GCC, "directories": [str(tmp_path)]})


def test_compiler_without_the_prefix_flag_is_refused_for_profiles(tmp_path):
    for key in GCC.values():
        program(tmp_path, key, "case $* in *prefix-path*) echo unrecognized >&2; exit 1;; esac; echo 11.4.0")
    found = toolchain.find("eleven", {**GCC, "directories": [str(tmp_path)]})
    with pytest.raises(ValueError, match=r"(?s)11.4.0 does not know -fprofile-prefix-path.*unrecognized"):
        toolchain.probe_profile_flags(found)
