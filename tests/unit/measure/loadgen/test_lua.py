"""A Lua script of the user's works from any path, is told by what it is made of, and never mistaken for another."""

import shutil

import pytest

from scripts.lib import json_record
from scripts.measure.loadgen import lua as loadgen_lua
from scripts.measure.loadgen.lua import script_path
from scripts.measure.loadgen.run_sysbench import started
from scripts.measure.loadgen.sysbench import options_of, read_capabilities
from scripts.study.config.yaml_lines import ConfigError
from tests.made.studies import CHECKOUT, paths, plan

STAND_IN = CHECKOUT / "tests" / "data" / "tpcc_like"


@pytest.fixture
def script(tmp_path):
    shutil.copytree(STAND_IN, tmp_path / "a folder")
    return tmp_path / "a folder" / "tpcc_like.lua"


def uses(script):
    """Return the keys of a study that loads and measures with a script."""
    return {
        "workloads": {"tpcc": {"script": str(script), "dataset": "tpcc"}},
        "datasets": {"tpcc": {"script": str(script), "tables": 2, "options": {"scale": 3}}},
    }


@pytest.fixture
def told():
    """A function that lets this process find the scripts of a study, as a job does that gets them as an argument."""
    yield lambda study: loadgen_lua.find_outside_scripts(loadgen_lua.outside_scripts(study.outside_scripts.values()))
    loadgen_lua.find_outside_scripts({})


def made_of(script):
    """Return the paths of the runs and datasets of a study with a script, as they are now."""
    made = paths(**uses(script))
    return {path for path in (*made.runs, *made.datasets) if "tpcc" in path}


def test_script_is_made_of_itself_and_the_modules_beside_it(script):
    assert list(loadgen_lua.script_files(script)) == ["tpcc_like.lua", "tpcc_like_sales.lua", "tpcc_like_tables.lua"]


def test_recipes_hold_the_content_and_no_path(script, tmp_path):
    elsewhere = shutil.copytree(script.parent, tmp_path / "b") / script.name
    made, moved = paths(**uses(script)), paths(**uses(elsewhere))
    assert list(made.runs) == list(moved.runs)
    assert list(made.datasets) == list(moved.datasets)
    assert str(tmp_path) not in json_record.canonical(
        [made.plan.loads.workload("tpcc").dump(), made.plan.loads.tables("tpcc").dump()]
    )


@pytest.mark.parametrize("part", ["tpcc_like.lua", "tpcc_like_sales.lua"])
def test_edit_of_the_script_or_of_a_module_makes_dataset_and_runs_new(script, part):
    before = made_of(script)
    with (script.parent / part).open("a") as lua:
        lua.write("-- edited\n")
    assert not before & made_of(script)


def test_path_below_home_is_found(script, monkeypatch):
    monkeypatch.setenv("HOME", str(script.parent.parent))
    assert plan(**uses("~/a folder/tpcc_like.lua")).loads.workload("tpcc") == plan(**uses(script)).loads.workload(
        "tpcc"
    )


def test_job_finds_the_script_and_sysbench_its_modules(script, told):
    study = plan(**uses(script)).study
    told(study)
    found = script_path(plan(**uses(script)).loads.workload("tpcc").script)
    assert found == str(script)
    assert options_of(read_capabilities(), found)["scale"] == "=N"
    with started(["sysbench", found, "help"], None) as sysbench:
        assert b"--scale=N" in sysbench.stdout.read()


def test_job_refuses_a_script_that_was_edited_since_or_that_nobody_told_of(script, told):
    study = plan(**uses(script)).study
    name = plan(**uses(script)).loads.workload("tpcc").script
    with pytest.raises(ValueError, match=f"script {name}: its place is unknown"):
        script_path(name)
    told(study)
    script.write_text(script.read_text() + "-- edited\n")
    with pytest.raises(ValueError, match=r"tpcc_like\.lua: is tpcc_like\.lua@\w{12} by now, expected"):
        script_path(name)


def test_study_without_such_scripts_changes_no_environment(monkeypatch):
    study = plan().study
    assert loadgen_lua.outside_scripts(study.outside_scripts.values()) == {}
    monkeypatch.setenv("LUA_PATH", "/users/?.lua")
    assert loadgen_lua.sysbench_environment() == {}


def test_modules_of_one_name_and_two_contents_are_refused(script, tmp_path):
    other = shutil.copytree(script.parent, tmp_path / "b")
    (other / "tpcc_like_sales.lua").write_text("-- another\n")
    (other / "tpcc_like.lua").rename(other / "second.lua")
    study = uses(script)
    study["workloads"]["second"] = {"script": str(other / "second.lua"), "dataset": "tpcc"}
    with pytest.raises(ConfigError, match=r"workloads\.second\.script: .*tpcc_like_sales\.lua differ, and Lua distin"):
        plan(**study)


def test_script_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigError) as caught:
        plan(**uses(tmp_path / "none.lua"))
    told = "script: '.*none.lua' cannot be read \\(No such file or directory\\), expected the path of a Lua file"
    caught.match(f"workloads.tpcc.{told}")
    caught.match(f"datasets.tpcc.{told}")
