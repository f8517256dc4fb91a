"""Archives that do not exist and options that scripts do not have stop the plan, by file, line, key and value."""

import os
import re
import shutil
import socket
from pathlib import Path

import pytest
import yaml

from scripts.build.compilation.compiler_calls import CompilerCall, write_calls
from scripts.lib import json_record
from scripts.measure.loadgen import sysbench
from scripts.study.config.loading import read
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.preview import checks
from scripts.study.plan.preview import plan_text as preview_text
from scripts.study.plan.preview.due import Due
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.studies import CHECKOUT, SMALL

OWN = {"family": "postgresql", "product": "PostgreSQL", "version": "15.1"}
ARMS = {name: {"server": "own", "build": name} for name in ("baseline", "lto")}
URL = {"url": "https://example.org/{version}.tar.gz", "sha256": "ab" * 32}
COUNTS = ["range_size", "point_selects", "index_updates", "non_index_updates", "delete_inserts"]
HELP = {**dict.fromkeys(COUNTS, "=N"), "range_selects": "[=on|off]", "skip_trx": "[=on|off]"}


@pytest.fixture(autouse=True)
def asked(monkeypatch, tmp_path):
    """A sysbench whose scripts have three options; the scripts it was asked about."""
    monkeypatch.chdir(tmp_path)
    found = []
    made = sysbench.Capabilities("sysbench", "1.0.20", "LuaJIT", "", ("pgsql",), frozenset({"rand-type"}))
    monkeypatch.setattr(sysbench, "read_capabilities", lambda: made)
    monkeypatch.setattr(sysbench, "options_of", lambda _, script: found.append(script) or HELP)
    return found


def paths(folder, **changes):
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump({**SMALL, **changes}, sort_keys=False, width=1000))
    return Schedule(Plan(read(file, CHECKOUT), CHECKOUT))


def demanded(made):
    return checks.demand(Due(made))


def refusal(made, old):
    """Return the mistakes without file and line, which must be that of the text `old`."""
    with pytest.raises(ConfigError) as caught:
        preview_text.plan_text(made, cores=1)
    head, *lines = str(caught.value).splitlines()
    assert head == f"study small: {len(lines)} mistake(s)"
    text = Path("study.yaml").read_text(encoding="utf-8")
    where = f"  study.yaml:{text[: text.index(old)].count(chr(10)) + 1}: "
    assert all(line.startswith(where) for line in lines), (where, lines)
    return [line.removeprefix(where) for line in lines]


def own(*sources):
    return {"servers": {"own": {**OWN, "sources": list(sources)}}, "variants": ARMS}


def test_archive_that_does_not_exist_stops_the_plan(tmp_path):
    (tmp_path / "server-15.1.tar.gz").touch()
    made = paths(tmp_path, **own({"file": f"{tmp_path}/srver-{{version}}.tar.gz"}))
    assert refusal(made, "srver") == [
        f"servers.own.sources.0.file: '{tmp_path}/srver-15.1.tar.gz' does not exist, expected the path of an archive, "
        "did you mean 'server-15.1.tar.gz'?"
    ]


def pipe(path):
    os.mkfifo(path)


def listening(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def circle(path):
    path.symlink_to(path)


NO_FILES = {
    "a named pipe": pipe,
    "a socket": listening,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "holds 0 bytes": lambda path: path.touch(),
    "cannot be looked at: Too many levels": circle,
    "does not exist": lambda path: None,
}


@pytest.mark.parametrize("kind", ["file", "directory", "installed"])
@pytest.mark.parametrize("what", NO_FILES)
def test_source_that_is_neither_file_nor_folder_stops_the_plan_with_its_line(tmp_path, monkeypatch, kind, what):
    monkeypatch.chdir(tmp_path)
    NO_FILES[what](tmp_path / "x")
    made = own({kind: str(tmp_path / "x")})
    if kind == "installed":
        made["variants"] = {name: {**arm, "build": "prebuilt"} for name, arm in ARMS.items()}
    with pytest.raises(ConfigError) as caught:
        checks.demand(Due(paths(tmp_path, **made)))
    text = Path("study.yaml").read_text(encoding="utf-8")
    line = text[: text.index(f"{kind}: {tmp_path}/x")].count(chr(10)) + 1
    assert f"study.yaml:{line}: servers.own.sources.0.{kind}: " in str(caught.value)
    assert ("/dev/zero" if what == "a device" else f"{tmp_path}/x") in str(caught.value)
    words = "is a file" if what == "holds 0 bytes" and kind == "directory" else what
    assert re.search(words, str(caught.value))
    assert "expected" in str(caught.value)


def test_archive_that_another_source_replaces_is_a_note(tmp_path):
    made = paths(tmp_path, **own({"file": "/nowhere/x.tar.gz", "sha256": "ab" * 32}, URL))
    note = "servers.own.sources.0.file: '/nowhere/x.tar.gz' does not exist; url is used instead"
    assert demanded(made) == [note]
    assert f"  note      {note}\n" in preview_text.plan_text(made, cores=1)


def test_archive_that_would_only_stand_in_is_not_mentioned(tmp_path):
    assert demanded(paths(tmp_path, **own(URL, {"file": "/nowhere/x.tar.gz"}))) == []


def test_archive_of_fetched_sources_may_be_gone(tmp_path):
    made = paths(tmp_path, **own({"file": "/nowhere/x.tar.gz", "sha256": "ab" * 32}))
    json_record.write(tmp_path / made.source("own"), {})
    assert demanded(made) == []


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("rnage_size", 10, "10 cannot be set, oltp_read_only has no such option, did you mean 'range_size'?"),
        ("range_size", "ten", "'ten', expected N as its script declares"),
        ("skip-trx", "maybe", "'maybe', expected on|off as its script declares"),
    ],
)
def test_option_that_a_script_lacks_or_misreads_stops_the_plan(tmp_path, option, value, message):
    loads = {"own_load": {"script": "oltp_read_only", "dataset": "sbtest", "options": {option: value}}}
    assert refusal(paths(tmp_path, workloads=loads), f"{option}:") == [
        f"workloads.own_load.options.{option}: {message}"
    ]


