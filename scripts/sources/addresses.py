"""Addresses with a login on their way from the config to the job that fetches: through one variable, in nothing else.

The rule's arguments, which Snakemake prints and records, hold the addresses without logins.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.host.address import Address

VARIABLE = "SOURCE_ADDRESSES"
# Keys of a source whose text is an address.
KEYS = ("url", "git")

Source = dict[str, Any]


def addresses(source: Source) -> Iterator[Address]:
    """Yield the addresses of one source."""
    for key in KEYS:
        declared = source.get(key, [])
        yield from map(Address, [declared] if isinstance(declared, str) else declared)


def without_logins(source: Source) -> Source:
    """Return a source with its addresses as they may be shown and recorded."""
    found = {key: source[key] for key in KEYS if key in source}
    texts = {
        key: str(Address(one)) if isinstance(one, str) else [str(Address(each)) for each in one]
        for key, one in found.items()
    }
    return {**source, **texts}


def job_environment(servers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the variable that brings addresses with logins to jobs; empty where no server of a study has any."""
    with_login = {
        name: server["sources"]
        for name, server in servers.items()
        if any(address.is_secret for source in server["sources"] for address in addresses(source))
    }
    return {VARIABLE: json.dumps(with_login)} if with_login else {}


def with_logins(server: str, sources: list[Source]) -> list[Source]:
    """Return the sources of a server with the logins that the job's environment holds, as given where it holds none."""
    return json.loads(os.environ.get(VARIABLE, "{}")).get(server, sources)


def redacted(text: str, sources: list[Source]) -> str:
    """Return a text without the logins of these sources."""
    for source in sources:
        for address in addresses(source):
            text = address.redacted(text)
    return text
