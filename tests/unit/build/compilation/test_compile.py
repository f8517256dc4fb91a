"""Where a server is compiled: paths that depend on the sources alone, one build at a time."""

import os
import threading
from types import SimpleNamespace

import pytest

from scripts.build.compilation.compile import WRAPPER, build_tree, compile_server, source_link, wrapper
from scripts.build.compilation.compiler_flags import flags_of
from scripts.build.compilation.flags import Flags
from scripts.lib.host import outcome
from scripts.lib.host.process import CommandFailed
from scripts.lib.vocabulary import FailureKind
from tests.made.declared import compiled

DIGEST = "4c939f9d67cfbc3d" + 48 * "0"
TOOLS = dict.fromkeys(("cc", "cxx", "ar", "ranlib", "nm"), "none")


def unpacked(folder):
    (folder / "tree").mkdir(parents=True)
    (folder / "tree" / "configure").touch()
    return folder / "tree"


def test_source_path_depends_on_the_content_and_not_on_the_checkout(tmp_path):
    one, other = unpacked(tmp_path / "one"), unpacked(tmp_path / "other")
    first = source_link(one, DIGEST, tmp_path / "cache")
    again = source_link(other, DIGEST, tmp_path / "cache")
    assert first == again
    assert again.resolve() == other
    assert not again.is_symlink()
    assert source_link(one, "f" * 64, tmp_path / "cache") != first


def test_compilers_path_depends_on_the_wrapper_and_not_on_the_checkout(tmp_path):
    place = wrapper(tmp_path)
    assert wrapper(tmp_path) == place
    assert (place / "cc").read_bytes() == (WRAPPER / "cc").read_bytes()
    assert (place / "c++").resolve() == place / "cc"
    assert os.access(place / "c++", os.X_OK)
    assert list(place.parent.iterdir()) == [place]


def test_build_path_is_the_same_for_every_build_of_a_source_and_empty_each_time(tmp_path):
    with build_tree(DIGEST, tmp_path) as first:
        first.mkdir(parents=True)
        (first / "left").touch()
    assert not first.exists()
    with build_tree(DIGEST, tmp_path) as second:
        assert second == first
        assert not second.exists()
    with build_tree("f" * 64, tmp_path) as other:
        assert other != first


def test_build_tree_is_removed_after_a_failed_compile(tmp_path):
    with pytest.raises(RuntimeError), build_tree(DIGEST, tmp_path) as build:
        build.mkdir(parents=True)
        raise RuntimeError("compile failed")
    assert not build.parent.exists()


def test_two_builds_of_a_source_never_share_the_tree(tmp_path):
    inside, order = threading.Event(), []

    def second():
        inside.wait(5)
        with build_tree(DIGEST, tmp_path):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with build_tree(DIGEST, tmp_path) as build:
        inside.set()
        thread.join(0.3)
        build.mkdir(parents=True)
        order.append("first")
    thread.join(5)
    assert order == ["first", "second"]


def test_libraries_of_a_recipe_are_compiled_after_the_server(tmp_path):
    family = SimpleNamespace(
        PROFILE_SCOPE="objects",
        configure_command=lambda *_: ["sh", "-c", "echo configured > steps"],
        compile_commands=lambda threads: [["sh", "-c", f"echo server with {threads} >> steps"]],
        library_commands=lambda names: [["sh", "-c", f"echo {name} >> steps"] for name in names],
    )
    tools = SimpleNamespace(
        **dict.fromkeys(("cc", "cxx", "ar", "ranlib", "nm"), "none"), search_path=lambda: os.defpath
    )
    recipe = compiled(libraries=["counted", "explained"])
    made = compile_server(family, tmp_path, tmp_path / "work/build", tools, Flags(), recipe, 3, tmp_path / "log")
    steps = (tmp_path / "work/build/steps").read_text().splitlines()
    assert steps == ["configured", "server with 3", "counted", "explained"]
    assert made.steps_s.keys() == {"configure", "compile"}


