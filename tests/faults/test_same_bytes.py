"""The same goes in, the same comes out: plans, reports and servers, whatever the clock, the language or the folder."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.build.compilation.compiler_flags import COUNTERS, flags_of
from tests.faults.scale import WHOLE
from tests.made import studies
from tests.made.wrapped import Project
from tests.workflow.running import CHECKOUT, environment, snakemake

pytestmark = pytest.mark.slow

PLAN = """
import sys
from pathlib import Path
from scripts.lib import json_record as record
from tests.made import studies
paths = studies.paths(seed=int(sys.argv[1]))
plan = paths.plan
builds = {folder: plan.build(*pair).dump() for folder, pair in [*paths.builds.items(), *paths.stages.items()]}
blocks = [paths.planned(block).facts() for block in paths.to_measure.values()]
made = {"blocks": blocks, "datasets": list(paths.datasets), "checks": paths.checks}
print(record.canonical({**made, "builds": builds}))
"""
REPORT = """
import sys
from pathlib import Path
from tests.made import synthetic
from tests.made.rendering import exported, rendered
plan = synthetic.Plan(workloads=("simple_select", "oltp"), clients=(1, 8), failures=frozenset([("pgo", "oltp", 8, 1)]))
tree, *_ = rendered(plan, Path("results"))
exported(tree)
"""
# Two machines, as far as a process can tell.
HERE = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C", "COLUMNS": "80"}
THERE = {"PYTHONHASHSEED": "7", "TZ": "Asia/Kolkata", "LC_ALL": "C.UTF-8", "COLUMNS": "200", "SOURCE_DATE_EPOCH": "1"}


def told(code, folder, around, *arguments):
    """Run code in a folder of its own with variables of its own; returns what it printed."""
    (folder / "home").mkdir(parents=True)
    more = {"PYTHONPATH": str(CHECKOUT), "HOME": str(folder / "home"), **around}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(**more), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def contents(folder):
    """Return relative path -> digest of every file below a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def seeded(seed):
    return studies.paths(seed=seed)


def recipes(blocks):
    """Return what the blocks measure, whatever their order."""
    return sorted((block["folder"], arm["name"], arm["digest"]) for block in blocks for arm in block["arms"])


def test_plan_is_the_same_on_another_machine_and_another_seed_changes_the_order_alone(tmp_path):
    one = told(PLAN, tmp_path / "one", HERE, "1")
    assert one == told(PLAN, tmp_path / "other", THERE, "1")
    planned = [[made.planned(block).facts() for block in made.to_measure.values()] for made in (seeded(1), seeded(2))]
    orders = [[(block["folder"], block["seed"], block["turns"]) for block in blocks] for blocks in planned]
    assert orders[0] != orders[1]
    assert recipes(planned[0]) == recipes(planned[1])


def test_plan_does_not_depend_on_the_folder_of_the_checkout(tmp_path):
    for name in ("catalog", "rules", "workloads"):
        shutil.copytree(CHECKOUT / name, tmp_path / name)
    assert list(studies.paths(root=tmp_path).runs) == list(studies.paths().runs)


def test_same_runs_give_the_same_bytes_of_report_figures_and_tables(tmp_path):
    for name, around in (("one", HERE), ("the other place", THERE)):
        told(REPORT, tmp_path / name, around)
    one, other = (contents(tmp_path / name / "results") for name in ("one", "the other place"))
    assert one == other
    assert {"report.html", "summary.md", "results.json"} <= {Path(name).name for name in one}
    assert sum(name.endswith(".svg") for name in one) > 3


UNITS = {
    "main": "int work(int);\nint main(int n, char **v) { return work(n); }\n",
    "sub__work": "#include <stdio.h>\nstatic int twice(int n) { return n > 3 ? 2 * n : n + n; }\n"
    "int work(int n) { printf(__FILE__); for (int i = 0; i < 9; i++) n += twice(i); return n == 0; }\n",
}
OBJECTS = ("main.o", "sub/work.o")


@pytest.fixture(scope="module")
def project(compiler, tmp_path_factory):
    made = Project(compiler, tmp_path_factory.mktemp("same"))
    made.write(**UNITS)
    return made


def compiled(project, profile, common="-O2 -g"):
    """Compile in the one build tree there is, as the builds of one server do; returns its program and its objects."""
    for folder in ("build", "build-records"):
        shutil.rmtree(project.folder / folder, ignore_errors=True)
    tree = project.build("build")
    flags = {"BUILD_FLAGS": common, "BUILD_PROFILE_FLAGS": " ".join(profile(tree.path)), "BUILD_PROFILE_SCOPE": "*"}
    for name, made in zip(UNITS, OBJECTS, strict=True):
        source = project.source / f"{name.replace('__', '/')}.c"
        assert tree.compile("-c", source, "-o", made, **flags).returncode == 0
    assert tree.compile(*OBJECTS, "-o", "program", **flags, BUILD_LINK_FLAGS="-Wl,--build-id=sha1").returncode == 0
    return contents(tree.path)


@pytest.fixture(scope="module")
def counters(project):
    """The counters of one training."""
    compiled(project, flags_of("gcc").instrument)
    place = {"GCOV_PREFIX": str(project.folder)}
    subprocess.run([project.folder / "build" / "program"], env=place, check=False, stdout=subprocess.DEVNULL)
    return project.folder / COUNTERS.lstrip("/")


@pytest.mark.parametrize("lto", ["", " -flto=2"])
@pytest.mark.parametrize("with_profile", [False, True])
def test_same_source_compiler_and_flags_give_the_same_program(project, counters, lto, with_profile):
    flags = (lambda build: flags_of("gcc").use(build, counters)) if with_profile else (lambda build: ())
    one, other = (compiled(project, flags, f"-O2 -g{lto}") for _ in range(2))
    assert one["program"] == other["program"]


def test_instrumented_program_differs_by_the_time_gcc_writes_into_it_and_by_nothing_else(project):
    plain = [compiled(project, flags_of("gcc").instrument) for _ in range(2)]
    assert plain[0]["program"] != plain[1]["program"]
    seeded = [compiled(project, flags_of("gcc").instrument, "-O2 -g -frandom-seed=1") for _ in range(2)]
    assert seeded[0]["program"] == seeded[1]["program"]


@pytest.mark.real
@pytest.mark.skipif(not WHOLE, reason="compiles PostgreSQL twice: make faults")
@pytest.mark.parametrize("build", ["baseline", "lto"])
def test_server_compiled_twice_is_the_same_bytes(tmp_path, build):
    config = yaml.safe_load((CHECKOUT / "studies" / "quick.yaml").read_text())
    config |= {"study": "twice", "variants": {"baseline": {"server": "postgresql-15", "build": build}}}
    (tmp_path / "twice.yaml").write_text(yaml.safe_dump(config))
    arguments = ["--cores", "all", "--configfile", tmp_path / "twice.yaml"]
    trees = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        planned = snakemake(tmp_path / name, "--dry-run", *arguments).made("build_server")
        (made,) = [path.replace("/install", "/identity.json") for path in planned if f"/{build}-" in path]
        answer = snakemake(tmp_path / name, made, *arguments)
        assert answer.status == 0, answer.text
        trees.append(contents((tmp_path / name / made).parent / "install"))
    differing = [file for file in trees[0] if trees[0][file] != trees[1].get(file)]
    assert differing == []
    assert "bin/postgres" in trees[0]
