"""Build database servers, benchmark them, and report what got faster; the packages are told apart in README.md."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent
