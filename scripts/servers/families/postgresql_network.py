"""How a PostgreSQL server is reached by a load generator on another host."""

import base64
import hashlib
import hmac
import secrets
import time
from pathlib import Path
from typing import Any

import pg8000.dbapi

DATABASE = "sbtest"
USER = "pgobench"
PASSWORD_OPTION = "pgsql-password"
PORT = 5432
ITERATIONS = 4096
READ_WITHIN_S = 30


def options(address: str, port: int) -> dict[str, Any]:
    """Return the server options that make it listen on one address."""
    return {"listen_addresses": address, "port": port}


def port_of(sockets: Path) -> int:
    """Return the number in the socket's name, which is that of the network's port; ours while there is no socket."""
    found = [int(path.suffix[1:]) for path in sockets.glob(".s.PGSQL.*") if path.suffix[1:].isdecimal()]
    return found[0] if found else PORT


def admit(connection: pg8000.dbapi.Connection, password: str) -> None:
    """Make the role of the load generator, which owns nothing, and let it in by its password, of which a hash is told.

    Raises TimeoutError when the server has not read its rules again after 30 s.
    """
    cursor = connection.cursor()
    cursor.execute(f"CREATE ROLE {USER} LOGIN PASSWORD '{verifier(password)}'")
    cursor.execute(f"GRANT ALL ON DATABASE {DATABASE} TO {USER}")
    cursor.execute(f"GRANT ALL ON SCHEMA public TO {USER}")
    for kind in ("TABLES", "SEQUENCES"):
        cursor.execute(f"GRANT ALL ON ALL {kind} IN SCHEMA public TO {USER}")
    with Path(_value(cursor, "SHOW hba_file")).open("a", encoding="utf-8") as rules:
        rules.write(f"host {DATABASE} {USER} all scram-sha-256\n")
    before, deadline_s = _value(cursor, "SELECT pg_conf_load_time()"), time.monotonic() + READ_WITHIN_S
    cursor.execute("SELECT pg_reload_conf()")
    while _value(cursor, "SELECT pg_conf_load_time()") == before:
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"the server has not read pg_hba.conf again within {READ_WITHIN_S} s")
        time.sleep(0.02)


def verifier(password: str) -> str:
    """Return what PostgreSQL keeps of a password (RFC 5803, with the keys of RFC 5802)."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    client, server = (hmac.digest(salted, name, "sha256") for name in (b"Client Key", b"Server Key"))
    text = [base64.b64encode(part).decode() for part in (salt, hashlib.sha256(client).digest(), server)]
    return f"SCRAM-SHA-256${ITERATIONS}:{text[0]}${text[1]}:{text[2]}"


def sysbench_flags(address: str, port: int) -> list[str]:
    """Return sysbench's connection options, without the password."""
    place = [f"--pgsql-host={address}", f"--pgsql-port={port}"]
    return ["--db-driver=pgsql", *place, f"--pgsql-user={USER}", f"--pgsql-db={DATABASE}"]


def _value(cursor: pg8000.dbapi.Cursor, statement: str) -> Any:
    cursor.execute(statement)
    return cursor.fetchone()[0]
