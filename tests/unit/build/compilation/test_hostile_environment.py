"""Whatever the user's shell exports, the command lines and the bytes of a build are the same."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.build.compilation import toolchain
from scripts.build.compilation.compile import compile_server
from scripts.build.compilation.compiler_calls import CompilerCall, read_calls
from scripts.build.compilation.flags import Flags
from scripts.build.compilation.toolchain import Toolchain, probe_profile_flags
from scripts.build.compilation.trials import Keys, try_keys
from scripts.lib.host.process import CommandFailed
from tests.made import declared
from tests.made.hostile import BY_PROGRAM, VARIABLES

# It takes flags and tools as Autoconf's configure and GNU make do: from arguments first, else from the environment.
CONFIGURE = """
for argument; do case $argument in *=*) eval "${argument%%=*}='${argument#*=}'" ;; esac; done
[ -z "${CONFIG_SITE-}" ] || . "$CONFIG_SITE"
echo "int made;" >"$(dirname "$0")/made.c"
cat >Makefile <<END
CFLAGS = ${CFLAGS--O2} ${CPPFLAGS-} ${COPT-}
LDFLAGS = ${LDFLAGS-} ${LIBS-}
server: main.o part.o
\t$CC \\$(CFLAGS) main.o part.o \\$(LDFLAGS) -o \\$@
%.o: $(dirname "$0")/%.c
\t$CC \\$(CFLAGS) \\$(COPT) -c \\$< -o \\$@
END
"""
SOURCES = {
    "configure": CONFIGURE,
    "main.c": "#include <stdio.h>\nint part(int);\nint main(int n, char **v) { return printf(__FILE__), part(n); }\n",
    "part.c": "int part(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * n; return s; }\n",
}
FAMILY = SimpleNamespace(
    PROFILE_SCOPE="*",
    configure_command=lambda source, tools, recipe: ["sh", str(source / "configure"), f"CC={tools['cc']}"],
    compile_commands=lambda threads: [["make", f"-j{threads}", "server"]],
    library_commands=lambda *_: [],
)


@dataclass(frozen=True)
class Build:
    """The calls of the compiler, and the bytes of the program."""

    calls: list[CompilerCall]
    program: bytes


@pytest.fixture
def built(tmp_path, compiler):
    """Return a function that compiles the small server, always at the same path."""
    source, build = tmp_path / "source", tmp_path / "work" / "build"
    source.mkdir()
    for name, text in SOURCES.items():
        (source / name).write_text(text)

    def compiled() -> Build:
        made = compile_server(FAMILY, source, build, compiler, Flags(), declared.compiled(), 2, tmp_path / "log")
        return Build(read_calls(made.records, build), (build / "server").read_bytes())

    return compiled


def outcome_of(build: Callable[[], Build]) -> Build | str:
    try:
        return build()
    except (CommandFailed, OSError) as failure:
        return str(failure)


def make_hostile(monkeypatch, variables=VARIABLES):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_no_variable_changes_a_command_line_or_a_byte(built, monkeypatch):
    usual = built()
    assert [call.unit for call in usual.calls] == ["main.o", "part.o", "server"]
    make_hostile(monkeypatch)
    assert built() == usual


@pytest.mark.parametrize("program", ["gcc", "make", "configure", "ld.so"])
def test_the_variables_would_have_changed_it(built, monkeypatch, program):
    """What proves that the test above can fail: with these variables let through the build is another, or none."""
    usual = built()
    monkeypatch.setattr("scripts.lib.host.process.made_environment", lambda **more: {**more, **BY_PROGRAM[program]})
    assert outcome_of(built) != usual


def test_probes_and_trials_of_a_compiler_pass(compiler: Toolchain, monkeypatch):
    toolchain._output.cache_clear()
    make_hostile(monkeypatch)
    names = {key: Path(command).name for key, command in compiler.commands.items()}
    assert toolchain.find(compiler.name, names) == compiler
    probe_profile_flags(compiler)
    try_keys(compiler, Keys(profile=True, lto=True))
