"""Users and passwords of servers that already run: read from a file or the environment, kept out of everything else.

Jobs learn where they are from environment variables, which the workflow sets and which hold no secret.
"""

import json
import os
import ssl
import stat
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from scripts.build.sources.declared import DeclaredServer, DeclaredSource
from scripts.build.sources.kinds import RUNNING
from scripts.lib.host import handed

PLACES_VARIABLE = "RUNNING_SERVERS"
HANDED_VARIABLE = "RUNNING_SERVERS_LOGINS"
KEYS = ("user", "password")
TEXT = "tag:yaml.org,2002:str"
UNFIT = ("Cc", "Cs")  # Unicode's categories of control characters and surrogates
# What sysbench 1.0 cuts a value in its --config-file at (tried with 1.0.20).
CUTS = (",", '"', "'")
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Login:
    """A user with its password."""

    user: str = field(repr=False)
    password: str = field(repr=False)


@dataclass(frozen=True)
class Access:
    """How a server that already runs is reached: its login, and the CA file that its certificate is checked with.

    `ca` is None for a connection without TLS, which a study has to ask for.
    """

    login: Login
    ca: Path | None


Places = Mapping[str, DeclaredSource]


def places(servers: Mapping[str, DeclaredServer]) -> Places:
    """Return the declarations of servers that already run, by server; `servers` are the entries of a study."""
    return {name: entry["sources"][0] for name, entry in servers.items() if RUNNING in entry["sources"][0]}


def job_environment(servers: Mapping[str, DeclaredServer]) -> dict[str, str]:
    """Return the environment variables by which jobs find logins; empty without servers that already run.

    Logins in this process's environment are taken out of it, so that no job inherits them, and into memory of this
    process, where a job that logs in reads them.
    """
    running = places(servers)
    logins = _taken_out(source["environment"] for source in running.values() if "environment" in source)
    return {**({PLACES_VARIABLE: json.dumps(running)} if running else {}), **logins}


def _taken_out(prefixes: Iterable[str]) -> dict[str, str]:
    names = [name for prefix in dict.fromkeys(prefixes) for name in _variables(prefix)]
    if not (logins := {name: os.environ.pop(name) for name in names if name in os.environ}):
        return {}
    return {HANDED_VARIABLE: handed.hand("logins", json.dumps(logins))}


def _variables(prefix: str) -> list[str]:
    return [f"{prefix}_{name.upper()}" for name in KEYS]


def access_of(server: str, declared: Places | None = None) -> Access:
    """Return how a server is reached, by what is `declared`, for a job in its environment.

    Raises ValueError naming the server and the file or variable at fault.
    """
    running: Places = json.loads(os.environ.get(PLACES_VARIABLE, "{}")) if declared is None else declared
    if (source := running.get(server)) is None:
        raise ValueError(f"{server}: its login is unknown; expected it in {PLACES_VARIABLE}, which the workflow sets")
    named = f"servers.{server}.sources"
    if "environment" in source:
        login = _of_environment(source["environment"], named)
    else:
        login = _of_file(Path(source["credentials"]).expanduser(), named)
    return Access(login, _ca(source, named) if source.get("tls", True) else None)


def _of_file(file: Path, named: str) -> Login:
    where = f"{named}: credentials: {file}"
    if not file.is_file():
        raise ValueError(f"{where}: no such file, expected one with `user` and `password`")
    if file.stat().st_mode & OTHERS:
        raise ValueError(f"{where}: others may read it, expected mode 0600 (chmod 600 {file})")
    return _checked(*_texts(file, where), where)


def _texts(file: Path, where: str) -> tuple[str, str]:
    """Return user and password as they are written: YAML's numbers, switches and nulls are texts here."""
    try:
        root = yaml.compose(file.read_text(encoding="utf-8"), yaml.BaseLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        root = None  # YAML's message would show the line, and with it the password
    written = root.value if isinstance(root, yaml.MappingNode) else []
    keys = [key.value for key, _ in written if _is_text(key)]
    for name in KEYS:
        if keys.count(name) > 1:
            raise ValueError(f"{where}: {name}: stands {keys.count(name)} times, expected it once")
    texts = {key.value: value.value for key, value in written if _is_text(key) and _is_text(value)}
    if len(keys) != len(written) or texts.keys() != set(KEYS):
        raise ValueError(f"{where}: expected two lines of YAML in UTF-8, `user: ...` and `password: ...`, without tags")
    return texts["user"], texts["password"]


def _is_text(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == TEXT


@cache
def _of_environment(prefix: str, named: str) -> Login:
    """Return the login that the workflow took out of its environment, or take it out of that of this process."""
    names, logins = _variables(prefix), _handed(named)
    user, password = (logins.get(name) or os.environ.pop(name, "") for name in names)
    if missing := [name for name, text in zip(names, (user, password), strict=True) if not text]:
        raise ValueError(f"{named}: environment: {' and '.join(missing)} not set, expected user and password in them")
    return _checked(user, password, f"{named}: environment: {prefix}")


def _handed(named: str) -> dict[str, str]:
    if not (memory := os.environ.get(HANDED_VARIABLE)):
        return {}
    try:
        logins: dict[str, str] = json.loads(handed.take(memory))
        return logins
    except OSError as error:
        text = f"{named}: the process that holds the login cannot be asked ({memory}: {error.strerror})"
        raise ValueError(f"{text}; expected the workflow on this machine, else use `credentials`, a file") from error


def _checked(user: str, password: str, where: str) -> Login:
    for name, value in zip(KEYS, (user, password), strict=True):
        if not value:
            raise ValueError(f"{where}: {name}: is empty, expected text")
        if any(unicodedata.category(letter) in UNFIT for letter in value):
            raise ValueError(f"{where}: {name}: has a control character or a lone surrogate, which no server takes")
        if value.startswith("#") or any(letter.isspace() or letter in CUTS for letter in value):
            raise ValueError(f"{where}: {name}: has a blank, a comma, a quote, or # first, which sysbench cannot read")
    return Login(user, password)


def _ca(source: DeclaredSource, named: str) -> Path:
    system = ssl.get_default_verify_paths()
    stated = source.get("ca") or system.cafile or system.openssl_cafile
    file = Path(stated).expanduser().absolute()
    if not file.is_file():
        raise ValueError(f"{named}: ca: {file}: no such file, expected the certificates of the server's authority")
    return file
