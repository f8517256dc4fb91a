"""Compile tiny C projects through the compiler wrapper, as a build of a server does."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.build.compilation.compile import WRAPPER
from scripts.build.compilation.toolchain import Toolchain


@dataclass(frozen=True)
class Project:
    """A source tree beside the build trees of one compiler."""

    compiler: Toolchain
    folder: Path

    @property
    def source(self) -> Path:
        return self.folder / "source"

    def write(self, **units: str) -> None:
        """Write C files; `sub__work` is sub/work.c."""
        for name, text in units.items():
            path = self.source / f"{name.replace('__', '/')}.c"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def build(self, name: str) -> "Tree":
        """Return an empty build tree."""
        tree = Tree(self, self.folder / name)
        for folder in (tree.path / "sub", tree.records):
            folder.mkdir(parents=True)
        return tree


@dataclass(frozen=True)
class Tree:
    """A build tree, with the wrapper's records beside it."""

    project: Project
    path: Path

    @property
    def records(self) -> Path:
        return self.path.with_name(f"{self.path.name}-records")

    def call(self, *arguments: str | Path, as_cxx: bool = False, **environment: str) -> subprocess.CompletedProcess:
        """Call the wrapper in the build tree; `environment` holds its BUILD_ variables."""
        compiler = self.project.compiler
        bare = {"PATH": os.environ["PATH"], "BUILD_CC": compiler.cc, "BUILD_CXX": compiler.cxx}
        return subprocess.run(
            [str(WRAPPER / ("c++" if as_cxx else "cc")), *map(str, arguments)],
            cwd=self.path,
            env={**bare, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def compile(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess:
        """Call the wrapper as while compiling: with records."""
        recorded = {"BUILD_RECORDS": str(self.records), "BUILD_ROOT": str(self.path)}
        return self.call(*arguments, **recorded, **environment)
