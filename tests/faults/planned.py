"""A study that uses every section of the config language, and what comes of planning it in process."""

import contextlib
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.build.sources.kinds import SOURCE_KINDS
from scripts.lib import json_record
from scripts.study.config import loading, mistakes, yaml_lines
from scripts.study.config import schema as config_schema
from scripts.study.config.mistakes import SHORT
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.studies import CHECKOUT, config

SCHEMA = config_schema.resolved()
OWN = {"family": "postgresql", "product": "PostgreSQL", "version": "15", "configure": ["--with-lz4"]}
PLACE = re.compile(r"^ *(?:[^ ]+\.yaml:(?:\d+:)? )?")
COMMIT = {"git": "https://example.org/server.git", "commit": "0" * 40}


def catalog() -> dict[str, dict[str, Any]]:
    """Return all entries of the catalog by kind."""
    texts = {file: yaml_lines.read_text(CHECKOUT / "catalog" / file).value for file in set(loading.CATALOG.values())}
    return {kind: texts[file][kind] for kind, file in loading.CATALOG.items()}


# Keys that such a study cannot have: parts that are planned otherwise, and what contradicts `client`.
LEFT_OUT = ("partial", "scale", "client_environment")


def everything(tree: Path, kinds: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a study that says what can be said, with entries of these `kinds`; `tree` holds sources."""
    servers = {
        "tree": {**OWN, "sources": [{"directory": str(tree)}]},
        "commit": {**OWN, "sources": [COMMIT]},
        "archive": {**OWN, "sources": [{"file": str(tree / "configure"), "sha256": "ab" * 32}]},
    }
    arms = {
        "baseline": {"server": "postgresql-15", "build": "baseline"},
        "pgo": {"server": "postgresql-15", "build": "pgo", "options": {"work_mem": "8MB"}, "storage": "disk"},
        "tree": {"server": "tree", "build": "own"},
        "commit": {"server": "commit", "build": "baseline"},
        "archive": {"server": "archive", "build": "o3"},
        "maria": {"server": "mariadb-10.11", "build": "pgo_lto", "options": {"innodb_flush_method": "fsync"}},
        "mysql": {"server": "mysql-8.0.36", "build": "baseline"},
    }
    own = {"flags": ["-O3", "-g"], "profile": "mixed", "lto": True, "may_fail": True, "debug_information": True}
    # Of every other key what the schema has as its first example.
    examples = {key: schema["examples"][0] for key, schema in SCHEMA["properties"].items() if "examples" in schema}
    return {key: value for key, value in examples.items() if key not in LEFT_OUT} | config(
        variants=arms,
        options={},
        servers=kinds["servers"] | servers,
        builds=kinds["builds"] | {"own": own},
        workloads=kinds["workloads"],
        storage={"disk": "/var/tmp"},
        placement={"server": "0", "client": "1"},
        published="studies/published/pgo-mysql-8.0.36.csv",
        repetitions=1,
        **{kind: kinds[kind] for kind in ("toolchains", "trainings", "datasets")},
    )


@contextlib.contextmanager
def quickly() -> Iterator[None]:
    """Make the schema and read the catalog once for all configs that the body tries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mistakes, "resolved", functools.cache(mistakes.resolved))
        patch.setattr(yaml_lines, "read_text", functools.cache(yaml_lines.read_text))
        yield


def refusal(config: dict[str, Any]) -> str | None:
    """Plan a config: returns what it is refused with, None when all it makes was planned. Else an error is a defect."""
    try:
        paths = Schedule(Plan(loading.load(config, CHECKOUT, "study.yaml"), CHECKOUT))
        recipes = [paths.plan.build(*pair).dump() for pair in [*paths.builds.values(), *paths.stages.values()]]
        recipes += [paths.plan.variant(name).dump() for name in paths.plan.study.arms]
        assert json_record.canonical(recipes).encode()
        assert paths.runs
        assert all([paths.datasets, paths.checks, paths.measured_builds])
        for folder in [*paths.builds, *paths.profiles, *paths.datasets, *paths.runs]:
            assert re.fullmatch(r"results/[a-z]+/[a-zA-Z0-9_./-]+", folder), folder
            assert ".." not in folder.split("/"), folder
    except ValueError as error:
        return str(error)
    return None


def names_a_key(told: str, config: dict[str, Any]) -> bool:
    """Tell whether each line of a refusal begins with the path of a key, of the config or of the schema.

    What only a plan sees, such as a folder that does not exist, has the name of the study before its key.
    """
    head, *lines = told.removeprefix(f"study {config.get('study')}: ").splitlines()
    keys = {
        *SCHEMA["properties"],
        "(top level)",
        *SOURCE_KINDS,
        *loading.CATALOG,
        *map(str, config),
        *map(SHORT.repr, config),
    }
    if not re.fullmatch(r"study\.yaml: \d+ mistake\(s\)", head):
        lines = [head]
    begins = tuple(f"{key}{sign}" for key in keys for sign in (":", "."))
    return bool(lines) and all(PLACE.sub("", line).startswith(begins) for line in lines)
