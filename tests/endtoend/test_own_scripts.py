"""A benchmark of the user's, with modules and a prepare of its own, loads its tables and is measured, from any path."""

import json
import shutil

import pytest

from scripts.lib import json_record
from scripts.measure.loadgen import lua
from tests.endtoend import installed_mariadb
from tests.endtoend.folders import open_folder
from tests.workflow.running import CHECKOUT

pytestmark = pytest.mark.real
STAND_IN = CHECKOUT / "tests" / "data" / "tpcc_like"


def test_script_of_the_user_loads_its_own_tables_and_is_measured_on_them():
    if why := installed_mariadb.missing():
        pytest.skip(why)
    with open_folder("outside-lua-") as folder:
        script = shutil.copytree(STAND_IN, folder / "tpcc") / "tpcc_like.lua"
        paths = installed_mariadb.plan(
            workloads={"tpcc": {"script": str(script), "dataset": "tpcc"}},
            datasets={"tpcc": {"script": str(script), "tables": 2, "options": {"scale": 3}}},
        )
        study = paths.plan.study
        scripts = json_record.canonical(lua.outside_scripts(study.outside_scripts.values()))
        place = installed_mariadb.Place(folder, installed_mariadb.lay_out(folder / "build"), paths)
        for command in (place.load_command(), place.run_command("first")):
            status, said = installed_mariadb.finish([*command, "--scripts", scripts])
            assert status == 0, said
        run = json.loads(place.run("first").read_text())
    assert run["outcome"] == "ok", run["reason"]
    assert run["window"]["errors"] == 0
    assert run["window"]["transactions"] > 100
    assert str(script) in run["commands"]["measure"]
    assert {"--tables=2", "--scale=3"} < set(run["commands"]["measure"])
    assert not any(word.startswith("--table_size") for word in run["commands"]["measure"])
