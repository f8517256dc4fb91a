"""The outside of an entry script: the command line that a rule gives it, and the life it leads."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.process import entry

Taken = dict[str, Any]
RECIPE: Taken = {"type": json.loads, "required": True}


def run(main: Callable[..., None], description: str | None, *paths: str, **others: Taken) -> None:
    """Call `main` with the command line's arguments by name, as an entry script (see process.entry).

    `paths` are required paths, `log` is one of them always; `others` holds how argparse takes every other argument.
    """
    parser = argparse.ArgumentParser(description=description)
    for name in (*paths, "log"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name, how in others.items():
        parser.add_argument(f"--{name}", **how)
    arguments = parser.parse_args()
    with entry(arguments.log):
        main(**vars(arguments))
