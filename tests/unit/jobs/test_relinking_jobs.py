"""The jobs that build relink as often as they are asked, and leave nothing of an earlier attempt."""

import os
import shutil
import subprocess
from functools import partial

import pytest

from scripts.build.compilation import bolt
from scripts.build.relink import kept_relinks
from scripts.build.relink.relink_ways import by_linker
from scripts.build.relink.relinking import relink_build
from scripts.build.sources.tree import tree_sha256
from scripts.jobs import bolt_server
from scripts.lib import json_record
from tests.made.declared import bolted
from tests.made.linked import SERVER, linked

pytestmark = pytest.mark.real
needs_bolt = pytest.mark.skipif(not shutil.which("llvm-bolt-16"), reason="bolt-16 is not installed")


@pytest.fixture(scope="module")
def base(compiler, tmp_path_factory):
    """A build that BOLT can take."""
    made = linked(compiler, tmp_path_factory.mktemp("base"), stage="relocatable")
    json_record.write(made.folder / "identity.json", made.identity.to_json())
    return made


def relink(made, count):
    way = partial(by_linker, made.recipe.digest, made.calls, made.place)
    relink_build(made.folder, count, made.recipe, made.identity, way)


def test_build_is_relinked_as_often_as_it_is_wanted_and_not_unasked(base):
    relink(base, 2)
    assert kept_relinks.read_relinks(base.folder).usable == [1, 2]
    shutil.rmtree(base.place.scratch)
    relink(base, 0)
    assert not (base.folder / kept_relinks.RECORD).exists()
    assert not (base.folder / kept_relinks.FOLDER).exists()


@needs_bolt
def test_bolted_build_has_relinks_of_its_input(base, tmp_path):
    shutil.rmtree(base.place.scratch, ignore_errors=True)
    relink(base, 2)
    tool = os.path.realpath(shutil.which("llvm-bolt-16"))
    commands = {"kind": "bolt", "bolt": tool, "merge_fdata": "true"}
    tools = {"name": "bolt-16", "version": "16", "commands": commands}
    recipe = bolted(toolchain=tools, profile={"training": "mixed", "digest": "0" * 12})
    subprocess.run(bolt.instrument_command(tool, base.program, tmp_path / "program", tmp_path), check=True)
    subprocess.run([tmp_path / "program"], check=True)
    counters = tmp_path / "trained" / "counters"
    counters.mkdir(parents=True)
    shutil.copy(tmp_path / "profile", counters / bolt.PROFILE)
    json_record.write(counters.parent / "profile.json", {"files": 1, "counters_sha256": tree_sha256(counters)})
    made = tmp_path / "bolted"
    made.mkdir()
    bolt_server.main(
        recipe, base.folder / "identity.json", counters.parent / "profile.json",
        made / "install", made / "identity.json", made / "facts.json", tmp_path / "log", relinks=2,
    )  # fmt: skip
    assert kept_relinks.read_relinks(made).usable == [1, 2]
    assert json_record.read(kept_relinks.identity_of(made, 1))["build"] == "pgo_bolt"
    programs = [made / "install" / SERVER, *((made / f"relinked/{number}/install" / SERVER) for number in (1, 2))]
    assert len({subprocess.run([program], capture_output=True, check=True).stdout for program in programs}) == 1
    assert json_record.read(made / "facts.json")["bolt"]["functions_profiled"] > 0
