"""Build database servers, benchmark them, and report what got faster; docs/architecture.md describes the packages."""

from pathlib import Path

__version__ = "0.9.0"

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent
