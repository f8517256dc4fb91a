"""Read from the text of a Lua script which options it declares, without running it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_TOKEN = re.compile(
    r"(?P<skipped>\s+|--\[(?P<c>=*)\[.*?\](?P=c)\]|--[^\n]*)"
    r"|(?P<long>\[(?P<s>=*)\[.*?\](?P=s)\])"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\.\.\.?|[=~<>]=|.)",
    re.DOTALL,
)
OPENING, CLOSING = {"(", "{", "["}, {")", "}", "]"}
DEEPER, BACK = {"function", "do", "if", "repeat"}, {"end", "until"}
# What may run or reach text that is not seen here.
OPAQUE = {"dofile", "loadfile", "loadstring", "load", "package", "getfenv", "setfenv", "_G", "debug"}
# Modules of LuaJIT's own, which know nothing of sysbench.
BUILT_IN = {"ffi", "bit", "jit", "math", "string", "table", "os", "io", "coroutine"}
HARMLESS = {"command", "commands", "script_path", "PARALLEL_COMMAND"}
ARITHMETIC = ("+", "-", "*", "/", "%", "^", "(", ")")
NUMBER, TEXT, SWITCH, LIST = "=N", "=STRING", "[=on|off]", "[=LIST,...]"
# Form of a value in sysbench's help by the constant that may stand behind an option's default value.
FORMS = {
    "ARG_INT": NUMBER, "ARG_DOUBLE": NUMBER, "ARG_BOOL": SWITCH, "ARG_STRING": TEXT, "ARG_LIST": LIST,
    "ARG_SIZE": "=SIZE", "ARG_FILE": "=FILENAME",
}  # fmt: skip


class Untold(Exception):
    """The text does not tell which options the script has."""


@dataclass(frozen=True)
class Token:
    """A piece of Lua: its kind (text, number, name, sign), and its text without quotes."""

    kind: str
    text: str


def declared(script: Path, folders: Sequence[Path]) -> dict[str, str] | None:
    """Return name (underscored) -> form of the value per option that a script and its modules declare in plain tables.

    Modules are searched for in `folders`. None when only running the script would tell. Raises OSError when the script
    cannot be read.
    """
    reading = _Reading(folders)
    try:
        reading.read(script)
    except Untold:
        return None
    return {name.replace("-", "_"): form for name, form in sorted(reading.options.items())}


def tokens(text: str) -> list[Token]:
    """Return the pieces of a Lua text without comments and white space."""
    body = re.sub(r"\A#[^\n]*", "", text)
    return [_token(match) for match in _TOKEN.finditer(body) if match.lastgroup and not match["skipped"]]


def _token(match: re.Match[str]) -> Token:
    if match["long"]:
        return Token("text", match["long"].split("[", 2)[2].rsplit("]", 2)[0])
    kind = next(name for name in ("text", "number", "name", "sign") if match[name] is not None)
    return Token(kind, match[kind][1:-1] if kind == "text" else match[kind])


@dataclass
class _Reading:
    """What is known of a script after its text up to here."""

    folders: Sequence[Path]
    options: dict[str, str] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)

    def read(self, file: Path) -> None:
        """Follow the statements of a file. Raises Untold."""
        pieces = tokens(file.read_text(encoding="utf-8", errors="replace"))
        depth = position = 0
        while position < len(pieces):
            token, is_field = pieces[position], position > 0 and pieces[position - 1].text in (".", ":")
            depth += (token.text in DEEPER) - (token.text in BACK) if token.kind == "name" else 0
            depth += (token.text in OPENING) - (token.text in CLOSING) if token.kind == "sign" else 0
            position = self._follow(pieces, position, depth) if not is_field else position + 1

    def _follow(self, pieces: list[Token], position: int, depth: int) -> int:
        """Follow the statement that begins with a token; return the position behind what was read."""
        token, after = pieces[position], [piece.text for piece in pieces[position + 1 : position + 5]]
        if token.kind == "text":
            _demand(token.text not in ("cmdline", "options"))
        if token.kind != "name":
            return position + 1
        _demand(token.text not in OPAQUE)
        if token.text == "require":
            return self._require(pieces, position + 1, depth)
        if token.text != "sysbench":
            return position + 1
        _demand(after[:1] == ["."])
        if after[1:2] != ["cmdline"]:
            return position + 3
        _demand(after[2:3] == ["."] and len(after) == 4)
        if after[3] != "options":
            _demand(after[3] in HARMLESS or after[3].startswith("ARG_"))
            return position + 5
        _demand(depth == 0)
        return self._assign(pieces, position + 5)

    def _require(self, pieces: list[Token], position: int, depth: int) -> int:
        """Follow the module that is named at a position, or behind a bracket there; return the position."""
        named = position + (pieces[position : position + 1] == [Token("sign", "(")])
        _demand(named < len(pieces) and pieces[named].kind == "text")
        name = pieces[named].text
        if name in self.modules | BUILT_IN or name.startswith("sysbench."):
            return position
        files = (folder / f"{name.replace('.', '/')}.lua" for folder in self.folders)
        module = next((file for file in files if file.is_file()), None)
        if module is None:
            raise Untold
        self.modules.add(name)
        before = dict(self.options)
        self.read(module)
        # A module that a function requires is read when that runs, or never.
        _demand(depth == 0 or self.options == before)
        return position

    def _assign(self, pieces: list[Token], position: int) -> int:
        """Take `= {...}`, `.name = {...}` or `["name"] = {...}` behind `sysbench.cmdline.options`."""
        sign = _text(pieces, position)
        if sign == "=":
            fields, behind = _table(pieces, position + 1)
            self.options = {name: _form(value) for name, value in map(_named, fields)}
            return behind
        _demand(sign in (".", "["))
        name, equals = _text(pieces, position + 1), position + (2 if sign == "." else 3)
        _demand(_text(pieces, equals) == "=")
        _demand(pieces[position + 1].kind == ("name" if sign == "." else "text"))
        fields, behind = _table(pieces, equals + 1)
        self.options[name] = _form(fields)
        return behind


def _demand(holds: bool) -> None:
    if not holds:
        raise Untold


def _text(pieces: Sequence[Token], position: int) -> str:
    return pieces[position].text if position < len(pieces) else ""


def _table(pieces: Sequence[Token], position: int) -> tuple[list[list[Token]], int]:
    """Return the fields of the table constructor that begins at a position, and the position behind it."""
    _demand(pieces[position : position + 1] == [Token("sign", "{")])
    fields: list[list[Token]] = [[]]
    depth = 0
    for behind, token in enumerate(pieces[position:], start=position + 1):
        depth += token.kind == "sign" and (token.text in OPENING) - (token.text in CLOSING)
        if depth == 0:
            return [piece for piece in fields if piece], behind
        if depth == 1 and token in (Token("sign", ","), Token("sign", ";")):
            fields.append([])
        elif behind > position + 1:
            fields[-1].append(token)
    raise Untold


def _named(tokens_of_field: list[Token]) -> tuple[str, list[list[Token]]]:
    """Return the name of a field `name = {...}` or `["name"] = {...}`, and the fields of its table."""
    brackets = [_text(tokens_of_field, at) for at in (0, 2)] == ["[", "]"]
    _demand(len(tokens_of_field) > 3)
    name, equals = tokens_of_field[1 if brackets else 0], 3 if brackets else 1
    _demand(name.kind == ("text" if brackets else "name") and _text(tokens_of_field, equals) == "=")
    fields, behind = _table(tokens_of_field, equals + 1)
    _demand(behind == len(tokens_of_field))
    return name.text, fields


def _form(fields: list[list[Token]]) -> str:
    """Return the form of an option's value from {description, default value, type}."""
    _demand(bool(fields) and not any(Token("sign", "=") in piece for piece in fields))
    if len(fields) > 2 and (name := fields[2][-1].text) != "nil":
        _demand(name in FORMS)
        return FORMS[name]
    return _form_of_value(fields[1] if len(fields) > 1 else [])


def _form_of_value(value: list[Token]) -> str:
    if not value or value == [Token("name", "nil")]:
        return TEXT
    if value in ([Token("name", "true")], [Token("name", "false")]):
        return SWITCH
    if value[0] == Token("sign", "{"):
        return LIST
    if all(token.kind == "number" or (token.text in ARITHMETIC and token.kind == "sign") for token in value):
        return NUMBER
    _demand(all(token.kind == "text" or token == Token("sign", "..") for token in value))
    return TEXT
