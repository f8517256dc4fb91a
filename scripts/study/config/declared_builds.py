"""What a study declares of builds and toolchains."""

from typing import Annotated, Literal

from pydantic import Field

from scripts.build.compilation.stages import DEFAULT_BOLT, DEFAULT_TOOLCHAIN, BuildKeys, split_flags
from scripts.study.config.declared_servers import PackagesDeclaration
from scripts.study.config.scalars import (
    Command,
    ConfigKeys,
    FilePath,
    FlagWords,
    NeededKeys,
    Reference,
    Stated,
    Variables,
    Word,
    text,
)


class BuildDeclaration(ConfigKeys):
    """A way of compiling a server; all builds of a server share one configure step, these keys join at compile time."""

    flags: Stated[FlagWords] = Field(
        default=None, description="Compiler flags after the server's own; LTO and profiles have keys."
    )
    lto: bool = Field(
        default=False, description="Optimise over all units while linking; with clang thin LTO, linked by lld."
    )
    profile: Stated[Reference] = Field(
        default=None,
        title="the name of a training",
        description="The training whose profile is used; its instrumented build is made, too.",
    )
    bolt: Stated[Reference] = Field(
        default=None,
        title="the name of a training",
        description="The training whose profile BOLT optimises the finished server with.",
    )
    toolchain: Reference = Field(
        default=DEFAULT_TOOLCHAIN, title="the name of a toolchain of kind gcc or clang", description="The compiler."
    )
    bolt_toolchain: Reference = Field(
        default=DEFAULT_BOLT, title="the name of a toolchain of kind bolt", description="The BOLT."
    )
    published: bool = Field(
        default=False,
        description=(
            "The published recipe to the letter, with two build directories and no warning about a lost profile."
        ),
    )
    may_fail: bool = Field(
        default=False,
        description=(
            "A failure of this build is a result and costs only its own variants; by default it stops the study."
        ),
    )
    debug_information: bool = Field(default=False, description="Compile with -g.")
    environment: Variables = Field(
        default_factory=dict,
        description="Environment variables of its servers while they are measured; compiling does not see them.",
    )

    @property
    def compiled(self) -> BuildKeys:
        """How it is compiled."""
        return BuildKeys(
            flags=tuple(split_flags(self.flags or [])),
            lto=self.lto,
            profile=self.profile,
            bolt=self.bolt,
            toolchain=self.toolchain,
            bolt_toolchain=self.bolt_toolchain,
            published=self.published,
            debug_information=self.debug_information,
            written=self.written(),
        )


class ToolchainDeclaration(ConfigKeys):
    """A compiler, or a BOLT, by its commands."""

    NEEDS = (
        NeededKeys(("cc", "cxx", "ar", "ranlib", "nm", "gcov_dump"), ("kind", "gcc")),
        NeededKeys(("cc", "cxx", "ar", "ranlib", "nm", "profdata"), ("kind", "clang")),
        NeededKeys(("bolt", "merge_fdata"), ("kind", "bolt")),
    )

    kind: Literal["gcc", "clang", "bolt"] = Field(default="gcc", description="The kind of toolchain.")
    cc: Stated[Command] = Field(default=None, description="C compiler.")
    cxx: Stated[Command] = Field(default=None, description="C++ compiler.")
    ar: Stated[Command] = Field(default=None, description="ar with the compiler's LTO plugin.")
    ranlib: Stated[Command] = Field(default=None, description="ranlib with the compiler's LTO plugin.")
    nm: Stated[Command] = Field(default=None, description="nm with the compiler's LTO plugin.")
    gcov_dump: Stated[Command] = Field(default=None, description="Reader of gcc's counter files.")
    profdata: Stated[Command] = Field(default=None, description="Reader and merger of clang's profiles.")
    bolt: Stated[Command] = Field(default=None, description="BOLT itself.")
    merge_fdata: Stated[Command] = Field(default=None, description="Merger of BOLT's profiles.")
    probe: list[Word] = Field(default_factory=list, description="Flags that its compiler must accept to make profiles.")
    packages: Stated[PackagesDeclaration] = Field(default=None)
    directories: list[FilePath] = Field(default_factory=list, description="Folders searched before PATH.")
    toolset: Stated[Annotated[str, text(r"^[A-Za-z0-9_.-]+$", 60)]] = Field(
        default=None,
        title="the name of a toolset such as gcc-toolset-13",
        description="A gcc-toolset of Red Hat's that is looked in first.",
    )
