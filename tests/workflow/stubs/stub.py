"""Shared by the stubs of costly steps: their arguments, and a short rest in place of the work."""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from sitecustomize import note

from scripts.lib.host.entry import become_entry_script
from scripts.lib.host.process import CommandFailed

REST_S = float(os.environ.get("STUB_REST_S", "0.03"))
JSON = {"recipe", "sources", "place", "relinks", "may_fail", "scripts"}


def begin() -> argparse.Namespace:
    """Tie this job to Snakemake like a real one, and return its options, paths as Path."""
    become_entry_script()
    if "STUB_JOURNAL" in os.environ:
        note("work")
    found: dict[str, list[str]] = {}
    for word in sys.argv[1:]:
        if word.startswith("--"):
            found[word.removeprefix("--").replace("-", "_")] = values = []
        else:
            values.append(word)
    options = {name: [_value(name, word) for word in words] for name, words in found.items()}
    if "tables" in options:
        options["tables"] = {file.stem: file for file in options["tables"]}
    for name, words in options.items():
        if name not in ("datasets", "tables"):
            options[name] = words[0] if words else None
    time.sleep(REST_S)
    return argparse.Namespace(**options)


def break_down(name: str) -> None:
    """Fail like a command of this build or stage would, when STUB_BROKEN names it."""
    if name in os.environ.get("STUB_BROKEN", "").split():
        raise CommandFailed(f"compiling failed, first error lines:\n{name}.c:1: error: a stub's")


def _value(name: str, word: str):
    return json.loads(word) if name in JSON else Path(word)


def fill(folder: Path, name: str, text: str) -> Path:
    """Make a folder with one file in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name
