"""The audit's entry script on tiny servers: instrumented, run, compiled with the profile, by gcc and by clang."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from scripts.build.compilation import compiler_calls, toolchain
from scripts.build.compilation.compiler_flags import COUNTERS, MERGED, flags_of
from scripts.build.compilation.flags import published_flags, with_keys
from scripts.jobs import audit_build
from scripts.lib import json_record
from tests.made.declared import compiled
from tests.made.wrapped import Project, Tree

HEADER = "template <class T> __attribute__((noinline)) T more(T n) { return n > 2 ? n : n + 1; }\n"
SOURCES = {
    "main": '#include "more.h"\nint work(int);\nint spare(int);\n'
    "int main(int n, char **) { return work(more(n)) == 0 ? spare(n) : 0; }\n",
    "sub/work": '#include "../more.h"\n'
    "__attribute__((noinline)) static int twice(int n) { return n > 3 ? 2 * n : n; }\n"
    "int work(int n) { return twice(more(n)) + more(3L); }\n",
    "sub/spare": "int spare(int n) { return n > 4 ? n : 1; }\n",
}
CHANGED = "int work(int n) { int all = 0; while (n-- > 0) all += n % 3 ? 1 : 7; return all ? all : 1; }\n"


@dataclass(frozen=True)
class Server:
    """A server of three units beside its builds, laid out as results/builds/ and results/profiles/ are."""

    compiler: toolchain.Toolchain
    folder: Path

    def compiled(self, build: str, name: str, profiling: Sequence[str], *, lto: bool = False) -> Path:
        """Compile in the build tree `build` and return the identity of the build `name`."""
        flags = with_keys(self.compiler, tuple(profiling), lto, relocatable=False, jobs=1)
        shutil.rmtree(self.folder / build, ignore_errors=True)
        shutil.rmtree(self.folder / f"{build}-records", ignore_errors=True)
        tree = Project(self.compiler, self.folder).build(build)
        extra = {"BUILD_FLAGS": "-O2", "BUILD_PROFILE_FLAGS": " ".join([*flags.profile, *flags.lto]),
                 "BUILD_PROFILE_SCOPE": "*", "BUILD_LINK_FLAGS": " ".join(flags.link)}  # fmt: skip
        for unit in SOURCES:
            self._call(tree, "-c", tree.project.source / f"{unit}.cc", "-o", f"{unit}.cc.o", **extra)
        subprocess.run(
            [self.compiler.ar, "rcs", "libsub.a", "sub/work.cc.o", "sub/spare.cc.o"], cwd=tree.path, check=True
        )
        self._call(tree, "main.cc.o", "libsub.a", "-o", "server", **extra)
        return self._keep(tree, name)

    def _call(self, tree: Tree, *arguments: str | Path, **extra: str) -> None:
        recorded = {"BUILD_RECORDS": str(tree.records), "BUILD_ROOT": str(tree.path)}
        done = tree.call(*arguments, as_cxx=True, **recorded, **extra)
        assert done.returncode == 0, done.stderr

    def _keep(self, tree: Tree, name: str) -> Path:
        made = self.folder / "results" / name
        (made / "install" / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree.path / "server", made / "install" / "bin" / "server")
        calls = compiler_calls.read_calls(tree.records, tree.path)
        if self.compiler.kind == "clang":
            calls = compiler_calls.with_functions(calls, tree.path, self.compiler.nm)
        compiler_calls.write_calls(calls, made / "calls.json.gz")
        named = {"server": "tiny", "build": name, "server_file": "bin/server"}
        json_record.write(made / "identity.json", named)
        return made / "identity.json"

    @property
    def profile(self) -> Path:
        return self.folder / "results" / "profile" / "profile.json"

    @property
    def counters(self) -> Path:
        return self.profile.parent / "counters"

    def audit(self, identity: Path, instrumented: Path, commands: dict, **recipe: bool) -> dict:
        """Run the entry script's main and return the record."""
        tools = {"name": "here", "version": "1", "commands": commands}
        full = compiled(toolchain=tools, profile={"training": "mixed", "digest": "0" * 12}, **recipe)
        out = identity.with_name("audit.json")
        calls = identity.with_name("calls.json.gz")
        audit_build.main(full, calls, identity, self.profile, instrumented, out, out.with_suffix(".log"))
        return json_record.read(out)


@pytest.fixture(scope="module")
def entries(checkout):
    return yaml.safe_load((checkout / "catalog" / "builds.yaml").read_text(encoding="utf-8"))["toolchains"]


def server_of(compiler, folder):
    for name, text in SOURCES.items():
        path = folder / "source" / f"{name}.cc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "source" / "more.h").write_text(HEADER)
    return Server(compiler, folder)


def change_work(server):
    path = server.folder / "source" / "sub" / "work.cc"
    path.write_text(CHANGED)


def run(identity, **environment):
    program = identity.parent / "install" / "bin" / "server"
    subprocess.run([program], env={**os.environ, **environment}, check=True)


@pytest.fixture
def gcc(compiler, tmp_path):
    return server_of(compiler, tmp_path)


def trained_by_gcc(server, build, flags):
    instrumented = server.compiled(build, "instrumented", flags)
    run(instrumented, GCOV_PREFIX=str(server.folder / "written"))
    shutil.copytree(server.folder / "written" / COUNTERS.lstrip("/"), server.counters)
    json_record.write(server.profile, {"tool": "gcc"})
    return instrumented


