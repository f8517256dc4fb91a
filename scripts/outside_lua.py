"""Lua scripts of the user's, outside the checkout: recipes name them by their content, jobs find them again by it."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.record import digest, file_sha256

# Set for all jobs: where the scripts are, and where LuaJIT looks for the modules beside them.
PLACES, MODULES = "WORKLOAD_SCRIPTS", "LUA_PATH"
REQUIRED = re.compile(r"""\brequire\s*\(?\s*["']([\w.-]+)["']""")
MARK = "@"


def is_outside(script: str) -> bool:
    """Tell whether a script of a config is a path, and no name."""
    return script.startswith(("/", "~/"))


def path(script: str) -> Path:
    """Return where a script outside the checkout is."""
    return Path(script).expanduser()


def named(script: str) -> str:
    """Return what a recipe calls a script: `tpcc.lua@0123456789ab`, by its content and that of the modules beside it.

    A script that has a name of its own is called so. Raises OSError when it cannot be read.
    """
    if not is_outside(script):
        return script
    content = {name: file_sha256(file) for name, file in files(path(script)).items()}
    return f"{path(script).name}{MARK}{digest(content)}"


def files(script: Path) -> dict[str, Path]:
    """Return name -> file of a script and of all modules beside it that it requires; others are the machine's."""
    found, waiting = {}, [script]
    while waiting:
        file = waiting.pop()
        if file.name not in found:
            found[file.name] = file
            beside = (script.parent / f"{name}.lua" for name in REQUIRED.findall(file.read_text(encoding="utf-8")))
            waiting += [module for module in beside if module.is_file()]
    return dict(sorted(found.items()))


def declared(config: dict[str, Any], entries: dict[str, dict[str, dict]]) -> Iterator[tuple[tuple, str]]:
    """Yield (key path, script) of every script outside the checkout that a config and its entries declare."""
    variants = {name: variant.get("data") or {} for name, variant in config.get("variants", {}).items()}
    holders = [(("workloads", name), one) for name, one in entries["workloads"].items()]
    holders += [(("datasets", name), one) for name, one in entries["datasets"].items()]
    holders += [(("variants", name, "data"), one) for name, one in variants.items()]
    for where, holder in holders:
        if is_outside(script := holder.get("script") or ""):
            yield (*where, "script"), script


def mistakes(config: dict[str, Any], entries: dict[str, dict[str, dict]]) -> Iterator[tuple[tuple, str]]:
    """Yield (key path, what is wrong) of scripts that cannot be read, or whose modules are not told apart."""
    seen: dict[str, Path] = {}
    for where, script in declared(config, entries):
        try:
            modules = files(path(script))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            yield where, f"{script!r} cannot be read ({reason}), expected the path of a Lua file"
            continue
        modules.pop(path(script).name)
        for name, file in modules.items():
            other = seen.setdefault(name, file)
            if file_sha256(other) != file_sha256(file):
                yield where, f"{file} and {other} differ, and Lua tells them by their name alone: rename one of them"


def environment(config: dict[str, Any], entries: dict[str, dict[str, dict]]) -> dict[str, str]:
    """Return the environment in which jobs find a study's scripts outside the checkout; nothing without any."""
    scripts = dict.fromkeys(script for _, script in declared(config, entries))
    folders = dict.fromkeys(str(path(script).absolute().parent) for script in scripts)
    if not scripts:
        return {}
    places = {named(script): str(path(script).absolute()) for script in scripts}
    return {PLACES: json.dumps(places), MODULES: "".join(f"{folder}/?.lua;" for folder in folders) + ";"}


def find(name: str) -> str | None:
    """Return the path of what a recipe calls so, None for a script with a name of its own.

    Raises ValueError when no such script was declared, or when it was edited since.
    """
    if MARK not in name:
        return None
    place = json.loads(os.environ.get(PLACES, "{}")).get(name)
    if place is None:
        raise ValueError(f"script {name}: nobody says where it is; expected {PLACES} to, which the workflow sets")
    if (now := named(place)) != name:
        raise ValueError(f"script {place}: is {now} by now, expected {name}: it was edited since the workflow started")
    return place
