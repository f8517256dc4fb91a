"""`make prune` lists what no config names and what making it again would take, and removes only what it may."""

import fcntl
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.build.relink import kept_relinks
from scripts.commands import removal
from scripts.commands.prune import __main__ as prune
from scripts.commands.prune import cache_leftovers
from scripts.lib import json_record
from scripts.lib.host import cache, locks, workplace
from scripts.lib.host.locks import Busy
from scripts.study.config.yaml_lines import ConfigError
from tests.made import laid_out
from tests.made.studies import CHECKOUT, config, paths

SERVER = "postgresql-15"
GCC_99 = {
    "toolchains": {
        "gcc-99": {
            "cc": "gcc-99",
            "cxx": "g++-99",
            "ar": "ar",
            "ranlib": "ranlib",
            "nm": "nm",
            "gcov_dump": "gcov-dump",
        }
    },
    "builds": {"gcc99": {"toolchain": "gcc-99"}, "gcc99_pgo": {"toolchain": "gcc-99", "profile": "mixed"}},
}
OLD = "0123456789ab"


class Answers(io.StringIO):
    """A terminal with an answer typed in."""

    def isatty(self):
        return True


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory with one finished study, a cache and a machine-wide lock of the test's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cache").mkdir()
    (tmp_path / "locks").mkdir()
    monkeypatch.setattr(cache, "cache_path", lambda: tmp_path / "cache")
    monkeypatch.setattr(locks, "lock_directory", lambda: tmp_path / "locks")
    # A held lock ends with its process only; it is tested by itself.
    monkeypatch.setattr(locks, "hold_checkout", lambda folder: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    configure()
    laid_out.make(paths())
    return tmp_path


def configure(file="small.yaml", **changes):
    Path(file).write_text(yaml.safe_dump(config(**changes)))


@pytest.fixture
def pruned(monkeypatch):
    """Return a function that prunes and returns the messages."""

    def call(*files, force=False):
        said = []
        monkeypatch.setattr(prune, "say", said.append)
        monkeypatch.setattr(removal, "say", said.append)
        prune.main([Path(file) for file in files or ("small.yaml",)], force)
        return "\n".join(said).replace("\u202f", " ")

    return call


def files() -> set[str]:
    return {str(path) for path in Path("results").rglob("*") if path.is_file()}


def folders_of(changed) -> set[str]:
    return {str(Path(path).parent) for path in changed}


def test_nothing_of_a_named_study_is_removed(place, pruned):
    before = files()
    assert pruned(force=True) == "[prune] nothing to remove"
    assert files() == before


@pytest.mark.parametrize("study", ["small", "forgotten"])
@pytest.mark.parametrize(
    ("declared", "of", "why"),
    [
        (None, "the layout before blocks", f"; the last commit that renders them is {json_record.LAST_BEFORE_BLOCKS}"),
        ({}, "the layout before blocks", f"; the last commit that renders them is {json_record.LAST_BEFORE_BLOCKS}"),
        ({"imported": {"logs": 1}}, "imported logs", ""),
    ],
)
def test_runs_that_none_of_todays_recipes_measures_are_listed_apart_and_stay(place, pruned, study, declared, of, why):
    home = Path("results/studies", study)
    run = home / "runs/pgo-000000000000/oltp/8/1.json"
    json_record.write(run, {})
    if declared is not None:
        json_record.write(home / "study.json", declared)
    before = files()
    text = pruned(force=True)
    assert f"{home}/runs (1 run)" in text
    assert re.search(rf"^\[prune\] 1 run of {of}, .*, stay{why}\n\[prune\] nothing to remove$", text, re.M)
    assert files() == before


def test_without_a_terminal_it_only_lists(place, pruned):
    configure(builds={"pgo": {"flags": "-O3"}})
    before = files()
    text = pruned()
    assert "[prune] nothing was removed; `make prune FORCE=1` removes what is listed" in text
    assert files() == before


@pytest.mark.parametrize(
    ("answer", "removes"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_on_a_terminal_it_asks(place, pruned, monkeypatch, answer, removes):
    configure(builds={"pgo": {"flags": "-O3"}})
    before = files()
    monkeypatch.setattr(sys, "stdin", Answers(answer))
    text = pruned()
    assert (files() != before) == removes
    assert ("[prune] removed" in text) == removes
    assert ("[prune] nothing was removed" in text) != removes
    assert "FORCE" not in text


def test_edited_build_loses_the_old_one_with_its_check_and_runs_and_says_what_they_took(place, pruned):
    old, before = paths(), files()
    configure(builds={"pgo": {"lto": True}})
    text = pruned(force=True)
    folder = old.build(SERVER, "pgo")
    gone = (folder, old.answers(SERVER, "pgo"), *(f"{block.folder}/" for block in old.blocks))
    assert {path for path in before if path.startswith(gone)} == before - files()
    assert f"{folder} (10 min)" in text
    assert all(f"{block.folder} (3 runs)" in text for block in old.blocks)
    assert "[prune] no config names 8 results" in text
    assert "[prune] removing them loses 10 min of building, training and loading, and 18 runs" in text


def test_variables_that_no_run_shares_are_listed_and_removed(place, pruned):
    ours = paths()
    laid_out.measure(ours, next(iter(ours.runs)), shared_variables="used")
    used, unused = (Path(ours.study, "variables", f"{name}.json") for name in ("used", "unused"))
    for file in (used, unused):
        json_record.write(file, {"max_connections": "100"})
    before = files()
    text = pruned()
    assert str(unused) in text
    assert str(used) not in text
    assert files() == before
    pruned(force=True)
    assert before - files() == {str(unused)}


def test_what_another_config_names_stays(place, pruned):
    before = files()
    configure("new.yaml", builds={"pgo": {"lto": True}})
    assert pruned("new.yaml", "small.yaml", force=True) == "[prune] nothing to remove"
    assert files() == before


def test_study_of_no_config_goes_whole_and_what_others_share_stays(place, pruned):
    configure("other.yaml", study="other")
    other = paths(study="other")
    laid_out.make(other)
    Path("results/studies/other/report.html").write_text("report")
    text = pruned(force=True)
    assert "results/studies/other (18 runs)" in text
    assert not Path("results/studies/other").exists()
    assert "[prune] no config names 1 result," in text


def test_runs_of_an_earlier_load_or_client_count_go(place, pruned):
    old = paths()
    configure(clients=[16], campaign=2, workloads={"oltp": None})
    text = pruned(force=True)
    assert "18 runs" in text
    assert not any(Path(path).exists() for path in old.runs)
    assert Path(old.build(SERVER, "pgo"), "identity.json").exists()


def test_report_and_tables_of_a_named_study_stay(place, pruned):
    made = [
        Path("results/studies/small", name) for name in ("report.html", "tables/runs.csv", "runs.txt", "study.json")
    ]
    for path in made:
        path.parent.mkdir(exist_ok=True)
        path.write_text("made")
    configure(builds={"pgo": {"lto": True}})
    pruned(force=True)
    assert all(path.exists() for path in made)


def test_servers_and_packages_of_no_config_go_whole(place, pruned):
    folder = Path("results/builds/mysql-8.0.36", f"pgo-{OLD}")
    laid_out.build(str(folder), "mysql-8.0.36", "pgo")
    json_record.write(Path("results/profiles/mysql-8.0.36", f"mixed-{OLD}", "profile.json"), {"wall_s": 120.0})
    json_record.write(Path(f"results/sources/mysql-8.0.36-{OLD}/source.json"), {})
    packages = Path("results/packages")
    packages.mkdir()
    kept = packages / f"{SERVER}-15.8-{Path(paths().build(SERVER, 'pgo')).name}.tar.gz"
    for package in (kept, packages / f"{SERVER}-15.8-pgo-{OLD}.tar.gz"):
        package.write_bytes(b"x")
    text = pruned(force=True)
    for path, cost in {
        "results/builds/mysql-8.0.36": " (10 min)",
        "results/profiles/mysql-8.0.36": " (2 min)",
        f"results/sources/mysql-8.0.36-{OLD}": "",
        f"results/packages/{SERVER}-15.8-pgo-{OLD}.tar.gz": "",
    }.items():
        assert f"{path}{cost}\n" in text
        assert not Path(path).exists()
    assert kept.exists()


def test_files_a_user_put_there_stay(place, pruned):
    own = [Path("results/builds/notes.txt"), Path(f"results/builds/{SERVER}/README"), Path("results/studies/.note")]
    for path in own:
        path.write_text("mine")
    (place / "elsewhere").mkdir()
    Path(f"results/builds/{SERVER}/link").symlink_to(place / "elsewhere")
    assert pruned(force=True) == "[prune] nothing to remove"
    assert all(path.exists() for path in own)


def test_damaged_facts_cost_an_unknown_time(place, pruned):
    Path(paths().build(SERVER, "pgo"), "facts.json").write_text("{")
    configure(builds={"pgo": {"lto": True}})
    assert f"{paths().build(SERVER, 'pgo')} (unknown time)" in pruned(force=True)


def test_config_whose_compiler_is_missing_costs_none_of_its_results(place, pruned):
    variants = {"baseline": {"server": SERVER, "build": "baseline"}, "new": {"server": SERVER, "build": "gcc99_pgo"}}
    configure("later.yaml", study="later", variants=variants, **GCC_99)
    kept = [
        Path(f"results/builds/{SERVER}/gcc99_pgo-{OLD}/identity.json"),
        Path(f"results/builds/{SERVER}/instrumented_gcc-99-{OLD}/identity.json"),
        Path(f"results/builds/{SERVER}/baseline-{OLD}/identity.json"),
        Path(f"results/checks/{SERVER}/gcc99_pgo-{OLD}/check.json"),
        Path(f"results/profiles/{SERVER}/mixed-{OLD}/profile.json"),
        Path(f"results/datasets/{SERVER}/sbtest-{OLD}/dataset.json"),
        Path(f"results/studies/later/blocks/oltp/8/1/{OLD}/new.json"),
    ]
    lost = Path(f"results/builds/{SERVER}/pgo-{OLD}/identity.json")
    for path in [*kept, lost]:
        json_record.write(path, {})
    text = pruned("small.yaml", "later.yaml", force=True)
    assert (
        "[prune] later.yaml cannot be planned here, so all results with its names are kept: toolchains.gcc-99.cc"
        in text
    )
    assert all(path.exists() for path in kept)
    assert not lost.exists()


def test_configs_with_mistakes_are_all_named_and_nothing_is_removed(place, pruned):
    laid_out.build(f"results/builds/{SERVER}/old-{OLD}", SERVER, "old")
    before = files()
    configure("one.yaml", repetitions="many")
    Path("two.yaml").write_text("study: [")
    Path("three.yaml").write_text("")
    with pytest.raises(ConfigError) as caught:
        pruned("small.yaml", "one.yaml", "two.yaml", "three.yaml", "four.yaml", force=True)
    for told in ("one.yaml: 1 mistake", "two.yaml:1: this is not YAML", "three.yaml: ", "four.yaml: no such file"):
        assert told in str(caught.value)
    assert "so nothing was removed" in str(caught.value)
    assert files() == before


@pytest.mark.parametrize("force", [True, False])
def test_lock_of_the_results_is_held_exactly_when_something_may_be_removed(place, pruned, monkeypatch, force):
    held = []
    monkeypatch.setattr(locks, "hold_checkout", held.append)
    pruned(force=force)
    assert held == ([Path("results")] if force else [])


def test_nothing_is_removed_while_a_snakemake_works_here(place, tmp_path):
    configure("small.yaml", builds={"pgo": {"lto": True}})
    before = files()
    with Path("results/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHONDONTWRITEBYTECODE": "1"}
        script = [sys.executable, "-m", "scripts.commands.prune", "small.yaml", "--force"]
        done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "another Snakemake (process unknown) works here" in done.stderr
    assert files() - {"results/.lock"} == before


def test_half_removed_build_has_no_record(place, monkeypatch):
    folder = Path(paths().build(SERVER, "pgo"))
    monkeypatch.setattr(workplace, "remove", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        removal.discard(folder)
    assert (folder / "install" / "bin" / "server").exists()
    assert not list(folder.glob("*.json"))


@pytest.fixture
def killed(place):
    """What killed jobs left: a build tree, a data directory in the cache, one on a storage."""
    found = [place / "cache/build" / ("ab" * 8), place / "cache/data/pgobench-x1", place / "disk/pgobench-x2"]
    for folder in found:
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "file").write_bytes(b"x" * 10_000)
    (place / "disk/mine").mkdir()
    (place / "cache/build" / f"{'ab' * 8}.lock").touch()
    configure(storage={"disk": str(place / "disk")})
    return found


def test_leftovers_of_killed_jobs_are_removed_and_nothing_beside_them(place, killed, pruned):
    before = files()
    text = pruned()
    assert all(f"{folder} (of a killed job, or a copy)" in text for folder in killed)
    assert all(folder.exists() for folder in killed)
    pruned(force=True)
    assert not any(folder.exists() for folder in killed)
    assert (place / "disk/mine").exists()
    assert files() == before


def test_leftovers_are_not_looked_for_while_somebody_measures_or_compiles(place, killed, pruned):
    for lock in (locks.shared, locks.exclusive):
        with lock():
            text = pruned(force=True)
        assert "measure or compile on this machine: leftovers of killed jobs are not searched" in text
        assert all(folder.exists() for folder in killed)


def test_leftovers_stay_when_somebody_began_to_measure_after_they_were_listed(place, killed, pruned, monkeypatch):
    found = cache_leftovers.find_in_cache([], [])
    with locks.shared():
        with pytest.raises(Busy):
            cache_leftovers.remove_leftover(found)
        said = []
        monkeypatch.setattr(prune, "say", said.append)
        monkeypatch.setattr(removal, "say", said.append)
        prune.remove_outside([], found)
    assert all(folder.exists() for folder in killed)
    assert "leftovers of killed jobs are kept for now" in said[0]


def test_build_tree_is_removed_under_the_lock_that_compiles_hold(place, killed, monkeypatch):
    taken = []
    monkeypatch.setattr(fcntl, "flock", lambda file, mode: taken.append((getattr(file, "name", None), mode)))
    cache_leftovers.remove_leftover(cache_leftovers.find_in_cache([], []))
    assert (str(killed[0].with_suffix(".lock")), fcntl.LOCK_EX) in taken


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_data_directories_of_other_users_stay(place, killed):
    os.chown(killed[2], 12345, 12345)
    found = [leftover.path for leftover in cache_leftovers.find_in_cache([str(place / "disk")], [])]
    assert found == killed[:2]


def test_copies_of_a_removed_build_and_of_its_relinks_go_with_it(place, pruned):
    copies = place / "cache" / "install"
    gone, kept = (
        copies / json_record.read(Path(paths().build(SERVER, name), "identity.json"))["sha256"][:16]
        for name in ("pgo", "baseline")
    )
    relink = copies / ("ab" * 8)
    json_record.write(kept_relinks.identity_of(Path(paths().build(SERVER, "pgo")), 2), {"sha256": "ab" * 32})
    for copy in (gone, kept, relink):
        copy.mkdir(parents=True)
    configure(builds={"pgo": {"lto": True}})
    assert str(gone) in pruned(force=True)
    assert (gone.exists(), kept.exists(), relink.exists()) == (False, True, False)


def test_configs_of_the_checkout_are_the_default():
    names = {path.relative_to(CHECKOUT).as_posix() for path in prune.default_configs()}
    assert "config.yaml" in names
    assert {f"studies/{path.name}" for path in (CHECKOUT / "studies").glob("*.yaml")} < names
