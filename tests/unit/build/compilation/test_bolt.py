"""BOLT on a real program: instrument, run, merge, optimise; and what is read of its words."""

import os
import shutil
import subprocess

import pytest

from scripts.build.compilation import bolt

WORDS = """BOLT-INFO: Target architecture: x86_64
BOLT-INFO: 5163 out of 37432 functions in the binary (13.8%) have non-empty execution profile
BOLT-WARNING: 12 (0.2% of all profiled) functions have invalid (possibly stale) profile. Use -report-stale to see
BOLT-WARNING: 300 out of 60000 samples in the binary (0.5%) belong to functions with invalid (possibly stale) profile.
"""
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static int often(int n) { return n % 3 ? n * 2 : n - 1; }
__attribute__((noinline)) static int never(int n) { return n * 7; }
int main(int n, char **v) { long s = 0; for (int i = 0; i < 1000; i++) s += often(i);
  if (n > 1) s += never(n); printf("%ld\\n", s); return 0; }
"""
needs_bolt = pytest.mark.skipif(not shutil.which("llvm-bolt-16"), reason="bolt-16 is not installed")


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)


def test_words_about_the_profile_are_read():
    assert bolt.facts_from_log(WORDS).to_json() == {
        "training": None,
        "functions_profiled": 5163,
        "functions_total": 37432,
        "functions_stale": 12,
        "branches_profiled_share": pytest.approx(0.995),
    }


def test_without_stale_functions_all_branches_count():
    assert bolt.facts_from_log(WORDS.splitlines()[1]).branches_profiled_share == 1


@pytest.mark.parametrize(
    "words", ["", "BOLT-INFO: 0 out of 9 functions in the binary (0.0%) have non-empty execution profile"]
)
def test_profile_that_bolt_does_not_use_is_refused(words):
    with pytest.raises(ValueError, match="named no function with an execution profile"):
        bolt.facts_from_log(words)


@needs_bolt
def test_program_instrumented_trained_and_optimised_does_the_same(tmp_path):
    (tmp_path / "p.c").write_text(PROGRAM)
    tool, program = os.path.realpath(shutil.which("llvm-bolt-16")), tmp_path / "p"
    run("gcc-12", "-O2", "-fno-reorder-blocks-and-partition", "-Wl,--emit-relocs", tmp_path / "p.c", "-o", program)
    run(*bolt.instrument_command(tool, program, tmp_path / "program", tmp_path))
    answers = {run(tmp_path / "program").stdout for _ in range(1)}
    files = sorted(tmp_path.glob("profile"))
    assert len(files) == 1
    run("merge-fdata-16", "-o", tmp_path / "merged", *files)
    facts = bolt.read_profile(tmp_path / "merged")
    assert facts.functions_nonzero >= 2
    assert facts.branches_executed >= 2000
    done = run(*bolt.optimise_command(tool, program, tmp_path / "optimised", tmp_path / "merged"))
    assert bolt.facts_from_log(done.stdout + done.stderr).functions_profiled >= 2
    assert "-instrument-calls=false" not in bolt.instrument_command(tool, program, tmp_path / "program", tmp_path)
    assert {run(tmp_path / "optimised").stdout, run(program).stdout} == answers


FORKING = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static long work(int n) {
  volatile long s = 0; for (int i = 0; i < n; i++) s += i % 3 ? i : 1; return s; }
int main(void) { for (int i = 0; i < 8; i++) if (!fork()) { volatile long s = work(10000); exit(s == 0); }
  while (wait(0) > 0); return 0; }
"""


@needs_bolt
def test_branches_of_all_processes_of_a_forking_program_are_counted(tmp_path):
    (tmp_path / "p.c").write_text(FORKING)
    tool, program = os.path.realpath(shutil.which("llvm-bolt-16")), tmp_path / "p"
    run("gcc-12", "-O2", "-fno-reorder-blocks-and-partition", "-Wl,--emit-relocs", tmp_path / "p.c", "-o", program)
    run(*bolt.instrument_command(tool, program, tmp_path / "program", tmp_path, forks=True))
    run(tmp_path / "program")
    run("merge-fdata-16", "-o", tmp_path / "merged", tmp_path / "profile")
    assert bolt.read_profile(tmp_path / "merged").branches_executed >= 8 * 10000
