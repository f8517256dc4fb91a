"""Text from outside where it leaves us: on a terminal or a page, in JSON, in a cell of a table.

What a terminal obeys or a reader cannot see is written as an escape: control characters but tab and the end of a line,
marks of direction (bidi), separators of lines and paragraphs, and what no file in XML or UTF-8 can hold.
"""

import re

ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
LINE_END = re.compile("\r\n")
# What a spreadsheet takes for a formula, some after blanks or in full width; quotes before it are ours.
FORMULA = re.compile("'*[ \t\r\n]*[=+\\-@\t\r\n\uff0b\uff0d\uff1d\uff20]")
GUARDED = re.compile(f"'{FORMULA.pattern}")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def visible(text: str) -> str:
    """Return a text as it is shown: `\\x1b` or `\\u202e` in place of what nobody would see; lines stay lines."""
    return ODD.sub(_escaped, LINE_END.sub("\n", text)) if not text.isprintable() else text


def _escaped(odd: re.Match[str]) -> str:
    code = ord(odd[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def json_visible(document: str) -> str:
    """Return a JSON document with JSON's own escapes in place of what nobody would see: its values stay the same."""
    return ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", document) if not document.isprintable() else document


def csv_cell(text: str) -> str:
    """Return a text as a cell of a CSV file: with `'` before what a spreadsheet would take for a formula."""
    guarded = f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text
    return re.sub("[\ud800-\udfff]", _escaped, guarded)


def csv_text(cell: str) -> str:
    """Return the text of a cell that `csv_cell` wrote."""
    return cell[1:] if GUARDED.match(cell) else cell
