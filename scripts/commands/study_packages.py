"""Print the distribution's packages that a study's toolchains, servers and sources need beside the usual ones."""

import argparse
import sys
from pathlib import Path

from scripts.commands.arguments import study_of
from scripts.lib.visible import visible
from scripts.study.config.declared_builds import BuildDeclaration, ToolchainDeclaration
from scripts.study.config.declared_servers import ServerDeclaration
from scripts.study.config.loading import Study
from scripts.study.plan.diagnosis_plan import settings

MANAGERS = ("apt", "dnf")
# Kind of source -> packages that fetch it, of the same name in both.
FETCHERS = {"maven": ["maven"]}
# Tool of `diagnose` -> packages. Debian's perf has another name in Ubuntu, and is left to the user.
LOOKING = {"syscalls": ["strace"], "fsyncs": ["strace"]}


def packages(study: Study, manager: str) -> list[str]:
    """Return the packages, each once, for a package manager: apt or dnf."""
    declared, arms = study.declared, study.arms.values()
    servers = [declared.servers[arm.server] for arm in arms]
    builds = [declared.builds[arm.build] if arm.build in declared.builds else BuildDeclaration() for arm in arms]
    tools = [build.toolchain for build in builds] + [build.bolt_toolchain for build in builds if build.bolt]
    holders: list[ToolchainDeclaration | ServerDeclaration] = [*(declared.toolchains[tool] for tool in tools), *servers]
    names = [name for holder in holders if holder.packages for name in holder.packages.of_manager(manager)]
    names += [name for server in servers for source in server.sources for name in FETCHERS.get(source.kind, [])]
    diagnoses = settings(study)
    names += [name for tool in (diagnoses.tools if diagnoses else []) for name in LOOKING.get(tool, [])]
    return list(dict.fromkeys(names))


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