def test_options_of_datasets_and_of_a_variants_data_are_checked(tmp_path):
    small = {"script": "oltp_read_only", "dataset": "tiny", "options": {"range-size": 5, "rand_type": "uniform"}}
    tiny = {"tables": 1, "rows": 9, "options": {"engine": "x"}}
    made = paths(tmp_path, workloads={"small": small}, datasets={"tiny": tiny})
    assert refusal(made, "engine:")[0].startswith(
        "datasets.tiny.options.engine: 'x' cannot be set, oltp_read_write has"
    )
    arms = {**SMALL["variants"], "other": {**SMALL["variants"]["pgo"], "data": {"options": {"skip_trax": True}}}}
    (line,) = refusal(paths(tmp_path, workloads={"small": small}, datasets={"tiny": {**tiny, "options": {}}},
                            variants=arms), "skip_trax:")  # fmt: skip
    assert line.startswith("variants.other.data.options.skip_trax: True cannot be set, ")
    assert line.endswith("did you mean 'skip_trx'?")


PLAIN = 'sysbench.cmdline.options = {size = {"rows", 10}}\n'
COMPUTED = "for _, name in ipairs(NAMES) do sysbench.cmdline.options[name] = {name, 1} end\n"


def test_script_of_the_user_is_read_and_never_run(tmp_path, asked):
    script = tmp_path / "own.lua"
    script.write_text(f'os.execute("touch {tmp_path}/ran")\n{PLAIN}function event() end')
    loads = {"mine": {"script": str(script), "dataset": "sbtest", "options": {"siz": 1}}}
    (line,) = refusal(paths(tmp_path, workloads=loads), "siz:")
    assert line.endswith(f"1 cannot be set, {script} has no such option, did you mean 'size'?")
    assert str(script) not in asked
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed")
def test_nothing_that_a_script_of_the_user_requires_is_run_by_a_plan(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "module.lua").write_text(f'os.execute("touch {tmp_path}/ran")\n')
    (tmp_path / "oltp_read_only.lua").write_text(f'os.execute("touch {tmp_path}/ran")\n')
    script = tmp_path / "own.lua"
    script.write_text('require("oltp_common")\nrequire("module")\nfunction event() execute_point_selects() end\n')
    loads = {
        "mine": {"script": str(script), "dataset": "sbtest", "options": {"point_selects": 3}},
        "theirs": {"script": "oltp_read_only", "dataset": "sbtest", "options": {"point_selects": 3}},
    }
    assert demanded(paths(tmp_path, workloads=loads)) == []
    assert not (tmp_path / "ran").exists()


REPORTING = """
function event() end
-- sysbench.hooks.report_intermediate is not set
sysbench.hooks.report_cumulative = sysbench.report_json
"""


def test_reports_of_a_scripts_own_stop_the_plan_only_where_no_gate_counts(tmp_path):
    script = tmp_path / "own.lua"
    script.write_text(REPORTING)
    gated = {"mine": {"script": str(script), "dataset": "sbtest"}}
    assert demanded(paths(tmp_path, workloads=gated)) == []
    rated = {"mine": {"script": str(script), "dataset": "sbtest", "options": {"rate": 50}}}
    lines = refusal(paths(tmp_path, workloads=rated), "script:")
    (line,) = (line for line in lines if "report_" in line)
    assert line.startswith(f"workloads.mine.script: '{script}' sets sysbench.hooks.report_cumulative, and the load has")
    assert line.endswith("expected a script without such hooks")


