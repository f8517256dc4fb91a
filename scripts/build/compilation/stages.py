"""Stages: the builds that another build needs but that are not measured, instrumented ones and BOLT's inputs.

The name of a stage depends on compiler and flags alone, so builds that agree in these share it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scripts.lib.json_record import digest
from scripts.lib.recipe_models import StageKind

DEFAULT_TOOLCHAIN = "gcc-12"
DEFAULT_BOLT = "bolt-16"
# The build that loads datasets, also those of trainings; it must not depend on a training itself.
LOADER = "baseline"
BOLT_KEYS = ("bolt", "bolt_toolchain")
# Keys that do not affect the compiled bytes.
NEUTRAL_KEYS = ("may_fail",)
Declared = dict[str, Any]


PREBUILT = StageKind.PREBUILT.value
# Builds with such names, or with names that begin so, are the workflow's own.
RESERVED = (*(kind.value for kind in StageKind if kind.is_stage), PREBUILT)
COMPILED = tuple(kind for kind in StageKind if kind.is_compiled)
BOLTED = tuple(kind for kind in StageKind if kind.is_bolted)


@dataclass(frozen=True)
class Stage:
    """A build, or a stage that a build needs: its kind, and those of a build's keys that apply to it."""

    kind: StageKind
    declared: Declared


@dataclass(frozen=True)
class Profiled:
    """The profile that a build uses: the training, and the stage that is trained."""

    training: str
    stage: str


class Stages:
    """The stages of the builds of a study, which are given by name."""

    def __init__(self, builds: dict[str, Declared]) -> None:
        self.builds = builds

    def of(self, name: str) -> Stage:
        """Return a build or a stage by its name."""
        if name == PREBUILT:
            return Stage(StageKind.PREBUILT, {})
        return self._behind[name] if name in self._behind else Stage(kind_of(self.builds[name]), self.builds[name])

    def profile(self, name: str) -> Profiled | None:
        """Return the profile that a build or a stage is made with."""
        stage = self.of(name)
        match stage.kind:
            case StageKind.BOLTED:
                return Profiled(stage.declared["bolt"], bolt_instrumented(stage.declared))
            case kind if "profile" in stage.declared and kind.is_compiled and not kind.is_instrumented:
                return Profiled(stage.declared["profile"], instrumented(stage.declared))
        return None

    def input(self, name: str) -> str | None:
        """Return the stage whose server BOLT takes to make this one."""
        stage = self.of(name)
        return relocatable(stage.declared) if stage.kind.is_bolted else None

    def behind(self, name: str) -> list[str]:
        """Return all stages that a build needs, directly or through another stage."""
        used = self.profile(name)
        direct = [stage for stage in (self.input(name), used.stage if used else None) if stage]
        every = [found for stage in direct for found in [stage, *self.behind(stage)]]
        return list(dict.fromkeys(every))

    def names(self, kinds: tuple[StageKind, ...]) -> list[str]:
        """Return the names of all builds and stages of these kinds."""
        return [name for name in [*self.builds, *self._behind] if self.of(name).kind in kinds]

    @cached_property
    def _behind(self) -> dict[str, Stage]:
        """Return name -> stage for all stages that any build needs."""
        found = {}
        for declared in self.builds.values():
            if "profile" in declared:
                found[instrumented(declared)] = Stage(_instrumented_kind(declared), served(declared))
            if "bolt" in declared:
                found[relocatable(declared)] = Stage(StageKind.RELOCATABLE, without_bolt(declared))
                found[bolt_instrumented(declared)] = Stage(StageKind.BOLT_INSTRUMENTED, declared)
        return found


def kind_of(declared: Declared) -> StageKind:
    """Return the kind of a declared build: bolted, published, optimised or plain."""
    if "bolt" in declared:
        return StageKind.BOLTED
    if "profile" in declared:
        return StageKind.PUBLISHED if declared.get("published") else StageKind.OPTIMISED
    return StageKind.PLAIN


def _instrumented_kind(declared: Declared) -> StageKind:
    return StageKind.PUBLISHED_INSTRUMENTED if declared.get("published") else StageKind.INSTRUMENTED


def split_flags(flags: str | list[str]) -> list[str]:
    """Return flags as a list; a text is split at its spaces."""
    return flags.split() if isinstance(flags, str) else flags


def served(declared: Declared) -> Declared:
    """Return the keys an instrumented stage inherits from its build: neither LTO nor BOLT changes the counters."""
    kept = {key: declared.get(key) for key in ("toolchain", "debug_information", "published")}
    return {key: value for key, value in {**kept, "flags": split_flags(declared.get("flags", []))}.items() if value}


def without_bolt(declared: Declared) -> Declared:
    return {key: value for key, value in declared.items() if key not in (*BOLT_KEYS, *NEUTRAL_KEYS)}


def instrumented(declared: Declared) -> str:
    """Return the name of the instrumented stage that serves a build."""
    kept = served(declared)
    kept.pop("published", None)
    name = f"{_instrumented_kind(declared)}_{kept.pop('toolchain', DEFAULT_TOOLCHAIN)}"
    return f"{name}_{digest(kept)[:6]}" if kept else name


def relocatable(declared: Declared) -> str:
    """Return the name of the stage that is a build linked as BOLT needs its input."""
    kept = without_bolt(declared)
    return f"{StageKind.RELOCATABLE}_{kept.get('toolchain', DEFAULT_TOOLCHAIN)}_{digest(kept)[:6]}"


def bolt_instrumented(declared: Declared) -> str:
    """Return the name of the stage that BOLT instrumented."""
    tool = declared.get("bolt_toolchain", DEFAULT_BOLT)
    return f"{StageKind.BOLT_INSTRUMENTED}_{tool}_{digest(without_bolt(declared))[:6]}"
