"""A study: the config file laid over the catalog, checked as a whole before anything runs."""

import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

CATALOG = {
    "servers": "servers.yaml",
    "builds": "builds.yaml",
    "toolchains": "builds.yaml",
    "trainings": "trainings.yaml",
    "workloads": "workloads.yaml",
    "datasets": "workloads.yaml",
}
DEFAULT_TOOLCHAIN = "gcc-12"
RESERVED = {"aa", "instrumented"}


class ConfigError(ValueError):
    """A config file that cannot be used; the text holds one line a mistake."""


@dataclass(frozen=True)
class Study:
    """A checked study. `entries` holds servers, builds, toolchains, trainings, workloads and datasets by name."""

    name: str
    config: dict[str, Any]
    entries: dict[str, dict[str, dict[str, Any]]]

    @property
    def variants(self) -> dict[str, dict[str, Any]]:
        """Return the variants by name, `aa` (the reference a second time) the last."""
        variants = {name: dict(variant) for name, variant in self.config["variants"].items()}
        return {**variants, "aa": dict(variants[self.config["reference"]])}

    @property
    def workloads(self) -> list[str]:
        """Return the names of the workloads to measure, in the order of the config."""
        return list(self.config["workloads"])


def load(config: dict[str, Any], root: Path, where: str) -> Study:
    """Check a config and lay it over the catalog in `root`.

    `where` names the file in messages. Raises ConfigError with every mistake found, one a line.
    """
    schema = yaml.safe_load((root / "rules" / "config.schema.yaml").read_text(encoding="utf-8"))
    mistakes = [_explain(error) for error in jsonschema.Draft202012Validator(schema).iter_errors(config)]
    if not mistakes:
        entries = _entries(config, root)
        mistakes = [*_entry_mistakes(entries, schema), *_references(config, entries)]
    if mistakes:
        raise ConfigError(
            f"{where}: {len(mistakes)} mistake(s)\n" + "\n".join(f"  {line}" for line in sorted(mistakes))
        )
    return Study(config["study"], copy.deepcopy(config), entries)


def _entries(config: dict[str, Any], root: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return catalog entries with the study's own laid over them, key by key."""
    entries = {}
    for kind, file in CATALOG.items():
        found = yaml.safe_load((root / "catalog" / file).read_text(encoding="utf-8"))[kind]
        for name, own in config.get(kind, {}).items():
            if own is not None:
                found[name] = {**found.get(name, {}), **own}
        entries[kind] = found
    return entries


def _entry_mistakes(entries: dict, schema: dict) -> Iterator[str]:
    """Check the laid-over entries, so that a catalog edit is checked like a config edit."""
    for kind, named in entries.items():
        kind_of_entry = kind.removesuffix("s")
        whole = [{"$ref": f"#/$defs/{part}{kind_of_entry}"} for part in ("", "complete/")]
        shape = {"$defs": schema["$defs"], "allOf": whole}
        validator = jsonschema.Draft202012Validator(shape)
        for name, entry in named.items():
            for error in validator.iter_errors(entry):
                yield _explain(error, f"{kind}.{name}")


def _explain(error: jsonschema.ValidationError, prefix: str = "") -> str:
    """Return one mistake as a line: key, value, what was expected, nearest key."""
    best = jsonschema.exceptions.best_match([error]) if error.context else error
    key = ".".join([prefix, *map(str, best.absolute_path)] if prefix else map(str, best.absolute_path)) or "(top level)"
    if best.validator == "additionalProperties":
        known = best.schema.get("properties", {})
        unknown = [name for name in best.instance if name not in known]
        return "; ".join(f"{key}: unknown key {name!r}{suggestion(name, known)}" for name in unknown)
    if best.validator == "propertyNames" or "propertyNames" in best.absolute_schema_path:
        return f"{key}: name {best.instance!r} cannot be used; names match {best.schema.get('pattern', '')}"
    meaning = best.schema.get("description", "") if isinstance(best.schema, dict) else ""
    return f"{key}: {best.message}" + (f" ({meaning})" if meaning else "")


def suggestion(name: str, known: Any) -> str:
    """Return `, did you mean ...?` with the nearest known name, else the list of known names."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f", did you mean {near[0]!r}?" if near else f", expected one of {', '.join(sorted(map(str, known)))}"


def _references(config: dict[str, Any], entries: dict) -> Iterator[str]:
    """Find names that lead nowhere, and names the workflow keeps for itself."""

    def missing(key: str, name: Any, known: Any) -> Iterator[str]:
        if name not in known:
            yield f"{key}: {name!r} is unknown{suggestion(name, known)}"

    yield from missing("reference", config["reference"], config["variants"])
    for name in sorted(RESERVED & {*config["variants"], *entries["builds"]}):
        yield f"variants/builds.{name}: the name is the workflow's own; choose another"
    for name, variant in config["variants"].items():
        yield from missing(f"variants.{name}.server", variant["server"], entries["servers"])
        yield from missing(f"variants.{name}.build", variant["build"], entries["builds"])
        if "storage" in variant:
            yield from missing(f"variants.{name}.storage", variant["storage"], config.get("storage", {}))
    for name in config["workloads"]:
        yield from missing("workloads", name, entries["workloads"])
    for name, build in entries["builds"].items():
        yield from missing(f"builds.{name}.toolchain", build.get("toolchain", DEFAULT_TOOLCHAIN), entries["toolchains"])
        if "profile" in build:
            yield from missing(f"builds.{name}.profile", build["profile"], entries["trainings"])
    for name, training in entries["trainings"].items():
        for workload in training.get("workloads", []):
            yield from missing(f"trainings.{name}.workloads", workload, entries["workloads"])
    for name, workload in entries["workloads"].items():
        if "dataset" in workload:
            yield from missing(f"workloads.{name}.dataset", workload["dataset"], entries["datasets"])
