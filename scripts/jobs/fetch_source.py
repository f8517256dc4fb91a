"""Make results/sources/{server}-{digest}/tree and its record source.json from the server's recipe."""

import argparse
import json
import logging
import sys
from pathlib import Path
from typing import Any

from scripts.host.entry import entry
from scripts.servers import families
from scripts.sources import source


def log_to(log: Path) -> None:
    """Send every line to `log`, and what a user wants to see to standard error as well."""
    log.parent.mkdir(parents=True, exist_ok=True)
    everything, seen = logging.FileHandler(log, mode="w", encoding="utf-8"), logging.StreamHandler(sys.stderr)
    seen.setLevel(logging.INFO)
    style = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    everything.setFormatter(style)
    logging.basicConfig(level=logging.DEBUG, handlers=[everything, seen], format="%(message)s")


def main(recipe: dict[str, Any], sources: list[dict[str, Any]], tree: Path, identity: Path) -> None:
    """Make `tree` and `identity` from the first of `sources`, places that do not change what the recipe asks for."""
    source.make({**recipe, "sources": sources}, tree, identity, families.products())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", type=json.loads, required=True, help="canonical JSON, see scripts/source.py")
    parser.add_argument("--sources", type=json.loads, required=True, help="canonical JSON, a list")
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--identity", type=Path, required=True)
    parser.add_argument("--log", type=Path, help="default: fetch_source.log beside the tree")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    log_file = arguments.log or arguments.tree.parent / "fetch_source.log"
    log_to(log_file)
    with entry(log_file):
        main(arguments.recipe, arguments.sources, arguments.tree, arguments.identity)
