"""Resolve the Lua script that a workload or dataset names: one of ours, one of the user's, or one of sysbench's."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from scripts import ROOT
from scripts.lib.json_record import digest, file_sha256
from scripts.measure.loadgen.script_options import tokens

# Name in recipes -> path of the scripts outside the checkout that this job was given.
_GIVEN: dict[str, str] = {}
REQUIRED_MODULE = re.compile(r"""\brequire\s*\(?\s*["']([\w.-]+)["']""")
CONTENT_MARK = "@"


def is_outside(script: str) -> bool:
    """Return whether a script in a config is a path (of a script outside the checkout) instead of a name."""
    return script.startswith(("/", "~/"))


def outside_path(script: str) -> Path:
    """Return the path of a script outside the checkout, with ~ expanded."""
    return Path(script).expanduser()


def recipe_name(script: str) -> str:
    """Return the name of a script in recipes: `tpcc.lua@` and a digest of its content and of the modules it requires.

    A script given by name keeps that name. Raises OSError when a script cannot be read.
    """
    if not is_outside(script):
        return script
    content = {name: file_sha256(file) for name, file in script_files(outside_path(script)).items()}
    return f"{outside_path(script).name}{CONTENT_MARK}{digest(content)}"


def script_files(script: Path) -> dict[str, Path]:
    """Return name -> file of a script and of the modules it requires from its own folder, directly or indirectly."""
    files, waiting = {}, [script]
    while waiting:
        file = waiting.pop()
        if file.name not in files:
            files[file.name] = file
            modules = (
                script.parent / f"{name}.lua" for name in REQUIRED_MODULE.findall(file.read_text(encoding="utf-8"))
            )
            waiting += [module for module in modules if module.is_file()]
    return dict(sorted(files.items()))


def outside_scripts(scripts: Iterable[str]) -> dict[str, str]:
    """Return name in recipes -> path of a study's scripts outside the checkout; jobs get them as an argument."""
    return {recipe_name(script): str(outside_path(script).absolute()) for script in scripts}


def find_outside_scripts(scripts: Mapping[str, str]) -> None:
    """Let this process find the scripts of `outside_scripts`, and no other outside the checkout."""
    _GIVEN.clear()
    _GIVEN.update(scripts)


def sysbench_environment() -> dict[str, str]:
    """Return the variable by which LuaJIT finds the modules beside a study's scripts; empty without such scripts."""
    folders = dict.fromkeys(str(Path(path).parent) for path in _GIVEN.values())
    return {"LUA_PATH": "".join(f"{folder}/?.lua;" for folder in folders) + ";"} if folders else {}


def declared_path(name: str) -> str | None:
    """Return the path of an outside script by its name in a recipe; None for any other script.

    Raises ValueError when no such script was declared, or when it was edited after the workflow started.
    """
    if CONTENT_MARK not in name:
        return None
    path = _GIVEN.get(name)
    if path is None:
        raise ValueError(
            f"script {name}: its place is unknown; expected it in the argument `--scripts`, which the workflow gives"
        )
    if (now := recipe_name(path)) != name:
        raise ValueError(f"script {path}: is {now} by now, expected {name}: it was edited since the workflow started")
    return path


OUR_SCRIPTS = ROOT / "workloads"


def script_path(script: str) -> str:
    """Return the path of a script of the user's or of `workloads/`; else the name, for a script of sysbench's."""
    file = OUR_SCRIPTS / script
    return declared_path(script) or (str(file) if file.is_file() else script)


LOOP = "thread_run"
REPORTS = ("report_intermediate", "report_cumulative")


def own_loop(script: str) -> bool:
    """Return whether a script that the workflow can read defines sysbench's loop over events itself."""
    return LOOP in _words(script)


def own_reports(script: str) -> list[str]:
    """Return the hooks by which a script that the workflow can read prints reports in the place of sysbench's."""
    return [name for name in REPORTS if name in _words(script)]


def _words(script: str) -> set[str]:
    """Return the names and texts in a script and its modules, outside comments."""
    path = outside_path(script) if is_outside(script) else OUR_SCRIPTS / script
    try:
        texts = [file.read_text(encoding="utf-8", errors="replace") for file in script_files(path).values()]
    except OSError:
        return set()  # one of sysbench's own, none of which has a loop or reports
    return {token.text for text in texts for token in tokens(text) if token.kind in ("name", "text")}


def why_no_gate(script: str, options: Collection[str], has_client_host: bool = False) -> str:
    """Return why the clients of a load cannot be held at a gate, which would count them too; empty if they can.

    `script` is a name or a path, `options` are the names of the load's options.
    """
    if has_client_host:
        return "the load generator runs on another host"
    if "rate" in options:
        return "the load has a rate of its own"
    if own_loop(script if is_outside(script) else script_path(script)):
        return f"{script} has a loop of its own (thread_run)"
    return ""
