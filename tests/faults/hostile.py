"""Texts that somebody may put where a text is expected; where one could be executed, it would make the canary."""

from typing import Any

CANARY = "CANARY"
# The end of a path that leads to a mapping's key itself.
KEY = object()
TEXTS = {
    "substitution": "$(touch CANARY)",
    "backquotes": "`touch CANARY`",
    "separator": "; touch CANARY #",
    "pipe": "| touch CANARY",
    "background": "& touch CANARY &",
    "redirection": "> CANARY < /etc/passwd",
    "quotes": "'\"; touch CANARY; \"'",
    "newline": "a\ntouch CANARY\n",
    "carriage return": "a\rb",
    "nul": "a\0b",
    "escape": "\x1b[31m\x9b2J\x07",
    "backslash": "\\",
    "wildcard": "{wildcards.server} {input} {{x}} {0} {}",
    "format": "%s %n %(x)s %% %",
    "template": "{{7*7}} {% for x in y %} ${7*7}",
    "glob": "* ? [a-z] ~ !!",
    "variable": "$HOME ${PATH} $$ $(shell touch CANARY)",
    "option": "-oProxyCommand=touch CANARY",
    "path": "../../../../CANARY",
    "absolute path": "/etc/passwd",
    "markup": "</script><img src=x onerror=alert(1)>&amp;<b id=odd>",
    "mathematics": "$\\frac{1}{$^_",
    "sql": "'; DROP TABLE sbtest1; --",
    "lua": "]] os.execute('touch CANARY') --[[",
    "yaml": "!!python/object/apply:os.system ['touch CANARY']",
    "letters": "ж 漢字 🐘 é \u0301 ß İ",
    "direction": "\u202egnp.exe\u2066",
    "line separator": "a\u2028b\u2029c",
    "next line": "a\u0085b",
    "zero width": "a\u200d\u200bb\ufeff",
    "number": "1e999",
    "empty": "",
    "blank": " ",
    "home of nobody": "~nosuchuser/CANARY",
    "long name": "/" + "x" * 300,
    "long": "x" * 100_000,
}


def leaves(value: Any, path: tuple = ()) -> list[tuple]:
    """Return the paths of all texts in a value; that of a mapping's key ends with KEY."""
    if isinstance(value, dict):
        keys = [(*path, key, KEY) for key in value]
        return keys + [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [leaf for place, inner in enumerate(value) for leaf in leaves(inner, (*path, place))]
    return [path] if isinstance(value, str) else []


def planted(value: Any, path: tuple, text: Any) -> Any:
    """Return a value with another text, or anything else, at one path."""
    if not path:
        return text
    head, *rest = path
    if isinstance(value, list):
        return [planted(inner, tuple(rest), text) if place == head else inner for place, inner in enumerate(value)]
    if rest == [KEY]:
        return {text if key == head else key: inner for key, inner in value.items()}
    return {key: planted(inner, tuple(rest), text) if key == head else inner for key, inner in value.items()}
