"""A study: the config file laid over the catalog, checked as a whole before anything runs."""

import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from scripts.source_kinds import prebuilt
from scripts.stages import DEFAULT_BOLT, DEFAULT_TOOLCHAIN, PREBUILT, RESERVED

CATALOG = {
    "servers": "servers.yaml",
    "builds": "builds.yaml",
    "toolchains": "builds.yaml",
    "trainings": "trainings.yaml",
    "workloads": "workloads.yaml",
    "datasets": "workloads.yaml",
}
AA = "aa"


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
        return {**variants, AA: dict(variants[self.config["reference"]])}

    @property
    def workloads(self) -> list[str]:
        """Return the names of the workloads to measure, in the order of the config."""
        return list(self.config["workloads"])


def load(config: dict[str, Any], root: Path, where: str) -> Study:
    """Check a config and lay it over the catalog in `root`.

    `where` names the file in messages. Raises ConfigError with every mistake found, one a line.
    """
    schema = yaml.safe_load((root / "rules" / "config.schema.yaml").read_text(encoding="utf-8"))
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(config))
    # What is sound in itself is checked further, so that the user sees everything at once.
    broken = {str(error.absolute_path[0]) for error in errors if error.absolute_path}
    sound = {key: config[key] for key in schema["properties"] if key in config and key not in broken}
    entries = _entries(sound, root)
    mistakes = {
        *map(_explain, errors),
        *_entry_mistakes(entries, schema),
        *_references(sound, entries, broken),
        *_reserved(sound, entries),
        *_unfit(sound, entries),
    }
    if mistakes:
        lines = "\n".join(f"  {line}" for line in sorted(mistakes))
        raise ConfigError(f"{where}: {len(mistakes)} mistake(s)\n{lines}")
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
    best = _nearest(error)
    key = ".".join([prefix, *map(str, best.absolute_path)] if prefix else map(str, best.absolute_path)) or "(top level)"
    if best.validator == "additionalProperties":
        known = best.schema.get("properties", {})
        unknown = [name for name in best.instance if name not in known]
        return "; ".join(f"{key}: unknown key {name!r}{suggestion(name, known)}" for name in unknown)
    if best.validator == "propertyNames" or "propertyNames" in best.absolute_schema_path:
        return f"{key}: name {best.instance!r} cannot be used; names match {best.schema.get('pattern', '')}"
    meaning = best.schema.get("description", "") if isinstance(best.schema, dict) else ""
    return f"{key}: {best.message}" + (f" ({meaning})" if meaning else "")


def _nearest(error: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """Return the cause inside an error of alternatives: that of the alternative whose key is there."""
    alternatives = error.validator_value if isinstance(error.instance, dict) and error.context else []
    for index, alternative in enumerate(alternatives):
        own = [cause for cause in error.context if cause.relative_schema_path[0] == index]
        if own and set(alternative.get("properties", {})) & set(error.instance):
            return own[0]
    return jsonschema.exceptions.best_match([error]) if error.context else error


def suggestion(name: str, known: Any) -> str:
    """Return `, did you mean ...?` with the nearest known name, else the list of known names."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f", did you mean {near[0]!r}?" if near else f", expected one of {', '.join(sorted(map(str, known)))}"


def _references(config: dict[str, Any], entries: dict, broken: set[str]) -> Iterator[str]:
    """Find names that lead nowhere; what a broken section should have held cannot be judged."""
    known = {**entries, "variants": config.get("variants", {}), "storage": config.get("storage", {})}
    for key, name, kind in _names(config, entries):
        if name not in known[kind] and kind not in broken:
            yield f"{key}: {name!r} is unknown{suggestion(name, known[kind])}"


def _names(config: dict[str, Any], entries: dict) -> Iterator[tuple[str, str, str]]:
    """Yield (key, name, kind of the thing named) of every reference in a config and the entries it may use."""
    if "reference" in config:
        yield "reference", config["reference"], "variants"
    for name, variant in config.get("variants", {}).items():
        for key, kind in (("server", "servers"), ("build", "builds"), ("storage", "storage")):
            if key in variant and (key, variant[key]) != ("build", PREBUILT):
                yield f"variants.{name}.{key}", variant[key], kind
    for name in config.get("workloads", {}):
        yield "workloads", name, "workloads"
    for name, build in entries["builds"].items():
        yield f"builds.{name}.toolchain", build.get("toolchain", DEFAULT_TOOLCHAIN), "toolchains"
        if "bolt" in build:
            yield f"builds.{name}.bolt_toolchain", build.get("bolt_toolchain", DEFAULT_BOLT), "toolchains"
        for key in ("profile", "bolt"):
            if key in build:
                yield f"builds.{name}.{key}", build[key], "trainings"
    for name, training in entries["trainings"].items():
        for workload in training.get("workloads", []):
            yield f"trainings.{name}.workloads", workload, "workloads"
    for name, workload in entries["workloads"].items():
        if "dataset" in workload:
            yield f"workloads.{name}.dataset", workload["dataset"], "datasets"


def _reserved(config: dict[str, Any], entries: dict) -> Iterator[str]:
    """Find names the workflow keeps for itself."""
    if AA in config.get("variants", {}):
        yield f"variants.{AA}: the name is the workflow's own, for the reference a second time; choose another"
    for name in entries["builds"]:
        for own in RESERVED:
            if name.startswith(own):
                yield f"builds.{name}: names that begin with {own!r} are the workflow's own; choose another"


def _unfit(config: dict[str, Any], entries: dict) -> Iterator[str]:
    """Find what is sound in itself but does not go together."""
    for name, variant in config.get("variants", {}).items():
        server, build = entries["servers"].get(variant.get("server"), {}), variant.get("build")
        ready = prebuilt(server["sources"]) if server.get("sources") else None
        if ready is not None and build is not None and ready != (build == PREBUILT):
            expected = f"{PREBUILT!r}, the only one a ready-made server has" if ready else "a way of compiling it"
            yield f"variants.{name}.build: {build!r} of {variant['server']!r}, expected {expected}"
    for name, build in entries["builds"].items():
        compiler = entries["toolchains"].get(build.get("toolchain", DEFAULT_TOOLCHAIN), {})
        tool = entries["toolchains"].get(build.get("bolt_toolchain", DEFAULT_BOLT), {})
        if compiler.get("kind", "gcc") == "bolt":
            yield f"builds.{name}.toolchain: {build['toolchain']!r} is no compiler; BOLT's is `bolt_toolchain`"
        if "bolt" in build and tool and tool.get("kind") != "bolt":
            yield f"builds.{name}.bolt_toolchain: {build['bolt_toolchain']!r} is of kind gcc or clang, expected bolt"
        if build.get("published") and not (compiler.get("kind", "gcc") == "gcc" and "profile" in build):
            yield f"builds.{name}.published: the published recipe is a profile of gcc's: give `profile`, and a gcc"
