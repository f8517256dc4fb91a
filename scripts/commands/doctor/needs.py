"""What a study needs of a machine, read from its config alone, so that no tool has to be installed."""

from dataclasses import dataclass
from functools import cached_property

from scripts.build.compilation.stages import LOADER, PREBUILT
from scripts.build.sources.declared import DeclaredServer
from scripts.lib.json_record import Json
from scripts.measure.servers import families
from scripts.study.config.declared_builds import BuildDeclaration
from scripts.study.config.loading import Study


class NeededServer(DeclaredServer):
    """The parts of a server's entry that tell how it is fetched and compiled."""

    family: str
    version: str


@dataclass(frozen=True)
class Needs:
    """A study, and what it needs by topic."""

    study: Study

    @cached_property
    def servers(self) -> dict[str, NeededServer]:
        """Return the entries of the servers that variants use, by name."""
        names = sorted({arm.server for arm in self.study.arms.values()})
        entries, sources = self.study.declared.servers, self.study.server_sources
        return {
            name: NeededServer(
                sources=sources[name]["sources"], family=entries[name].family, version=entries[name].version
            )
            for name in names
        }

    @cached_property
    def compiled(self) -> dict[str, NeededServer]:
        """Return the servers that are compiled here."""
        declared = self.study.declared.servers
        return {name: entry for name, entry in self.servers.items() if not declared[name].is_prebuilt}

    @cached_property
    def drivers(self) -> set[str]:
        """Return sysbench's names of the drivers needed."""
        return {families.of(entry["family"]).SYSBENCH_DRIVER for entry in self.servers.values()}

    @cached_property
    def builds(self) -> dict[str, BuildDeclaration]:
        """Return the builds that are compiled, by name; the baseline loads the datasets of every study."""
        names = ({arm.build for arm in self.study.arms.values()} | ({LOADER} if self.compiled else set())) - {PREBUILT}
        return {name: self.study.declared.builds[name] for name in sorted(names)}

    def compilers(self, *keys: str) -> list[str]:
        """Return the names of the compilers of all builds, or of those that have one of `keys`."""
        builds = [build for build in self.builds.values() if not keys or any(getattr(build, key) for key in keys)]
        return sorted({build.toolchain for build in builds})

    @cached_property
    def bolts(self) -> list[tuple[str, str]]:
        """Return (BOLT, compiler) of all builds that BOLT optimises."""
        return sorted({(build.bolt_toolchain, build.toolchain) for build in self.builds.values() if build.bolt})

    def toolchain(self, name: str) -> dict[str, Json]:
        """Return a toolchain's entry."""
        return self.study.declared.toolchains[name].written()

    @cached_property
    def storages(self) -> dict[str, str | None]:
        """Return the folders for data directories by the name of their storage; None is the cache."""
        named = self.study.declared.storage
        used = {arm.storage for arm in self.study.arms.values()}
        return {name or "data directories": named[name] if name else None for name in sorted(used, key=str)}
