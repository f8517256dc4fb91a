"""Of a family whose configure step knows no profiles, whose releases name options alike and start with any of them."""

from pathlib import Path
from typing import Any


def published_options(counters: Path, use: bool) -> list[str]:
    """Return nothing: the configure step knows no profiles, so the published recipe's flags go to the compiler."""
    return []


def options_named(options: dict[str, Any], release: str) -> dict[str, Any]:
    """Return options as a release such as 10.11.18 names them: as they are written."""
    return options


def options_of_release(install: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Return options as the server in `install` names them: as they are written."""
    return options


def unknown_options(release: str, options: dict[str, Any]) -> list[str]:
    """Return nothing: no list of the options of each release is kept, so the server says itself what it lacks."""
    return []


def fit_data(install: Path, data: Path, options: dict[str, Any]) -> None:
    """Leave a data directory as it is."""
