"""Small programs go through what the keys of a build ask for; what a toolchain cannot do fails in its own words."""

import shutil
from dataclasses import replace

import pytest

from scripts.build.compilation import toolchain, trials
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.compilation.trials import Keys, try_flags, try_keys

EVERYTHING = [Keys(profile=True), Keys(lto=True), Keys(profile=True, lto=True)]


def bolt() -> Toolchain:
    if not shutil.which("llvm-bolt-16"):
        pytest.skip("bolt-16 is not installed")
    return toolchain.find("bolt-16", {"kind": "bolt", "bolt": "llvm-bolt-16", "merge_fdata": "merge-fdata-16"})


def script(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def with_command(tool, **commands):
    return replace(tool, commands={**tool.commands, **commands})


@pytest.mark.parametrize("keys", EVERYTHING, ids=str)
def test_gcc_does_all(compiler, keys):
    try_keys(compiler, keys)


@pytest.mark.parametrize("keys", EVERYTHING, ids=str)
def test_clang_does_all(clang, keys):
    try_keys(clang, keys)


@pytest.mark.parametrize("lto", [False, True])
def test_bolt_lays_out_what_either_compiler_made(compiler, clang, lto):
    for made_by in (compiler, clang):
        try_keys(made_by, Keys(profile=True, lto=lto, bolt=bolt()))


def test_clang_without_its_linker_fails_at_the_thin_link_only(clang, tmp_path):
    lacking = 'case "$*" in *-fuse-ld=lld*) echo "invalid linker name in argument \'-fuse-ld=lld\'" >&2; exit 1;; esac'
    bare = with_command(clang, cc=script(tmp_path, "clang", f'{lacking}\nexec {clang.cc} "$@"'))
    try_keys(bare, Keys(profile=True))
    with pytest.raises(trials.FAILURES, match="invalid linker name"):
        try_keys(bare, Keys(lto=True))


def test_archiver_without_the_plugin_is_noticed(compiler, tmp_path):
    """A plain ar succeeds, but leaves an index without the symbols of slim objects."""
    bad = with_command(compiler, ar=script(tmp_path, "ar", 'printf "!<arch>\\n" > "$2"'))
    with pytest.raises(trials.FAILURES, match="undefined reference"):
        try_keys(bad, Keys(lto=True))


def test_profile_that_cannot_be_merged_is_noticed(clang, tmp_path):
    bad = with_command(clang, profdata=script(tmp_path, "profdata", "echo unsupported version >&2; exit 1"))
    try_keys(bad, Keys(lto=True))
    with pytest.raises(trials.FAILURES, match="unsupported version"):
        try_keys(bad, Keys(profile=True))


def test_flag_of_another_compiler_is_unknown(compiler, clang):
    flags = ("-fno-reorder-blocks-and-partition",)
    try_flags(compiler, flags)
    with pytest.raises(trials.FAILURES, match="unknown argument: '-fno-reorder-blocks-and-partition'"):
        try_flags(clang, flags)