def test_script_whose_text_does_not_tell_its_options_is_left_to_the_first_job(tmp_path, asked):
    script = tmp_path / "own.lua"
    script.write_text(COMPUTED + "function event() end")
    loads = {"mine": {"script": str(script), "dataset": "sbtest", "options": {"any": 1}}}
    (note,) = demanded(paths(tmp_path, workloads=loads))
    assert note.startswith(f"options of {script} are not checked: ")
    assert note.endswith("so the first job asks it")
    assert str(script) not in asked


def test_script_without_help_is_not_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(sysbench, "options_of", lambda *_: {})
    loads = {"mine": {"script": "oltp_insert", "dataset": "sbtest", "options": {"odd": 1}}}
    assert demanded(paths(tmp_path, workloads=loads)) == []


def test_plan_without_sysbench_notes_that_options_were_not_checked(tmp_path, monkeypatch):
    def missing():
        raise ValueError("sysbench: not found")

    monkeypatch.setattr(sysbench, "read_capabilities", missing)
    assert demanded(paths(tmp_path)) == ["options of sysbench scripts are not checked: sysbench: not found"]


def test_options_for_a_client_host_are_not_checked_here(tmp_path):
    (note,) = demanded(paths(tmp_path, client={"ssh": "loadgen"}))
    assert note == "options of sysbench scripts are not checked: sysbench runs on the client host"


INTERLEAVING = [(True, 1, True), ("ON", 1, True), (False, 1, False), (True, 2, False)]


@pytest.mark.parametrize(("value", "nodes", "noted"), INTERLEAVING)
def test_pool_spread_over_the_nodes_of_a_machine_with_one_is_a_note(tmp_path, value, nodes, noted):
    arms = {name: {"server": "mysql-8.0.33-binary", "build": "prebuilt"} for name in ("one", "other")}
    options = {"innodb_numa_interleave": value}
    made = paths(tmp_path, variants=arms, reference="one", options=options)
    text = "this machine has a single NUMA node, so the option changes nothing here"
    note = f"options.innodb_numa_interleave is on: {text} (aa, one, other)"
    assert checks.numa_notes(Due(made), nodes) == ([note] if noted else [])


def test_kept_build_with_flags_of_a_shell_is_a_note_and_one_that_cannot_be_read_another(tmp_path):
    made = paths(tmp_path)
    assert checks.foreign_flag_notes(Due(made)) == []
    one, other, *_ = ({**made.builds, **made.stages}).items()
    facts = {"family": "postgresql", "stage": "plain", "flags": {}, "configure_command": ["configure"]}
    for folder, _pair in (one, other):
        json_record.write(Path(folder, "facts.json"), facts)
    unit = CompilerCall("a.o", ("gcc", "-fwrapv", "-g", "-O0", "-c", "a.c", "-o", "a.o"), links=False, said="")
    write_calls([unit], Path(one[0], "calls.json.gz"))
    Path(other[0], "calls.json.gz").write_bytes(b"")
    foreign, unread = checks.foreign_flag_notes(Due(made))
    told = f"build {one[1][1]} of postgresql-15 was compiled with flags that no recipe gave: -O0 -g"
    assert foreign == f"{told}; remove {one[0]} to make it again without them"
    assert unread.startswith(f"build {other[1][1]} of postgresql-15: its compiler's calls cannot be read (")


def test_library_that_sysbench_is_to_preload_must_be_on_this_machine(tmp_path):
    made = paths(tmp_path, client_environment={"LD_PRELOAD": f"{tmp_path}/jemalloc.so"})
    (text,) = refusal(made, "LD_PRELOAD")
    assert text.startswith(
        f"client_environment.LD_PRELOAD: '{tmp_path}/jemalloc.so' does not exist, expected the absol"
    )


@pytest.mark.parametrize("owner", ["variants", "builds"])
def test_library_to_preload_that_this_machine_lacks_stops_the_plan(tmp_path, owner):
    (tmp_path / "jemalloc.so").touch()
    given = {"environment": {"LD_PRELOAD": f"{tmp_path}/jemaloc.so"}}
    arms = {**SMALL["variants"], "pgo": {**SMALL["variants"]["pgo"], **(given if owner == "variants" else {})}}
    builds = {"builds": {"pgo": given}} if owner == "builds" else {}
    assert refusal(paths(tmp_path, variants=arms, **builds), "LD_PRELOAD") == [
        f"{owner}.pgo.environment.LD_PRELOAD: '{tmp_path}/jemaloc.so' does not exist, expected the absolute path of a "
        f"library, did you mean 'jemalloc.so'?"
    ]
