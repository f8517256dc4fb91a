"""Keys and flags of builds that this machine's toolchains cannot do, by trial, before anything is compiled."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from scripts.build.compilation.stages import PREBUILT
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.compilation.trials import FAILURES, Keys, one_line, try_flags, try_keys
from scripts.lib.host.cache import cache_path
from scripts.lib.host.storage import file_system_of
from scripts.study.config.declared_builds import BuildDeclaration
from scripts.study.config.mistakes import Mistake
from scripts.study.plan.preview.due import Due


@dataclass(frozen=True)
class RequestedKeys:
    """What a build asks of its compiler."""

    build: str
    declared: BuildDeclaration
    compiler: Toolchain
    keys: Keys

    @property
    def single(self) -> dict[str, Keys]:
        """Return the keys one by one."""
        alone = {"profile": Keys(profile=True), "lto": Keys(lto=True), "bolt": Keys(bolt=self.keys.bolt)}
        return {key: keys for key, keys in alone.items() if getattr(self.keys, key)}

    def mistakes(self) -> Iterator[Mistake]:
        """Yield the keys that fail alone, else all of them if they fail together."""
        alone = {key: why for key, keys in self.single.items() if (why := failure_of(self.compiler, keys))}
        for key, why in alone.items():
            yield self.mistake(
                (key,), repr(getattr(self.declared, key)), why, self.keys.bolt if key == "bolt" else None
            )
        if not alone and (why := failure_of(self.compiler, self.keys)):
            yield self.mistake((), f"{' and '.join(self.single)} together", why, self.keys.bolt)

    def mistake(self, key: tuple[str, ...], value: str, why: str, bolt: Toolchain | None = None) -> Mistake:
        """Return a mistake of the build."""
        named = " and ".join(f"{tool.name} ({tool.version})" for tool in (self.compiler, bolt) if tool)
        return Mistake(("builds", self.build, *key), f"{value}, expected what {named} can do: {why}")


@dataclass(frozen=True)
class ImpossibleKey:
    """A key that a toolchain cannot do; the study goes on without a build that may fail."""

    mistake: Mistake
    may_fail: bool


def refused_keys(due: Due) -> Iterator[ImpossibleKey]:
    """Yield the keys and flags of the builds to be made that their toolchains cannot do.

    All keys that are asked of a compiler are tried at once, and one by one only if that fails. Nothing is tried where
    no program runs.
    """
    if file_system_of(cache_path()).noexec:
        return
    builds = list(asked(due))
    failing = {compiler for compiler, keys in all_keys(builds) if failure_of(compiler, keys)}
    for build in builds:
        mistakes = list(build.mistakes()) if build.compiler in failing else []
        flags = build.declared.compiled.flags
        if flags and (why := failure_of(build.compiler, flags)):
            mistakes.append(build.mistake(("flags",), repr(" ".join(flags)), why))
        for mistake in mistakes:
            yield ImpossibleKey(mistake, build.declared.may_fail)


def asked(due: Due) -> Iterator[RequestedKeys]:
    """Yield what the builds to be made, or the stages behind them, ask of their compilers."""
    plan, making = due.paths.plan, {thing.name for thing in due.of("build")}
    for build in sorted({build for _, build in due.paths.builds.values()} - {PREBUILT}):
        if making & {build, *plan.stages.behind(build)}:
            declared = plan.study.declared.builds[build]
            tool = plan.toolchain(declared.bolt_toolchain) if declared.bolt else None
            # The published recipe has flags of its own, which every gcc knows.
            profile = bool(declared.profile) and not declared.published
            yield RequestedKeys(build, declared, plan.toolchain(declared.toolchain), Keys(profile, declared.lto, tool))


def all_keys(builds: list[RequestedKeys]) -> Iterator[tuple[Toolchain, Keys]]:
    """Yield each compiler with all keys that are asked of it, once for each BOLT."""
    for compiler in dict.fromkeys(build.compiler for build in builds):
        keys = [build.keys for build in builds if build.compiler == compiler]
        profile, lto = (any(getattr(asked_for, key) for asked_for in keys) for key in ("profile", "lto"))
        bolts: list[Toolchain | None] = [*dict.fromkeys(asked_for.bolt for asked_for in keys if asked_for.bolt)]
        yield from ((compiler, Keys(profile, lto, bolt)) for bolt in bolts or [None] if profile or lto or bolt)


@cache
def failure_of(compiler: Toolchain, asked_for: Keys | tuple[str, ...]) -> str:
    """Return why a small program cannot be made with keys, or a unit with flags; nothing when it can."""
    try:
        if isinstance(asked_for, Keys):
            try_keys(compiler, asked_for)
        else:
            try_flags(compiler, asked_for)
    except FAILURES as error:
        return one_line(error)
    return ""