def test_whole_audit_of_a_build_by_gcc(gcc, entries):
    instrumented = trained_by_gcc(gcc, "build", flags_of("gcc").instrument(gcc.folder / "build"))
    pgo = gcc.compiled("build", "pgo", flags_of("gcc").use(gcc.folder / "build", gcc.counters))
    audit = gcc.audit(pgo, instrumented, entries["gcc-12"])
    assert (audit["server"], audit["build"], audit["tool"], audit["published"]) == ("tiny", "pgo", "gcc", False)
    keys = ("units_compiled", "units_linked", "units_with_counters", "units_nonzero", "units_matched")
    assert [audit[key] for key in keys] == [3, 3, 3, 2, 2]
    assert (audit["matched_share"], audit["executed_share_optimised"]) == (1.0, 1.0)
    assert audit["functions_executed"] == audit["functions_matched"] == 5
    assert audit["functions_without_name"] == 0
    functions = {(entry["function"], entry["unit"]) for entry in audit["top_functions"]}
    # Of a template used by two units one copy is left, with the counters of one of them.
    templates = {function for function, _ in functions if function.startswith(("int more", "long more"))}
    assert templates == {"int more<int>(int)", "long more<long>(long)"}
    assert functions >= {("main", "main.cc"), ("work(int)", "sub/work.cc"), ("twice(int)", "sub/work.cc")}
    assert "names" not in audit


def test_published_recipe_loses_its_profile_and_shows_names_sought_beside_names_present(gcc, entries):
    instrumented = trained_by_gcc(gcc, "build-gen", published_flags(None))
    used = gcc.compiled("build-use", "as_published", published_flags(gcc.counters))
    audit = gcc.audit(used, instrumented, entries["gcc-12"], published=True)
    assert (audit["units_matched"], audit["units_nonzero"], audit["executed_share_optimised"]) == (0, 2, 0.0)
    assert (audit["names_sought"], audit["names_present"], audit["names_found"]) == (3, 3, 0)
    start = str(gcc.folder).replace("/", "#")
    assert audit["names"] == [
        {"sought": f"{start}#build-use#{unit}.cc.gcda", "present": f"{start}#build-gen#{unit}.cc.gcda"}
        for unit in ("main", "sub#spare", "sub#work")
    ]
    assert {(row["directory"], row["units_compiled"], row["units_nonzero"]) for row in audit["by_directory"]} == {
        (".", 1, 1), ("sub", 2, 1)
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"0 of 2 executed units .*\n  main\.cc: its counters have another name"):
        gcc.audit(used, instrumented, entries["gcc-12"])


def test_published_recipe_in_one_build_directory_finds_its_profile(gcc, entries):
    instrumented = trained_by_gcc(gcc, "build", published_flags(None))
    used = gcc.compiled("build", "as_published", published_flags(gcc.counters))
    audit = gcc.audit(used, instrumented, entries["gcc-12"], published=True)
    assert (audit["names_found"], audit["names"], audit["executed_share_optimised"]) == (3, [], 1.0)


@pytest.fixture
def trained(clang, entries, tmp_path):
    server = server_of(clang, tmp_path)
    instrumented = server.compiled("build", "instrumented", flags_of("clang").instrument(tmp_path))
    run(instrumented, LLVM_PROFILE_FILE=str(tmp_path / "%4m.profraw"))
    server.counters.mkdir(parents=True)
    raw = list(map(str, tmp_path.glob("*.profraw")))
    subprocess.run([clang.profdata, "merge", "-o", server.counters / MERGED, *raw], check=True)
    json_record.write(server.profile, {"tool": "clang"})
    return server, instrumented, entries[clang.name]


def used(server):
    return flags_of("clang").use(server.folder, server.counters)


@pytest.mark.parametrize("lto", [False, True])
def test_whole_audit_of_a_build_by_clang(trained, lto):
    server, instrumented, commands = trained
    pgo = server.compiled("build", "pgo", used(server), lto=lto)
    audit = server.audit(pgo, instrumented, commands)
    keys = ("units_compiled", "units_linked", "units_with_counters", "units_nonzero", "units_matched")
    assert [audit[key] for key in keys] == [3, 3, 3, 2, 2]
    assert (audit["tool"], audit["executed_share_optimised"]) == ("clang", 1.0)
    names = [entry["function"] for entry in audit["top_functions"]]
    assert len(names) == len(set(names)) == audit["functions_executed"]
    assert {"main", "work(int)"} <= set(names)
    assert "spare(int)" not in names


def test_clang_loses_what_the_sources_no_longer_hold_and_the_build_is_refused(trained):
    server, instrumented, commands = trained
    change_work(server)
    pgo = server.compiled("build", "pgo", used(server))
    with pytest.raises(ValueError, match=r"(?s)1 of 2 executed units .*sub/work\.cc: hash mismatch"):
        server.audit(pgo, instrumented, commands)


def test_clang_without_the_profile_flag_is_refused(trained):
    server, instrumented, commands = trained
    plain = server.compiled("build", "plain", [])
    with pytest.raises(ValueError, match=r"(?s)0 of 2 executed units .*main\.cc: compiled without its profile"):
        server.audit(plain, instrumented, commands)


def test_clang_profile_that_cannot_be_read_is_named(trained):
    server, instrumented, commands = trained
    pgo = server.compiled("build", "pgo", used(server))
    (server.counters / MERGED).write_bytes(b"no profile")
    with pytest.raises(ValueError, match=r"merged\.profdata: .*cannot read the counters"):
        server.audit(pgo, instrumented, commands)
