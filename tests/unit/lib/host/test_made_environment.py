"""Tests of the environment of commands: nothing of the user's but a short list, and every start of a process has it."""

import ast
import os
import re
from collections.abc import Iterator

import pytest

from scripts import PACKAGE
from scripts.lib.host.made_environment import OF_DOWNLOADS, PROXIES, download_variables, made_environment

STARTERS = {"Popen", "run", "call", "check_call", "check_output"}


@pytest.fixture
def shell(monkeypatch):
    """Return a function that makes this process's environment the given one."""

    def exported(**variables):
        for name in list(os.environ):
            monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return exported


def test_only_path_home_and_tmpdir_of_the_users_shell_are_in_it_in_the_c_locale(shell):
    kept = {"PATH": "/bin", "HOME": "/home/x", "TMPDIR": "/scratch"}
    shell(**kept, CFLAGS="-O0", LD_PRELOAD="x.so", MAKEFLAGS="-k", LC_ALL="de_DE.UTF-8", LANGUAGE="de", LANG="de_DE")
    assert made_environment() == {**kept, "LC_ALL": "C"}
    assert made_environment(LC_ALL="C.UTF-8", BUILD_CC="gcc") == {**kept, "LC_ALL": "C.UTF-8", "BUILD_CC": "gcc"}


def test_what_the_shell_lacks_is_left_out(shell):
    shell(PATH="/bin")
    assert made_environment() == {"PATH": "/bin", "LC_ALL": "C"}


def test_a_download_gets_proxies_certificates_and_logins_and_nothing_that_compiles(shell):
    shell(https_proxy="http://proxy:3128", SSH_AUTH_SOCK="/run/agent", CFLAGS="-O0", MYDB_PASSWORD="x")
    assert download_variables() == {"https_proxy": "http://proxy:3128", "SSH_AUTH_SOCK": "/run/agent"}
    assert not [name for name in OF_DOWNLOADS if name.startswith("LD_") or name.endswith("FLAGS")]


def calls_of(module: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call of a function of a module in the product: where it is, and the call."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name == module:
                    yield f"{file.relative_to(PACKAGE)}:{node.lineno}", node


def test_every_start_of_a_process_states_its_environment():
    """Without `env` a process inherits the user's shell: its flags, its language, its passwords."""
    starts = [(line, call) for line, call in calls_of("subprocess") if call.func.attr in STARTERS]
    assert len(starts) > 15
    assert not [line for line, call in starts if "env" not in {keyword.arg for keyword in call.keywords}]
    assert not [
        line for line, call in calls_of("os") if call.func.attr.startswith(("popen", "posix_spawn", "spawn", "system"))
    ]


def test_the_document_names_every_variable_of_downloads():
    text = (
        (PACKAGE.parent / "docs" / "environment.md")
        .read_text(encoding="utf-8")
        .partition("Downloads are no builds")[2]
        .partition("\n\n")[0]
    )
    named = set(re.findall(r"`(\w+)`", text))
    assert named | {name.upper() for name in PROXIES} == set(OF_DOWNLOADS)
