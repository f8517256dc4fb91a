"""Command-line arguments that name a study, shared by the commands beside the workflow."""

import difflib
from argparse import ArgumentParser
from pathlib import Path

from scripts import ROOT
from scripts.lib.host.entry import WrongCall
from scripts.study.config import expansion, loading
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that name a study: its config file and its scale; empty: the scale stated in the file."""
    parser.add_argument("--config", type=Path, required=True, help="the study: config.yaml or studies/x.yaml")
    parser.add_argument(
        "--scale", choices=("", expansion.FULL, expansion.SMALL), default="", help="the size of the study"
    )


def study_of(config: Path, size: str = "") -> loading.Study:
    """Return the study of a config file at a scale.

    Raises ConfigError naming the file and every mistake in it, WrongCall with the nearest file for one that is missing.
    """
    if not config.exists():
        near = difflib.get_close_matches(config.name, [file.name for file in config.parent.glob("*.yaml")], n=1)
        hint = f", did you mean {config.with_name(near[0])}?" if near else ""
        raise WrongCall(f"{config}: no such file, expected a study such as studies/quick.yaml{hint}")
    try:
        return loading.read(config, ROOT, **({expansion.SCALE: size} if size else {}))
    except OSError as error:
        raise ConfigError(f"{config}: cannot be read: {error.strerror}") from error


def paths_of(config: Path, size: str = "") -> Schedule:
    """Return the paths of a config file's study, relative to the working directory."""
    return Schedule(Plan(study_of(config, size), ROOT))


def report_command(config: Path, size: str = "") -> str:
    """Return the command that makes the report of a config file."""
    named = "" if config.name == "config.yaml" else f" STUDY={config.stem}"
    return f"make report{named}{f' SCALE={size}' if size else ''}"
