"""Which files of a tree a compiler or its build tool left there, and which stand for a content that is elsewhere.

A tree that was compiled in place is not compiled again where `make` finds its objects; names of records of a build
decide, and for objects the first bytes, since tests of compilers and servers have text files of such names.
"""

import os
import re
from collections.abc import Collection, Iterable

RECORDS = {"config.status", "CMakeCache.txt", "cmake_install.cmake", ".ninja_log", ".ninja_deps"}
RECORDS_FOLDER = "CMakeFiles"
OBJECT = re.compile(r"\.(o|lo|a|la|obj|gcda|gcno|gch|pch|bc|so(\.\d+)*)$")
# ELF, archives of objects, LLVM's bitcode, gcc's counters and notes in both byte orders, precompiled headers
OBJECT_STARTS = (
    *(b"\x7fELF", b"!<arch>\n", b"!<thin>\n", b"BC\xc0\xde"),
    *(b"adcg", b"gcda", b"oncg", b"gcno", b"gpch", b"CPCH"),
)
LIBTOOL = re.compile(rb"# \S+ - a libtool (object|library) file")
# The start of a file that Git LFS or git-crypt keeps elsewhere or encrypted.
FILTERED = {
    b"version https://git-lfs.github.com/spec/": "a pointer of Git LFS",
    b"\0GITCRYPT\0": "encrypted by git-crypt",
}
START_BYTES = 300


def first_built(top: str, names: Iterable[str], executables: Collection[str]) -> str | None:
    """Return the first of the files `names` below `top`, in order of names, that a build made; None without one."""
    return next((name for name in sorted(names) if _is_built(top, name, name in executables)), None)


def _is_built(top: str, name: str, executable: bool) -> bool:
    *folders, last = name.split("/")
    if last in RECORDS or RECORDS_FOLDER in folders:
        return True
    suspect = OBJECT.search(last) or (executable and "." not in last)
    if not suspect:
        return False
    start = _start(top, name)
    return start.startswith(OBJECT_STARTS) or bool(LIBTOOL.match(start))


def first_filtered(top: str, names: Iterable[str]) -> str | None:
    """Return what the first of the files `names` below `top` is whose content only a filter of git brings, or None."""
    for name in sorted(names):
        start = _start(top, name)
        if kind := next((kind for mark, kind in FILTERED.items() if start.startswith(mark)), None):
            return f"{name} is {kind}, and the workflow runs no filter of git's"
    return None


def _start(top: str, name: str) -> bytes:
    with open(os.path.join(top, name), "rb") as stream:  # noqa: PTH118, PTH123
        return stream.read(START_BYTES)
