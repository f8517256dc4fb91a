"""Relinks of BOLT's input, laid out by BOLT with the profile of the build: real programs answer the same."""

import os
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from scripts.build.compilation import binary, bolt
from scripts.build.compilation.functions import functions_of, moved_share
from scripts.build.relink import kept_relinks
from scripts.build.relink.kept_relinks import Relink, RelinkRecord
from scripts.build.relink.relink_ways import ByBolt, by_bolt, by_linker
from scripts.build.relink.relinking import relink_build
from scripts.lib import json_record
from scripts.lib.build_records import BoltFacts
from tests.made.declared import bolted as bolted_recipe
from tests.made.linked import SERVER, linked

needs_bolt = pytest.mark.skipif(not shutil.which("llvm-bolt-16"), reason="bolt-16 is not installed")


def relink(folder, recipe, identity, way):
    relink_build(folder, 3, recipe, identity, way)
    return json_record.read(folder / kept_relinks.RECORD)


def relink_bolted(bolted, base, folder):
    identity, build, about = bolted
    way = partial(by_bolt, folder, about, lay_out(base))
    return relink(build, bolted_recipe(), identity, way)


def output_of(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def base(compiler, tmp_path_factory):
    """BOLT's input, relinked three times, with the profile of a training."""
    made = linked(compiler, tmp_path_factory.mktemp("base"), stage="relocatable")
    json_record.write(made.folder / "identity.json", made.identity.to_json())
    relink(made.folder, made.recipe, made.identity, partial(by_linker, made.recipe.digest, made.calls, made.place))
    tool, program = os.path.realpath(shutil.which("llvm-bolt-16")), made.folder / "program"
    output_of(*bolt.instrument_command(tool, made.program, program, made.folder))
    output_of(program)
    return made


def lay_out(base, tool=None):
    tool = tool or os.path.realpath(shutil.which("llvm-bolt-16"))

    def optimise(program, made):
        return bolt.facts_from_log(output_of(*bolt.optimise_command(tool, program, made, base.folder / "profile")))

    return optimise


@pytest.fixture
def bolted(base, tmp_path):
    """The folder of the build that BOLT made, and its relinks to be."""
    folder = tmp_path / "bolted"
    shutil.copytree(base.folder / "install", folder / "install")
    program = folder / "install" / SERVER
    program.unlink()
    about = lay_out(base)(base.program, program)
    return replace(binary.identified(base.identity, folder / "install", SERVER, None), build="pgo_bolt"), folder, about


@needs_bolt
@pytest.mark.real
def test_relinks_of_the_input_are_laid_out_and_answer_the_same(base, bolted):
    _, build, about = bolted
    facts = relink_bolted(bolted, base, base.folder)
    assert (facts["refused"], [one["refused"] for one in facts["relinks"]]) == (None, [None] * 3)
    for one, input_facts in zip(
        facts["relinks"], json_record.read(base.folder / kept_relinks.RECORD)["relinks"], strict=True
    ):
        made = kept_relinks.identity_of(build, one["number"]).parent / "install" / SERVER
        assert json_record.file_sha256(made) == one["sha256"] != input_facts["sha256"]
        assert one["order_sha256"] == input_facts["order_sha256"]
        assert one["functions_profiled"] == about.functions_profiled
        assert output_of(made) == output_of(base.program)
        assert moved_share(functions_of(build / "install" / SERVER), functions_of(made)) == one["moved_share"]
    assert sorted(path.name for path in build.iterdir()) == ["install", "relinked", "relinked.json"]


@needs_bolt
@pytest.mark.real
def test_refused_relink_of_the_input_is_refused_here_too(base, bolted, tmp_path):
    shutil.copytree(base.folder, tmp_path / "base")
    facts = json_record.read(tmp_path / "base" / kept_relinks.RECORD)
    facts["relinks"][1]["refused"] = "its functions are not those of the build"
    json_record.write(tmp_path / "base" / kept_relinks.RECORD, facts)
    found = relink_bolted(bolted, base, tmp_path / "base")
    assert [one["number"] for one in found["relinks"] if not one["refused"]] == [1, 3]
    assert "its functions are not those of the build" in found["relinks"][1]["refused"]


@needs_bolt
@pytest.mark.real
def test_input_of_before_is_a_reason(base, bolted, tmp_path):
    json_record.write(tmp_path / "base" / "identity.json", base.identity.to_json())
    facts = relink_bolted(bolted, base, tmp_path / "base")
    assert ("made without relinks" in facts["refused"], facts["relinks"]) == (True, [])


def test_relink_whose_profile_got_lost_is_refused():
    def way(profiled):
        inputs, about = {1: Relink(1)}, BoltFacts(functions_profiled=100)
        laid_out = BoltFacts(functions_profiled=profiled)
        nowhere = Path("nowhere")
        return ByBolt([1], nowhere, RelinkRecord(), False, 0.0, nowhere, nowhere, inputs, about, lambda *_: laid_out)

    assert [step.functions_profiled for step in way(95).steps(1, Path("program"))] == [None, 95]
    with pytest.raises(ValueError, match="a profile for 94 of its functions, for 100 of the build"):
        list(way(94).steps(1, Path("program")))
