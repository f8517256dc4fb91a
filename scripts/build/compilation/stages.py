"""Stages: the builds that another build needs but that are not measured, instrumented ones and BOLT's inputs.

The name of a stage depends on compiler and flags alone, so builds that agree in these share it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from scripts.lib.json_record import Json, digest
from scripts.lib.recipe_models import StageKind

DEFAULT_TOOLCHAIN = "gcc-12"
DEFAULT_BOLT = "bolt-16"
# The build that loads datasets, also those of trainings; it must not depend on a training itself.
LOADER = "baseline"
BOLT_KEYS = ("bolt", "bolt_toolchain")
# Keys that do not affect the compiled bytes.
NEUTRAL_KEYS = ("may_fail",)
PREBUILT = StageKind.PREBUILT.value
# Builds with such names, or with names that begin so, are the workflow's own.
RESERVED = (*(kind.value for kind in StageKind if kind.is_stage), PREBUILT)
COMPILED = tuple(kind for kind in StageKind if kind.is_compiled)
BOLTED = tuple(kind for kind in StageKind if kind.is_bolted)


@dataclass(frozen=True)
class BuildKeys:
    """How a build is compiled; `written` holds its keys as they are written, by which stages are named."""

    flags: tuple[str, ...] = ()
    lto: bool = False
    profile: str | None = None
    bolt: str | None = None
    toolchain: str = DEFAULT_TOOLCHAIN
    bolt_toolchain: str = DEFAULT_BOLT
    published: bool = False
    debug_information: bool = False
    written: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """A build, or a stage that a build needs: its kind, and those of a build's keys that apply to it."""

    kind: StageKind
    declared: BuildKeys


@dataclass(frozen=True)
class Profiled:
    """The profile that a build uses: the training, and the stage that is trained."""

    training: str
    stage: str


class Stages:
    """The stages of the builds of a study, which are given by name."""

    def __init__(self, builds: Mapping[str, BuildKeys]) -> None:
        self.builds = builds

    def of(self, name: str) -> Stage:
        """Return a build or a stage by its name."""
        if name == PREBUILT:
            return Stage(StageKind.PREBUILT, BuildKeys())
        return self._behind[name] if name in self._behind else Stage(kind_of(self.builds[name]), self.builds[name])

    def profile(self, name: str) -> Profiled | None:
        """Return the profile that a build or a stage is made with."""
        stage, declared = self.of(name), self.of(name).declared
        if stage.kind == StageKind.BOLTED and declared.bolt:
            return Profiled(declared.bolt, bolt_instrumented(declared))
        if stage.kind.is_compiled and declared.profile:
            return Profiled(declared.profile, instrumented(declared))
        return None

    def input(self, name: str) -> str | None:
        """Return the stage whose server BOLT takes to make this one."""
        stage = self.of(name)
        return relocatable(stage.declared) if stage.kind.is_bolted else None

    def behind(self, name: str) -> list[str]:
        """Return all stages that a build needs, directly or through another stage."""
        used = self.profile(name)
        direct = [stage for stage in (self.input(name), used.stage if used else None) if stage]
        return list(dict.fromkeys(name for stage in direct for name in [stage, *self.behind(stage)]))

    def names(self, kinds: tuple[StageKind, ...]) -> list[str]:
        """Return the names of all builds and stages of these kinds."""
        return [name for name in [*self.builds, *self._behind] if self.of(name).kind in kinds]

    @cached_property
    def _behind(self) -> dict[str, Stage]:
        """Return name -> stage for all stages that any build needs."""
        stages = {}
        for declared in self.builds.values():
            if declared.profile:
                # Neither LTO nor BOLT changes the counters.
                counting = replace(declared, lto=False, profile=None, bolt=None)
                stages[instrumented(declared)] = Stage(_instrumented_kind(declared), counting)
            if declared.bolt:
                stages[relocatable(declared)] = Stage(StageKind.RELOCATABLE, replace(declared, bolt=None))
                stages[bolt_instrumented(declared)] = Stage(StageKind.BOLT_INSTRUMENTED, declared)
        return stages


def kind_of(declared: BuildKeys) -> StageKind:
    """Return the kind of a declared build: bolted, published, optimised or plain."""
    if declared.bolt:
        return StageKind.BOLTED
    if declared.profile:
        return StageKind.PUBLISHED if declared.published else StageKind.OPTIMISED
    return StageKind.PLAIN


def _instrumented_kind(declared: BuildKeys) -> StageKind:
    return StageKind.PUBLISHED_INSTRUMENTED if declared.published else StageKind.INSTRUMENTED


def split_flags(flags: str | list[str]) -> list[str]:
    """Return flags as a list; a text is split at its spaces."""
    return flags.split() if isinstance(flags, str) else flags


def instrumented(declared: BuildKeys) -> str:
    """Return the name of the instrumented stage that serves a build."""
    keys = {"debug_information": declared.debug_information, "flags": list(declared.flags)}
    name = f"{_instrumented_kind(declared)}_{declared.toolchain}"
    return f"{name}_{digest({key: value for key, value in keys.items() if value})[:6]}" if any(keys.values()) else name


def relocatable(declared: BuildKeys) -> str:
    """Return the name of the stage that is a build linked as BOLT needs its input."""
    return f"{StageKind.RELOCATABLE}_{declared.toolchain}_{_digest_without_bolt(declared)}"


def bolt_instrumented(declared: BuildKeys) -> str:
    """Return the name of the stage that BOLT instrumented."""
    return f"{StageKind.BOLT_INSTRUMENTED}_{declared.bolt_toolchain}_{_digest_without_bolt(declared)}"


def _digest_without_bolt(declared: BuildKeys) -> str:
    return digest({key: value for key, value in declared.written.items() if key not in (*BOLT_KEYS, *NEUTRAL_KEYS)})[:6]
