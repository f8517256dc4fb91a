"""Print the distribution's packages that a study's toolchains, servers and sources need beside the usual ones."""

import argparse
import sys
from pathlib import Path
from typing import Any

from scripts.build.compilation.stages import DEFAULT_BOLT, DEFAULT_TOOLCHAIN
from scripts.commands.arguments import study_of
from scripts.lib.visible import visible
from scripts.study.config.loading import Study
from scripts.study.plan.diagnosis_plan import settings

MANAGERS = ("apt", "dnf")
# Kind of source -> packages that fetch it, of the same name in both.
FETCHERS = {"maven": ["maven"]}
# Tool of `diagnose` -> packages. Debian's perf has another name in Ubuntu, and is left to the user.
LOOKING = {"syscalls": ["strace"], "fsyncs": ["strace"]}


def packages(study: Study, manager: str) -> list[str]:
    """Return the packages, each once, for a package manager: apt or dnf."""
    entries = study.entries
    builds = [entries["builds"].get(variant["build"], {}) for variant in study.variants.values()]
    tools = [build.get("toolchain", DEFAULT_TOOLCHAIN) for build in builds]
    tools += [build.get("bolt_toolchain", DEFAULT_BOLT) for build in builds if "bolt" in build]
    names = [name for tool in tools for name in entries["toolchains"][tool].get("packages", {}).get(manager, [])]
    servers = [entries["servers"][variant["server"]] for variant in study.variants.values()]
    names += [name for server in servers for name in server.get("packages", {}).get(manager, [])]
    names += [name for server in servers for source in server["sources"] for name in _fetchers(source)]
    names += [name for tool in (settings(study) or {"tools": []})["tools"] for name in LOOKING.get(tool, [])]
    return list(dict.fromkeys(names))


def _fetchers(source: dict[str, Any]) -> list[str]:
    return [name for kind in source for name in FETCHERS.get(kind, [])]


def main(config: Path, manager: str, scale: str = "") -> None:
    """Print one package per line. Raises ConfigError when the study has mistakes."""
    sys.stdout.writelines(f"{name}\n" for name in packages(study_of(config, scale), manager))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.study_packages", description=__doc__)
    parser.add_argument("config", type=Path, help="the study's config file")
    parser.add_argument("--manager", choices=MANAGERS, required=True)
    parser.add_argument("--scale", default="", help="the size of the study")
    try:
        main(**vars(parser.parse_args()))
    except ValueError as error:
        sys.exit(visible(str(error)))
