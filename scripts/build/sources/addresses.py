"""Addresses with a login on their way from the config to the job that fetches, which reads them from the workflow.

The rule's arguments, which Snakemake prints and records, hold the addresses without logins.
"""

import json
import os
from collections.abc import Iterator, Mapping

from scripts.build.sources.declared import DeclaredServer, DeclaredSource
from scripts.lib.host import handed
from scripts.lib.host.address import Address

VARIABLE = "SOURCE_ADDRESSES"


def addresses(source: DeclaredSource) -> Iterator[Address]:
    """Yield the addresses of one source."""
    urls = source.get("url", [])
    yield from map(Address, [urls] if isinstance(urls, str) else urls)
    if "git" in source:
        yield Address(source["git"])


def without_logins(source: DeclaredSource) -> DeclaredSource:
    """Return a source with its addresses as they may be shown and recorded."""
    shown = source.copy()
    if "url" in source:
        urls = source["url"]
        shown["url"] = str(Address(urls)) if isinstance(urls, str) else [str(Address(url)) for url in urls]
    if "git" in source:
        shown["git"] = str(Address(source["git"]))
    return shown


def job_environment(servers: Mapping[str, DeclaredServer]) -> dict[str, str]:
    """Return the variable by which jobs find addresses with logins; empty where no server of a study has any."""
    with_login = {
        name: server["sources"]
        for name, server in servers.items()
        if any(address.is_secret for source in server["sources"] for address in addresses(source))
    }
    return {VARIABLE: handed.hand("addresses", json.dumps(with_login))} if with_login else {}


def with_logins(server: str, sources: list[DeclaredSource]) -> list[DeclaredSource]:
    """Return the sources of a server with the logins that the workflow keeps, as given where it keeps none.

    Raises ValueError if the workflow that keeps them cannot be asked.
    """
    if not (memory := os.environ.get(VARIABLE)):
        return sources
    try:
        by_server: dict[str, list[DeclaredSource]] = json.loads(handed.take(memory))
    except OSError as error:
        text = f"sources of {server}: the process that keeps the login cannot be asked ({memory}: {error.strerror})"
        raise ValueError(text) from error
    return by_server.get(server, sources)


def redacted(text: str, sources: list[DeclaredSource]) -> str:
    """Return a text without the logins of these sources."""
    for source in sources:
        for address in addresses(source):
            text = address.redacted(text)
    return text
