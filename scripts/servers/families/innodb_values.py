"""Whether MySQL and MariaDB run with the value an option was given, by what SHOW GLOBAL VARIABLES says of it."""

import re
from typing import Any

import pymysql

from scripts.servers.families import innodb

ON, OFF = frozenset({"on", "1", "yes", "true"}), frozenset({"off", "0", "no", "false"})
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)([kmgtpe]?)")
POWERS = " kmgtpe"
# Options whose variable has another name, in the releases that lack the first.
VARIABLES = {"transaction_isolation": "tx_isolation", "transaction_read_only": "tx_read_only"}
OLD_UTF8 = re.compile(r"^utf8(?=_|$)")


def settings(connection: pymysql.Connection) -> dict[str, str]:
    """Return every global variable as the server has it."""
    return innodb.variables(connection)


def taken(name: str, value: Any, settings: dict[str, str]) -> bool | None:
    """Tell whether the server has the value; None where there is nothing to read back, or nothing to compare."""
    wanted, plain = _text(value), name.removeprefix("loose_")
    if plain not in settings and plain in VARIABLES:
        plain = VARIABLES[plain]
    if plain not in settings and plain.startswith("skip_"):
        plain, wanted = plain.removeprefix("skip_"), "off" if wanted in ON else "on"
    if plain not in settings:
        return None
    found = settings[plain].strip().lower()
    # The option names the log's files, the variable tells whether there is one.
    return found == "on" if plain == "log_bin" and wanted not in OFF else _same(wanted, found)


def _text(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value).strip().lower()


def _same(wanted: str, found: str) -> bool | None:
    if wanted in ON | OFF and found in ON | OFF:
        return (wanted in ON) == (found in ON)
    numbers = [_number(text) for text in (wanted, found)]
    if None not in numbers:
        return numbers[0] == numbers[1] or (None if numbers[0] == -1 else False)  # -1: the server chooses
    if numbers[0] is not None:
        return None  # the number of a value that is shown by its name
    # Of a list of flags, or of modes that stand for several, only some need be given.
    return set(_words(wanted)) <= set(_words(found))


def _number(text: str) -> float | None:
    if not (found := NUMBER.fullmatch(text)):
        return None
    return float(found[1]) * 1024.0 ** POWERS.index(found[2] or " ")


def _words(text: str) -> list[str]:
    return [OLD_UTF8.sub("utf8mb3", word.strip().strip("\"'")) for word in text.split(",")]