def failure_of_ninja(folder, step):
    """Compile with a ninja file whose one step is a shell command; returns the failure."""
    rules = folder / "build.ninja"
    rules.write_text(f"rule compile\n  command = {step}\nbuild x.o: compile\n")
    family = SimpleNamespace(
        PROFILE_SCOPE="objects",
        configure_command=lambda *_: ["cp", str(rules), "."],
        compile_commands=lambda _threads: [["ninja"]],
        library_commands=lambda _names: [],
    )
    tools = SimpleNamespace(**TOOLS, search_path=lambda: os.environ["PATH"])
    recipe = compiled(build="fragile")
    with pytest.raises(CommandFailed) as caught:
        compile_server(family, folder, folder / "work/build", tools, Flags(), recipe, 1, folder / "log")
    return caught.value


@pytest.mark.real
@pytest.mark.parametrize("step", ["kill -KILL $$PPID", "kill -TERM $$PPID; sleep 1", "kill -INT $$$$"])
def test_build_tool_that_is_killed_says_nothing_about_the_build(tmp_path, step):
    assert outcome.of_host(failure_of_ninja(tmp_path, step))


@pytest.mark.real
def test_cause_of_a_failed_compile_is_what_the_compiler_said_first(tmp_path):
    (tmp_path / "printed").write_text("x.c:1: error: no such thing\n")
    failure = failure_of_ninja(tmp_path, f"cat {tmp_path / 'printed'}; false")
    assert (failure.cause.code, failure.cause.text) == (FailureKind.COMMAND, "x.c:1: error: no such thing")


CONFIGURE = """#!/bin/sh
mkdir -p CMakeFiles sub; echo conftest.c: undefined > config.log; echo none > CMakeFiles/CMakeError.log
echo of a library > sub/config.log; echo 'configure: error: no library readline'; exit 1
"""


def failure_of_configure(folder, script):
    configure = folder / "checks.sh"
    configure.write_text(script)
    configure.chmod(0o755)
    family = SimpleNamespace(configure_command=lambda *_: [str(configure)])
    tools = SimpleNamespace(**TOOLS, search_path=lambda: os.environ["PATH"])
    recipe, log = compiled(build="fragile"), folder / "logs" / "fragile-0123.log"
    log.parent.mkdir(exist_ok=True)
    with pytest.raises(CommandFailed) as caught, build_tree(DIGEST, folder) as build:
        compile_server(family, folder, build, tools, Flags(), recipe, 1, log)
    return str(caught.value), log.parent


def test_logs_of_a_failed_configure_outlive_its_tree_and_are_named(tmp_path):
    failure, logs = failure_of_configure(tmp_path, CONFIGURE)
    kept = ["fragile-0123.CMakeError.log", "fragile-0123.config.log", "fragile-0123.sub-config.log"]
    assert sorted(file.name for file in logs.iterdir()) == sorted([*kept, "fragile-0123.log"])
    assert (logs / "fragile-0123.config.log").read_text() == "conftest.c: undefined\n"
    assert "configure: error: no library readline" in failure
    assert [name for name in kept if f"(kept: {logs / name})" in failure] == kept


def test_logs_that_an_earlier_try_kept_are_not_taken_for_those_of_the_last(tmp_path):
    failure_of_configure(tmp_path, CONFIGURE)
    failure, logs = failure_of_configure(tmp_path, "#!/bin/sh\nexit 1\n")
    assert "kept" not in failure
    assert [file.name for file in logs.iterdir()] == ["fragile-0123.log"]


@pytest.mark.real
def test_compiler_that_refuses_the_code_fails_the_build(tmp_path):
    failure = failure_of_ninja(tmp_path, "echo 'x.cc:1: error: no member'; exit 1")
    assert "x.cc:1: error: no member" in str(failure)
    assert not outcome.of_host(failure)


def test_both_sides_of_a_profile_cut_the_same_folder_from_the_names(tmp_path):
    cut = f"-fprofile-prefix-path={tmp_path}"
    assert cut in flags_of("gcc").instrument(tmp_path)
    assert cut in flags_of("gcc").use(tmp_path, tmp_path / "counters")
