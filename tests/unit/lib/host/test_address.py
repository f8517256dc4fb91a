"""Addresses are shown without logins and tokens, and as they are where they have none."""

import pytest

from scripts.lib.host.address import Address, without_logins

SHOWN = {
    "https://user:t0ken@host.example/x.git": "https://***@host.example/x.git",
    "https://t0ken@host.example/x.git": "https://***@host.example/x.git",
    "https://user:t0%40ken@host.example:8443/x": "https://***@host.example:8443/x",
    "https://user:t0/k@en@host.example/x": "https://***@host.example/x",
    "http://:t0ken@host.example": "http://***@host.example",
    "ssh://git:t0ken@host.example/x": "ssh://***@host.example/x",
    "user:t0ken@host.example/x.git": "***@host.example/x.git",
    "https://host.example/x.tar.gz?access_token=t0ken": "https://host.example/x.tar.gz?***",
    "https://host.example/x.tar.gz?t0ken": "https://host.example/x.tar.gz?***",
    "https://host.example/x.tar.gz#token=t0ken": "https://host.example/x.tar.gz#***",
    "HTTPS://user:t0ken@host.example/x": "HTTPS://***@host.example/x",
    "git://user:t0ken@[::1]:9418/x": "git://***@[::1]:9418/x",
}
WITHOUT = (
    *("https://host.example/x.git", "https://host.example:8443/a@b/c.tar.gz", "http://[::1]:80/x", "/srv/git/a:b/c"),
    *("ssh://git@host.example/x.git", "git@host.example:group/x.git", "~/server", "{version}", "C++: a@b, why?so"),
)


@pytest.mark.parametrize("real", SHOWN)
def test_login_is_shown_nowhere(real):
    address, login = Address(real), SHOWN[real]
    assert {str(address), repr(address), f"{address}", without_logins(real)} == {login}
    assert address.is_secret
    assert address.real == real
    shown = address.redacted(f"fatal: unable to access '{real}': retried ({real}), t0ken t0/k@en t0%40ken t0@ken")
    assert login in shown
    secrets = [part for part in ("t0ken", "t0/k@en", "t0%40ken", "t0@ken") if part in real]
    assert not [secret for secret in secrets if secret in shown]


@pytest.mark.parametrize("real", WITHOUT)
def test_address_without_a_login_is_shown_as_it_is(real):
    assert str(Address(real)) == Address(real).redacted(real) == without_logins(real) == real
    assert not Address(real).is_secret
    assert "ssh://" in real or Address(real).basic_login is None


def test_login_of_a_url_becomes_a_header():
    assert Address("https://us%40er:pass@host.example:8443/x?y#z").basic_login == (
        "https://host.example:8443/x?y#z",
        "Basic dXNAZXI6cGFzcw==",
    )


def test_header_that_a_program_prints_is_hidden_too():
    address = Address("https://user:t0ken@host.example/x")
    assert address.redacted("> Authorization: Basic dXNlcjp0MGtlbg==") == "> Authorization: Basic ***"
