"""Options of a Lua script: from its text, as sysbench itself would print them; what no text tells is asked for."""

import os
import shutil
import time
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.measure.loadgen import sysbench
from scripts.measure.loadgen.script_options import declared

TPCC_LIKE = Path(__file__).parents[3] / "data" / "tpcc_like"
needs_sysbench = pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed")
PLAIN = """
#!/usr/bin/sysbench
--[[ sysbench.cmdline.options = {none = {"not this", 1}} ]]
require("ffi")
sysbench.cmdline.options = {
   number = {"a, b = {c}", 10 * 1000}, ["on-off"] = {'it''s on', true};
   text = {"words " .. [[and more]], "x"}, bare = {"nothing behind it"}, list = {"some", {"a", "b"}},
   typed = {"without a default", nil, sysbench.cmdline.ARG_BOOL},
}
sysbench.cmdline.options.later = {"set on its own", -1.5}
sysbench.cmdline.options["quoted"] = {"in brackets", false}
sysbench.cmdline.commands = {prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND}}
function event() if sysbench.opt.number > 1 then con:query("SELECT 1") end end
"""
FORMS = {
    "number": "=N", "on_off": "[=on|off]", "text": "=STRING", "bare": "=STRING", "list": "[=LIST,...]",
    "typed": "[=on|off]", "later": "=N", "quoted": "[=on|off]",
}  # fmt: skip


def options(tmp_path, text, **modules):
    for name, body in modules.items():
        (tmp_path / f"{name}.lua").write_text(body)
    (tmp_path / "own.lua").write_text(text)
    return declared(tmp_path / "own.lua", [tmp_path])


def test_plain_tables_give_names_and_forms(tmp_path):
    assert options(tmp_path, PLAIN.lstrip().replace("it''s", "it is")) == FORMS


def test_script_without_options_has_none(tmp_path):
    assert options(tmp_path, "function event() end") == {}


def test_modules_count_in_the_order_of_the_text(tmp_path):
    module = 'sysbench.cmdline.options = {size = {"rows", 1}}'
    assert options(tmp_path, 'require "m"\nsysbench.cmdline.options.more = {"", 1}', m=module).keys() == {
        "size",
        "more",
    }
    assert options(tmp_path, 'sysbench.cmdline.options = {more = {"", 1}}\nrequire("m")', m=module).keys() == {"size"}


UNTOLD = {
    "computed name": 'for i = 1, 3 do sysbench.cmdline.options["n" .. i] = {"", i} end',
    "other name": "local all = sysbench.cmdline.options\nall.size = {'rows', 1}",
    "other table": "local s = sysbench\ns.cmdline.options = {}",
    "by index": 'sysbench["cmdline"].options = {}',
    "condition": 'if os.getenv("X") then sysbench.cmdline.options = {size = {"rows", 1}} end',
    "function": 'function thread_init() sysbench.cmdline.options.size = {"rows", 1} end',
    "computed default": 'sysbench.cmdline.options = {size = {"rows", default_size()}}',
    "not a table": "sysbench.cmdline.options = made()",
    "loop over it": "for name in pairs(sysbench.cmdline.options) do end",
    "other file": 'dofile("options.lua")',
    "made text": 'loadstring("sysbench.cmdline" .. ".options = {}")()',
    "module elsewhere": 'require("no.such.module")',
    "module by a made name": 'require("m" .. 1)',
    "protected": 'pcall(require, "m")',
    "cut off": 'sysbench.cmdline.options = {size = {"rows"',
    "empty": "sysbench.cmdline.options = {size = {}}",
    "positional": 'sysbench.cmdline.options = {{"rows", 1}}',
}


@pytest.mark.parametrize("text", UNTOLD.values(), ids=UNTOLD)
def test_what_the_text_does_not_tell_is_not_guessed(tmp_path, text):
    assert options(tmp_path, text) is None


@needs_sysbench
@pytest.mark.parametrize("script", [*sorted(Path("/usr/share/sysbench").glob("*.lua")),
                                    *sorted((ROOT / "workloads").glob("*.lua")), TPCC_LIKE / "tpcc_like.lua"],
                         ids=lambda path: path.name)  # fmt: skip
def test_the_text_tells_what_sysbench_prints(script):
    generator = sysbench.read_capabilities()
    known = sysbench.declared_options(generator, str(script))
    assert known is not None
    assert known == sysbench.asked_options(generator.path, str(script))


@needs_sysbench
def test_a_job_asks_a_script_as_another_user_and_ends_what_it_starts(tmp_path):
    script = tmp_path / "own.lua"
    script.write_text(
        f'os.execute("id -u; pwd; setsid sleep 987 & echo $! >{tmp_path}/pid")\nos.execute("id -u >{tmp_path}/uid")\n'
        'for _, name in ipairs({"one", "two"}) do\n'
        "  sysbench.cmdline.options = sysbench.cmdline.options or {}\n"
        "  sysbench.cmdline.options[name] = {name, 1}\nend\n"
    )
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o001)
    begin_s = time.monotonic()
    assert sysbench.options_of(sysbench.read_capabilities(), str(script)) == {"one": "=N", "two": "=N"}
    assert time.monotonic() - begin_s < sysbench.ANSWERED_WITHIN_S
    assert (int((tmp_path / "uid").read_text()) != 0) or os.getuid() != 0
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


UNANSWERED = {
    "hangs": ("while true do end", r"did not end within 0\.5 s"),
    "prints": ("while true do print('--size=N') end", "printed more than 1 MiB"),
    "fails": ('error("no such file")', "failed: FATAL: .*no such file"),
}


@needs_sysbench
@pytest.mark.parametrize("name", UNANSWERED)
def test_a_script_that_does_not_answer_is_named_and_left_to_sysbench_itself(tmp_path, monkeypatch, name):
    generator, (text, said) = sysbench.read_capabilities(), UNANSWERED[name]
    monkeypatch.setattr(sysbench, "ANSWERED_WITHIN_S", 0.5 if name == "hangs" else 20)
    script = tmp_path / f"{name}.lua"
    script.write_text(f"debug = debug\n{text}\n")
    with pytest.raises(sysbench.ScriptUnanswered, match=rf"{name}\.lua: .*{said}"):
        sysbench.options_of(generator, str(script))
    sysbench.demand_options(generator, str(script), {"scale": "x"})
