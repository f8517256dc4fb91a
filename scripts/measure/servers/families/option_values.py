"""Values of server options that reach out of a data directory: kinds of options by what the server does with a value.

A value is judged by what it names. So an option that is in no list, of a newer release or of a plugin, is checked too.
"""

import re
from collections.abc import Collection
from enum import Enum, auto

# A study names libraries without their suffix or with it.
LIBRARY_SUFFIX = ".so"
LIBRARY_NAME = re.compile(r"(?:\$libdir/(?:plugins/)?)?([\w.+-]+)")
LIBRARY_FOLDERS = frozenset({"$libdir", "$system"})
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
BETWEEN_PATHS = re.compile(r"[\s;:,='\"]+")
BETWEEN_NAMES = re.compile(r"[\s;,]+")
NOTHING = frozenset({"", "0", "off", "no", "false"})


class OptionKind(Enum):
    """What a server does with the value of an option."""

    # It takes names in its data directory, or text without any path; the kind of every option that has no other.
    LOCAL = auto()
    # It neither opens nor runs the text.
    TEXT = auto()
    # It only reads the file or folder.
    INPUT = auto()
    COMMAND = auto()
    LIBRARY = auto()
    # It looks for libraries there.
    LIBRARY_FOLDER = auto()
    # It connects to another host, or listens on the network.
    CONNECTION = auto()


# The kinds whose options may have any value.
HARMLESS = frozenset({OptionKind.TEXT, OptionKind.INPUT})
# Options of servers that nobody has listed.
KINDS_BY_NAME = {
    **dict.fromkeys(("*_command", "*.command", "*_cmd", "*.on_*init"), OptionKind.COMMAND),
    **dict.fromkeys(("*_library", "*_libraries"), OptionKind.LIBRARY),
    **dict.fromkeys(("*conninfo", "*_url"), OptionKind.CONNECTION),
}


def refusal(kind: OptionKind, text: str, libraries: Collection[str] | None) -> str:
    """Return why a value is refused and what was expected, an empty text for a value that is taken.

    `text` is the value as the server reads it; `libraries` are the names in the server's installation, None if they are
    unknown yet.
    """
    if CONTROL.search(text):
        return "has a control character, expected one line of text"
    match kind:
        case OptionKind.TEXT | OptionKind.INPUT:
            return ""
        case OptionKind.COMMAND if text.strip():
            return "is run as a command, expected an empty text: a server of a study runs no other program"
        case OptionKind.CONNECTION if text.strip().lower() not in NOTHING:
            return "opens a connection, expected an empty text or off: a server of a study asks no other host"
        case OptionKind.LIBRARY:
            return _wrong_library(text, libraries)
        case OptionKind.LIBRARY_FOLDER:
            wrong = [part for part in BETWEEN_PATHS.split(text) if part and part not in LIBRARY_FOLDERS]
            return f"names {wrong[0]!r}, expected $libdir: {OWN_LIBRARIES}" if wrong else ""
        # MySQL's line takes ~ for the folder of a user.
        case OptionKind.LOCAL if wrong := [
            part for part in BETWEEN_PATHS.split(text) if part.startswith(("/", "~")) or ".." in part.split("/")
        ]:
            inside = "expected a name or a relative path without `..`: the server writes into its data directory only"
            return f"names {wrong[0]!r} outside of the data directory, {inside}, whose place comes from `storage`"
    return ""


OWN_LIBRARIES = "a server loads the libraries of its own installation only"


def library_names(text: str) -> dict[str, str]:
    """Return part of a list of libraries -> the library's name without its suffix, empty for one with a path."""
    named = {part: LIBRARY_NAME.fullmatch(part) for part in BETWEEN_NAMES.split(text) if part}
    return {part: match[1].removesuffix(LIBRARY_SUFFIX) if match else "" for part, match in named.items()}


def _wrong_library(text: str, libraries: Collection[str] | None) -> str:
    for part, name in library_names(text).items():
        if not name:
            return f"names {part!r}, expected the name of a library without a path: {OWN_LIBRARIES}"
        if libraries is not None and name not in libraries:
            return f"names {name!r}, which its installation does not hold: {OWN_LIBRARIES}"
    return ""
