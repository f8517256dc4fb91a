"""A profile that is not what its record says, or whose record does not fit, is refused by name before it is used."""

import json
import shutil
import subprocess
from dataclasses import replace

import pytest

from scripts.build.compilation import audit, gcc, profiles
from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.compilation.compiler_flags import COUNTERS, flags_of
from scripts.build.compilation.gcc import Counted, CounterFile, profile_units
from scripts.build.sources.tree import tree_sha256
from scripts.jobs import bolt_server, build_server
from scripts.lib import json_record
from scripts.lib.host import outcome
from tests.made.wrapped import Project

UNITS = {f"unit{number}": f"int work{number}(int n) {{ return n + {number}; }}\n" for number in range(6)}
CALLS = " + ".join(f"work{number}(n)" for number in range(6))
MAIN = (
    "".join(f"int work{number}(int);\n" for number in range(6))
    + f"int main(int n, char **v) {{ return !({CALLS}); }}\n"
)


@pytest.fixture(scope="module")
def trained(compiler, tmp_path_factory):
    """A profile as train_server keeps it, of a program of seven units; the record and the counters lie in `kept`."""
    project = Project(compiler, tmp_path_factory.mktemp("trained"))
    project.write(main=MAIN, **UNITS)
    tree = project.build("instrumented")
    flags = {"BUILD_PROFILE_FLAGS": " ".join(flags_of("gcc").instrument(tree.path)), "BUILD_PROFILE_SCOPE": "*"}
    for name in ("main", *UNITS):
        assert tree.compile("-c", project.source / f"{name}.c", "-o", f"{name}.o", **flags).returncode == 0
    assert tree.compile(*(f"{name}.o" for name in ("main", *UNITS)), "-o", "program", **flags).returncode == 0
    written = project.folder / "written"
    subprocess.run([tree.path / "program"], env={"GCOV_PREFIX": str(written)}, check=True)
    counters = project.folder / "kept" / "counters"
    shutil.copytree(written / COUNTERS.lstrip("/"), counters)
    told = {"server": "tiny", "training": "mixed", "tool": "gcc", "compiler": f"{compiler.name} {compiler.version}"}
    described = {**told, "source_path": str(project.source), "counters_sha256": tree_sha256(counters)}
    counted = profiles.summary(counters, compiler.kind, compiler.commands)
    json_record.write(counters.parent / "profile.json", {**counted.to_json(), **described})
    (counters / ".snakemake_timestamp").touch()
    return project


@pytest.fixture
def profile(trained, tmp_path):
    shutil.copytree(trained.folder / "kept", tmp_path / "kept")
    return tmp_path / "kept" / "profile.json"


def files(profile):
    return sorted((profile.parent / "counters").glob("*.gcda"))


def lost(profile):
    for file in files(profile)[::2]:
        file.unlink()


def cut(profile):
    file = files(profile)[3]
    file.write_bytes(file.read_bytes()[:-20])


def changed(profile):
    file = files(profile)[3]
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)


def retold(key, value, **more):
    def lie(profile):
        profile.write_text(json.dumps({**json_record.read(profile), key: value, **more}))

    return lie


LIES = {
    "no counters at all": lambda profile: [file.unlink() for file in files(profile)],
    "no folder of counters": lambda profile: shutil.rmtree(profile.parent / "counters"),
    "half of the files missing": lost,
    "a file that is empty": lambda profile: files(profile)[0].write_bytes(b""),
    "a file cut off": cut,
    "one bit of a counter": changed,
    "a file of something else": lambda profile: (profile.parent / "counters" / "more.gcda").write_bytes(b"#!/bin/sh\n"),
    "another compiler version": retold("compiler", "gcc-12 11.4.0"),
    "another compiler": retold("compiler", "clang-16 16.0.6"),
    "other sources": retold("source_path", "/var/tmp/src/0123456789abcdef/tree"),
    "another directory": retold("source_path", "/home/somebody/build"),
    "a training that failed": retold("outcome", "failed", reason="a stub's"),
}


def test_profile_that_is_what_it_says_is_taken(profile, trained):
    build_server.demand_fit(profile, trained.compiler, trained.source)


@pytest.mark.parametrize("lie", LIES)
def test_lying_profile_is_refused_by_name_before_anything_is_compiled(profile, trained, lie):
    LIES[lie](profile)
    with pytest.raises(outcome.Refused, match=str(profile.parent)):
        build_server.demand_fit(profile, trained.compiler, trained.source)


def test_bolt_takes_no_lying_profile_either(profile, tmp_path):
    base, nowhere = tmp_path / "identity.json", tmp_path / "nowhere"
    json_record.write(base, {"server": "tiny", "build": "relocatable"})
    lost(profile)
    with pytest.raises(outcome.Refused, match=str(profile.parent)):
        bolt_server.main({}, base, profile, nowhere, nowhere / "identity.json", nowhere / "facts.json", nowhere / "log")
    assert not nowhere.exists()


def test_server_that_wrote_no_counters_is_told_so(trained, tmp_path):
    (tmp_path / "written").mkdir()
    with pytest.raises(ValueError, match=f"{tmp_path}/written: the instrumented server wrote no counters"):
        profiles.keep(tmp_path / "written", tmp_path / "counters", trained.compiler, tmp_path / "log")


def test_profile_of_zeros_alone_is_refused_with_its_training(trained, tmp_path):
    tree = trained.build("never_run")
    flags = {"BUILD_PROFILE_FLAGS": " ".join(flags_of("gcc").instrument(tree.path)), "BUILD_PROFILE_SCOPE": "*"}
    (trained.source / "idle.c").write_text("int idle(int n) { return n; }\n")
    (tree.path / "end.c").write_text("int idle(int);\nint main(void) { return 0; }\n")
    assert tree.compile("-c", trained.source / "idle.c", "-o", "idle.o", **flags).returncode == 0
    assert tree.call("idle.o", "end.c", "-o", "program", "-fprofile-generate").returncode == 0
    subprocess.run([tree.path / "program"], env={"GCOV_PREFIX": str(tmp_path)}, check=True)
    found = gcc.summary(gcc.read_counters(tmp_path / "counters", trained.compiler.gcov_dump))
    assert found.functions_nonzero == 0
    with pytest.raises(ValueError, match="training mixed of tiny: all counters of 1 files are zero"):
        audit.demand_trained(replace(found, training="mixed", server="tiny"))


@pytest.mark.parametrize(("counted", "refused"), [(10, False), (5, False), (4, True)])
def test_training_that_lost_most_counters_from_the_start_is_refused(counted, refused):
    kept = [CounterFile(f"u{number}.gcda", 1, (Counted((number, 1, 1), 7),)) for number in range(counted)]
    calls = [
        CompilerCall(f"u{number}.o", ("gcc", "-c", "-fprofile-use=/p"), links=False, said="") for number in range(10)
    ]
    facts = audit.audit(profile_units(kept, calls, {call.unit for call in calls}, {}), "mixed")
    if refused:
        with pytest.raises(
            ValueError, match="profile mixed: 4 of the 10 units of the server have counters, expected 50%"
        ):
            audit.demand_profile_used(facts)
    else:
        audit.demand_profile_used(facts)
