"""Why a file gives no run: the text stands on the terminal and on the page."""

import lzma
import tarfile
import zipfile
import zlib

from scripts.lib.wording import brief

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
