"""From a config file to its study and paths, for the commands a user runs beside the workflow."""

from pathlib import Path

from scripts import study
from scripts.config_text import ConfigError
from scripts.paths import Paths
from scripts.plan import Plan

ROOT = Path(__file__).parents[1]


def study_of(config: Path) -> study.Study:
    """Read and check a config file. Raises ConfigError naming the file and every mistake in it."""
    try:
        return study.read(config, ROOT)
    except OSError as error:
        raise ConfigError(f"{config}: cannot be read: {error.strerror}") from error


def paths_of(config: Path) -> Paths:
    """Return where the things of a config file's study are, relative to the working directory."""
    return Paths(Plan(study_of(config), ROOT))


def report_command(config: Path) -> str:
    """Return the command that makes the report of a config file."""
    return "make report" if config.name == "config.yaml" else f"make report STUDY={config.stem}"
