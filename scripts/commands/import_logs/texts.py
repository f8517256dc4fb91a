"""The text of a log as sysbench wrote it, without what other hands added; or the reason why a file gives no text."""

import lzma
import re
import tarfile
import zipfile
import zlib
from dataclasses import dataclass

from scripts.lib.wording import brief

MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be"),
         (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))  # fmt: skip
CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_=>]")
MOST_NULLS = 0.3  # of a text with holes; wide letters have half or more
PREFIXED = re.compile(
    r"^(.+?)(?=sysbench v?\d+\.\d+\S*(?: \(using .+\)| +multi-threaded system \S+ \S+)$)", re.MULTILINE
)
PIECES = re.compile(r"[0-9]+|[^\W\d_]+|\s+|.", re.DOTALL)
DECIMAL_COMMA = re.compile(r"^ +(?:total time|time elapsed): +\d+,\d+s$", re.MULTILINE)
THOUSANDS = re.compile(
    r"^ +(?:transactions|queries|total|read|total number of events): +\d{1,3}(?:,\d{3})+\b", re.MULTILINE
)


# What a damaged or strange file can cause; the reason names it, and the other files are read.
TROUBLES = (
    ValueError, OSError, EOFError, ArithmeticError, LookupError, RuntimeError, NotImplementedError, zlib.error,
    lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile,
)  # fmt: skip

UNPACKING = (EOFError, zlib.error, lzma.LZMAError)


class NotRead(ValueError):
    """A file that is not the log of one run; the text gives the reason."""


def reason_of(error: BaseException) -> str:
    """Return the reason that an error gives, in one line."""
    if isinstance(error, UNPACKING) or (isinstance(error, OSError) and not error.strerror):
        return brief(f"it cannot be unpacked, truncated or damaged: {error}")
    return brief(error.strerror if isinstance(error, OSError) and error.strerror else str(error) or repr(error))


@dataclass(frozen=True)
class LogText:
    """A text as sysbench wrote it, and what stood before it: its first line, or the prefix of all lines."""

    text: str
    before: str


def log_text(content: bytes) -> LogText:
    """Return the text of a log, without blanks at the ends of its lines. Raises NotRead if it is empty or no text."""
    if not content.strip(b" \t\r\n\0"):
        raise NotRead("it is empty")
    text = CONTROL.sub("", _decoded(content)).replace("\r\n", "\n").replace("\r", "\n")
    text = "\n".join(map(str.rstrip, text.split("\n")))
    first = text.lstrip("\n").partition("\n")[0]
    if prefix := PREFIXED.search(text):
        text, first = _without_prefix(text, prefix[1]), prefix[1].strip()
    return LogText(_with_points(text), first)


def _decoded(content: bytes) -> str:
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, errors="replace")
    if b"\0" in content:
        nulls = [content[start::2].count(0) / max(len(content[start::2]), 1) for start in (0, 1)]
        if max(nulls) > MOST_NULLS and max(nulls) > 2 * min(nulls):
            content = content.decode("utf-16-le" if nulls[1] > nulls[0] else "utf-16-be", errors="replace").encode()
        if b"sysbench" not in content:
            raise NotRead("it is not text")
    return content.replace(b"\0", b"").decode("utf-8", errors="replace")


def _without_prefix(text: str, prefix: str) -> str:
    """Return the text without what stands before each line, such as a time, whatever its digits and letters."""
    like = "".join(map(_like, PIECES.findall(prefix.rstrip())))
    gap = prefix[len(prefix.rstrip()) :]
    return re.sub(rf"^{like}(?:{re.escape(gap)}|$)", "", text, flags=re.MULTILINE)


def _like(piece: str) -> str:
    if piece.isdigit():
        return "[0-9]+"
    return r"[^\W\d_]+" if piece.isalpha() else r"[^\S\n]+" if piece.isspace() else re.escape(piece)


def _with_points(text: str) -> str:
    """Return the text with points before the decimals, where sysbench or a later hand wrote commas."""
    if DECIMAL_COMMA.search(text):
        return re.sub(r"(?<=\d),(?=\d)", ".", text)
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text) if THOUSANDS.search(text) else text
