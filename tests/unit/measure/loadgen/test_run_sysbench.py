"""Datasets are filled by the script and options they name, and the loads on them are told what both mean."""

import shutil
from pathlib import Path

import pytest

from scripts.lib.host import process
from scripts.lib.host.process import CommandFailed
from scripts.lib.recipe_models import TablesRecipe, WorkloadRecipe
from scripts.measure.loadgen import run_sysbench, sysbench
from scripts.measure.loadgen.output import SysbenchFailed, SysbenchMisused

GENERATOR = sysbench.Capabilities("/usr/bin/sysbench", "1.0.20", "", "ab", ("mysql",), frozenset())
FLAGS = ["--db-driver=mysql"]
FRESH = TablesRecipe(tables=1, rows=10, fresh=True)
HELP = {"oltp_write_only": {"secondary": "[=on|off]"}, "tpcc.lua": {"scale": "=N", "use_fk": "=N"}, "quiet.lua": {}}


@pytest.fixture(autouse=True)
def generator(monkeypatch):
    monkeypatch.setattr(sysbench, "read_capabilities", lambda: GENERATOR)
    monkeypatch.setattr(sysbench, "options_of", lambda _, script: HELP.get(script, {}))


@pytest.fixture
def commands(monkeypatch):
    """Keep the commands that would be run."""
    found = []
    monkeypatch.setattr(process, "run", lambda command, log, **_: found.append(command))
    return found


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"tables": 4, "rows": 10}, ["oltp_read_write", *FLAGS, "--tables=4", "--table_size=10", "--threads=4"]),
        (
            {"tables": 1, "rows": 10, "script": "oltp_write_only", "options": {"secondary": True}},
            ["oltp_write_only", *FLAGS, "--tables=1", "--table_size=10", "--secondary=on", "--threads=1"],
        ),
        (
            {"tables": 2, "script": "tpcc.lua", "options": {"scale": 3}},
            ["tpcc.lua", *FLAGS, "--tables=2", "--scale=3", "--threads=2"],
        ),
        ({"script": "quiet.lua"}, ["quiet.lua", *FLAGS, "--threads=8"]),
    ],
    ids=["default", "options", "scale", "no size"],
)
def test_script_is_told_what_the_dataset_says_and_nothing_else(commands, tmp_path, tables, told):
    command = run_sysbench.fill(TablesRecipe(**tables), FLAGS, 8, tmp_path / "log")
    assert commands == [command] == [["/usr/bin/sysbench", *told, "prepare"]]


def test_value_the_script_would_misread_is_refused(commands, tmp_path):
    tables = TablesRecipe(script="tpcc.lua", options={"scale": "ten"})
    with pytest.raises(ValueError, match=r"options of tpcc\.lua: scale: 'ten', expected N as its script declares"):
        run_sysbench.fill(tables, FLAGS, 1, tmp_path / "log")
    assert commands == []


@pytest.mark.parametrize(
    ("script", "own", "shared", "told"),
    [
        ("oltp_write_only", {"index_updates": 1}, {}, {"index_updates": 1}),
        ("tpcc.lua", {"trx_level": "RC"}, {"scale": 3}, {"scale": 3, "trx_level": "RC"}),
        ("tpcc.lua", {"scale": 1}, {"scale": 3}, {"scale": 1}),
        ("tpcc.lua", {"use-fk": 0}, {"use_fk": 1}, {"use-fk": 0}),
        ("tpcc.lua", {}, {"secondary": True}, {}),
        ("quiet.lua", {"a": 1}, {"scale": 3}, {"a": 1}),
    ],
    ids=["nothing shared", "both", "own wins", "own wins in another spelling", "unknown to it", "no help"],
)
def test_load_is_told_the_datasets_options_that_its_script_has(script, own, shared, told):
    load = WorkloadRecipe(script=script, options=own, tables=TablesRecipe(tables=1, options=shared))
    assert run_sysbench.options_of_load(GENERATOR, script, load) == told


@pytest.mark.parametrize(("rows", "rows_of_table", "told"), [(None, 100, 100), (10, 100, 10), (None, None, None)])
def test_load_draws_its_keys_from_its_own_rows_or_all_of_its_tables(rows, rows_of_table, told):
    load = WorkloadRecipe(script="oltp_write_only", rows=rows, tables=TablesRecipe(tables=1, rows=rows_of_table))
    options = run_sysbench.call_of_load(GENERATOR, load, FLAGS, clients=1, seconds=1, seed=1).options
    assert [text for text in options if "table_size" in text] == ([f"--table_size={told}"] if told else [])


def test_only_a_fresh_dataset_is_filled_on_the_measured_server(commands, tmp_path):
    assert run_sysbench.fill_anew(TablesRecipe(tables=1, rows=10), FLAGS, tmp_path / "log") == []
    assert commands == []
    assert run_sysbench.fill_anew(FRESH, FLAGS, tmp_path / "log") == commands[0]


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("FATAL: mysql_drv_query() returned error 1114 (The table 'sbtest1' is full)", SysbenchFailed),
        ("invalid option: --secondry=on", SysbenchMisused),
    ],
)
def test_failure_is_told_whatever_the_status_and_misuse_is_no_result(monkeypatch, tmp_path, said, kind, status):
    def failing(command, log, **_):
        log.write_text(f"sysbench 1.0.20\n\n{said}\n")
        if status:
            raise CommandFailed(f"sysbench … ended with status 1:\n{said}")

    monkeypatch.setattr(process, "run", failing)
    with pytest.raises(kind, match=r"the tables could not be loaded: (?s:.*)\n\(log: .*/log\)") as caught:
        run_sysbench.fill_anew(FRESH, FLAGS, tmp_path / "log")
    assert said in str(caught.value)


def test_loader_that_is_killed_is_told_apart_from_one_that_failed(monkeypatch, tmp_path):
    monkeypatch.setattr(sysbench, "prepare_command", lambda *_: ["sh", "-c", "kill -KILL $$"])
    with pytest.raises(run_sysbench.SysbenchKilled, match=r"the tables could not be loaded: .* was killed by SIGKILL"):
        run_sysbench.fill(TablesRecipe(tables=1, rows=10), FLAGS, 1, tmp_path / "log")


@pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed")
def test_what_loading_tables_leaves_behind_ends_with_it(tmp_path):
    script = tmp_path / "own.lua"
    script.write_text(
        "sysbench.cmdline.options = {}\n"
        f'function prepare() os.execute("setsid sleep 987 & echo $! >{tmp_path}/pid") end\n'
        "function event() end\n"
    )
    run_sysbench.fill(TablesRecipe(script=str(script)), FLAGS, 1, tmp_path / "log.txt")
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()
    assert (tmp_path / "log.txt").read_text().startswith("$ ")
    assert "keeper" not in (tmp_path / "log.txt").read_text()
