"""Whether PostgreSQL runs with the value an option was given, by what pg_settings says of it."""

import re
from typing import Any

import pg8000.dbapi

ON, OFF = frozenset({"on", "1", "yes", "true"}), frozenset({"off", "0", "no", "false"})
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)")
UNIT = re.compile(r"(\d*)([A-Za-z]+)")
# In bytes and in microseconds: https://www.postgresql.org/docs/15/config-setting.html, "Numeric with Unit".
SIZES = {"B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
TIMES = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
# initdb takes it in megabytes, without a unit.
IN_MEGABYTES = "wal_segment_size"


def settings(connection: pg8000.dbapi.Connection) -> dict[str, tuple[str, str | None]]:
    """Return name -> (setting, unit) of every setting, the name in small letters."""
    cursor = connection.cursor()
    cursor.execute("SELECT lower(name), setting, unit FROM pg_settings")
    return {name: (setting, unit) for name, setting, unit in cursor.fetchall()}


def taken(name: str, value: Any, settings: dict[str, tuple[str, str | None]]) -> bool | None:
    """Tell whether the server has the value; None where there is nothing to read back."""
    if name.lower() not in settings:
        return None
    found, unit = settings[name.lower()]
    wanted = {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value).strip()
    if wanted.lower() in ON | OFF and found in ("on", "off"):
        return (wanted.lower() in ON) == (found == "on")
    given = _number(f"{wanted}MB" if name == IN_MEGABYTES else wanted, unit)
    there = _number(found, unit)
    if given is None or there is None:
        return wanted.lower() == found.lower()
    return given == there or (None if wanted == "-1" else False)  # -1: the server chooses


def _number(text: str, unit: str | None) -> float | None:
    """Return a number in bytes or microseconds, in its own unit or that of the setting; None when it is no number."""
    if not (found := NUMBER.fullmatch(text)):
        return None
    count, own = UNIT.fullmatch(unit).groups() if unit else ("", "")
    scale = {**SIZES, **TIMES}.get(found[2] or own, None if found[2] else 1)
    if scale is None:
        return None
    return float(found[1]) * scale * (1 if found[2] else int(count or 1))
