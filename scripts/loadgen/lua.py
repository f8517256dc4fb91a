"""Which Lua script a workload means."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.record import digest, file_sha256

# Set for all jobs: where the scripts are, and where LuaJIT looks for the modules beside them.
PLACES_VARIABLE, LUA_PATH_VARIABLE = "WORKLOAD_SCRIPTS", "LUA_PATH"
REQUIRED_MODULE = re.compile(r"""\brequire\s*\(?\s*["']([\w.-]+)["']""")
CONTENT_MARK = "@"


def is_outside(script: str) -> bool:
    """Tell whether a script of a config is a path, and no name."""
    return script.startswith(("/", "~/"))


def outside_path(script: str) -> Path:
    """Return where a script outside the checkout is."""
    return Path(script).expanduser()


def recipe_name(script: str) -> str:
    """Return what a recipe calls a script: `tpcc.lua@0123456789ab`, by its content and that of the modules beside it.

    A script that has a name of its own is called so. Raises OSError when it cannot be read.
    """
    if not is_outside(script):
        return script
    content = {name: file_sha256(file) for name, file in script_files(outside_path(script)).items()}
    return f"{outside_path(script).name}{CONTENT_MARK}{digest(content)}"


def script_files(script: Path) -> dict[str, Path]:
    """Return name -> file of a script and of all modules beside it that it requires; others are the machine's."""
    found, waiting = {}, [script]
    while waiting:
        file = waiting.pop()
        if file.name not in found:
            found[file.name] = file
            beside = (
                script.parent / f"{name}.lua" for name in REQUIRED_MODULE.findall(file.read_text(encoding="utf-8"))
            )
            waiting += [module for module in beside if module.is_file()]
    return dict(sorted(found.items()))


def declared_scripts(config: dict[str, Any], entries: dict[str, dict[str, dict]]) -> Iterator[tuple[tuple, str]]:
    """Yield (key path, script) of every script outside the checkout that a config and its entries declare."""
    variants = {name: variant.get("data") or {} for name, variant in config.get("variants", {}).items()}
    holders = [(("workloads", name), one) for name, one in entries["workloads"].items()]
    holders += [(("datasets", name), one) for name, one in entries["datasets"].items()]
    holders += [(("variants", name, "data"), one) for name, one in variants.items()]
    for where, holder in holders:
        if is_outside(script := holder.get("script") or ""):
            yield (*where, "script"), script


def job_environment(config: dict[str, Any], entries: dict[str, dict[str, dict]]) -> dict[str, str]:
    """Return the environment in which jobs find a study's scripts outside the checkout; nothing without any."""
    scripts = dict.fromkeys(script for _, script in declared_scripts(config, entries))
    folders = dict.fromkeys(str(outside_path(script).absolute().parent) for script in scripts)
    if not scripts:
        return {}
    places = {recipe_name(script): str(outside_path(script).absolute()) for script in scripts}
    return {
        PLACES_VARIABLE: json.dumps(places),
        LUA_PATH_VARIABLE: "".join(f"{folder}/?.lua;" for folder in folders) + ";",
    }


def find_outside(name: str) -> str | None:
    """Return the path of what a recipe calls so, None for a script with a name of its own.

    Raises ValueError when no such script was declared, or when it was edited since.
    """
    if CONTENT_MARK not in name:
        return None
    place = json.loads(os.environ.get(PLACES_VARIABLE, "{}")).get(name)
    if place is None:
        raise ValueError(
            f"script {name}: nobody says where it is; expected {PLACES_VARIABLE} to, which the workflow sets"
        )
    if (now := recipe_name(place)) != name:
        raise ValueError(f"script {place}: is {now} by now, expected {name}: it was edited since the workflow started")
    return place


OUR_SCRIPTS = ROOT / "workloads"


def script_path(script: str) -> str:
    """Return the path of a script of ours or of the user's, else the name for sysbench to find among its own."""
    ours = OUR_SCRIPTS / script
    return find_outside(script) or (str(ours) if ours.is_file() else script)
