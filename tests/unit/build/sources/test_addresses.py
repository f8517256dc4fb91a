"""Sources are recorded without logins, and the job that fetches gets them from the workflow."""

import os

import pytest

from scripts.build.sources import addresses

SECRET = {"git": "https://user:t0ken@host.example/x.git", "commit": "1" * 40}
MIRRORS = {"url": ["https://host.example/x.tar?key=t0ken", "https://host.example/y.tar"], "sha256": "1" * 64}
PLAIN = {"url": "https://host.example/x.tar", "sha256": "1" * 64}


def test_sources_without_logins_keep_everything_else():
    assert addresses.without_logins(SECRET) == {**SECRET, "git": "https://***@host.example/x.git"}
    shown = ["https://host.example/x.tar?***", "https://host.example/y.tar"]
    assert addresses.without_logins(MIRRORS) == {**MIRRORS, "url": shown}
    for source in (PLAIN, {"file": "/srv/a:b@c.d/x?y"}, {"debian": "postgresql-15"}):
        assert addresses.without_logins(source) == source


def test_job_gets_the_addresses_of_its_server(monkeypatch):
    servers = {"a": {"sources": [SECRET]}, "b": {"sources": [PLAIN]}, "c": {"sources": [MIRRORS]}}
    (variable, path), *more = addresses.job_environment(servers).items()
    assert more == []
    assert "t0ken" not in variable + path
    monkeypatch.setenv(variable, path)
    for server, sources in (("a", [SECRET]), ("b", [PLAIN]), ("c", [MIRRORS])):
        given = [addresses.without_logins(source) for source in sources]
        assert addresses.with_logins(server, given) == sources


def test_study_without_logins_sets_nothing():
    assert addresses.job_environment({"b": {"sources": [PLAIN]}}) == {}


def test_workflow_that_is_gone_is_told(monkeypatch):
    monkeypatch.setenv(addresses.VARIABLE, f"/proc/{os.getpid()}/fd/9999")
    with pytest.raises(ValueError, match=r"sources of a: the process that keeps the login cannot be asked"):
        addresses.with_logins("a", [])
