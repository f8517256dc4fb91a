"""Which packages of the distribution a study needs beside the usual ones."""

import subprocess
import sys

import pytest
import yaml

from scripts.commands.study_packages import packages
from scripts.study.config.loading import load
from tests.made.studies import CHECKOUT, config


def needed(manager="apt", **changes):
    return packages(load(config(**changes), CHECKOUT, "small.yaml"), manager)


def variants(*builds, server="postgresql-15"):
    return {"variants": {f"v{number}": {"server": server, "build": name} for number, name in enumerate(builds)}}


def test_gcc_12_is_among_the_usual_ones():
    assert needed() == []


def test_packages_of_toolchains_and_bolt_come_once_each():
    builds = {"builds": {"clang": {"toolchain": "clang-16", "profile": "mixed"}}}
    study = {**variants("clang", "pgo_lto_bolt", "pgo_bolt"), **builds, "reference": "v0"}
    assert needed(**study) == ["clang-16", "llvm-16", "lld-16", "libclang-rt-16-dev", "bolt-16"]


def test_server_from_maven_needs_maven():
    binary = {"family": "mariadb", "product": "X", "version": "1.0", "sources": [{"maven": "g:a:zip:c:1"}]}
    assert needed(**variants("prebuilt", server="mine"), servers={"mine": binary}, reference="v0") == ["maven"]


@pytest.mark.parametrize(
    ("server", "package"), [("mariadb-installed", "mariadb-server-core"), ("postgresql-installed", "postgresql-15")]
)
def test_servers_of_this_machine_are_packages_of_the_distribution(server, package):
    assert needed(**variants("prebuilt", server=server), reference="v0") == [package]


def test_looking_into_system_calls_needs_strace():
    assert needed(diagnose={}) == ["strace"]
    assert needed(diagnose={"tools": ["perf", "waits"]}) == []


def test_called_by_hand_it_prints_one_a_line(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(config(**variants("pgo_bolt"), reference="v0")))
    command = [sys.executable, "-m", "scripts.commands.study_packages", str(file), "--manager", "apt"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout == "bolt-16\n"


def test_mistake_in_the_config_is_told(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(config(reference="basline")))
    command = [sys.executable, "-m", "scripts.commands.study_packages", str(file), "--manager", "apt"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "did you mean 'baseline'" in done.stderr
