"""How a server of MySQL's or MariaDB's is reached by a load generator on another host."""

import hashlib
from typing import Any

import pymysql

from scripts.servers.families import innodb

USER = "pgobench"
PASSWORD_OPTION = "mysql-password"
NATIVE = "mysql_native_password"


def options(address: str, port: int) -> dict[str, Any]:
    """Return the server options that make it listen on one address; without names, root is who comes by the socket."""
    return {"skip_networking": False, "bind_address": address, "port": port, "skip_name_resolve": True}


def admit(connection: pymysql.Connection, password: str) -> None:
    """Make the account of the load generator. The server is told the hash alone, wherever it takes one as it is."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        release = tuple(map(int, cursor.fetchone()[0].split(".")[:2]))
        cursor.execute("SELECT plugin_name FROM information_schema.plugins WHERE plugin_status = 'ACTIVE'")
        proof = _proof(password, release, native=(NATIVE,) in cursor.fetchall())
        cursor.execute(f"CREATE USER '{USER}'@'%' IDENTIFIED {proof}")
        cursor.execute(f"GRANT ALL PRIVILEGES ON {innodb.DATABASE}.* TO '{USER}'@'%'")


def _proof(password: str, release: tuple[int, ...], native: bool) -> str:
    """Return what stands behind IDENTIFIED; a plugin's hash is not looked at before 5.7 (tried with 5.6.14)."""
    if not native:
        return f"BY '{password}'"
    return f"BY PASSWORD '{hashed(password)}'" if release < (5, 7) else f"WITH {NATIVE} AS '{hashed(password)}'"


def hashed(password: str) -> str:
    """Return what mysql_native_password keeps of a password: SHA-1 twice (manual of 8.0, chapter 6.4.1.1)."""
    return "*" + hashlib.sha1(hashlib.sha1(password.encode()).digest()).hexdigest().upper()


def sysbench_flags(address: str, port: int) -> list[str]:
    """Return sysbench's connection options, without the password."""
    place = [f"--mysql-host={address}", f"--mysql-port={port}"]
    return [f"--db-driver={innodb.DRIVER}", *place, f"--mysql-user={USER}", f"--mysql-db={innodb.DATABASE}"]
