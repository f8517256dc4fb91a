"""The code that a script is made of: its module, all modules of ours behind it, and their templates, as one digest.

Snakemake does not follow imports; a cheap rule has this digest as a param, and runs again when it changes.
"""

import hashlib
import re
from functools import cache

from scripts import PACKAGE
from scripts.lib.json_record import file_sha256

FOLDER = PACKAGE
TEMPLATES = {"report.page.render": "report/page/templates"}
# Read by pattern: each start of Snakemake would take half a second longer to parse some 140 modules.
IMPORTS = re.compile(
    rf"^[ \t]*from {re.escape(PACKAGE.name)}((?:\.\w+)*) import (?:\(([^)]*)\)|([^\n]*))", re.MULTILINE
)
COMMENT, IMPORTED_NAME = re.compile(r"#[^\n]*"), re.compile(r"(?:^|,)\s*(\w+)")


def files_of(script: str) -> list[str]:
    """Return the files of `scripts.<script>` and all modules of ours behind it, relative to the package, sorted."""
    found: set[str] = set()
    wanted = [script]
    while wanted:
        if (module := wanted.pop()) not in found:
            found.add(module)
            wanted += imported(module)
            # Python runs the __init__ of a module's package, too.
            wanted += filter(None, [module.rpartition(".")[0]])
    folders = {folder for module, folder in TEMPLATES.items() if module in found}
    files = (file for folder in folders for file in (FOLDER / folder).rglob("*") if file.is_file())
    templates = [str(file.relative_to(FOLDER)) for file in files]
    return sorted([file_of(module) for module in found] + templates)


def digest_of(script: str) -> str:
    """Return the SHA-256 (hex) of the names and contents of these files."""
    whole = hashlib.sha256()
    for name in files_of(script):
        whole.update(f"{name}\0{file_sha256(FOLDER / name)}\0".encode())
    return whole.hexdigest()


def file_of(module: str) -> str:
    """Return a module's file relative to the package: a/b.py, or a/__init__.py of a package."""
    path = module.replace(".", "/")
    return f"{path}/__init__.py" if (FOLDER / path).is_dir() else f"{path}.py"


@cache
def imported(module: str) -> tuple[str, ...]:
    """Return the modules of ours that a module imports, as dotted names below the package."""
    found = []
    for folder, *names in IMPORTS.findall((FOLDER / file_of(module)).read_text(encoding="utf-8")):
        inner = folder.removeprefix(".")
        listed = IMPORTED_NAME.findall(COMMENT.sub("", "".join(names)))
        dotted = [f"{inner}.{name}".removeprefix(".") for name in listed]
        found += [name for name in dotted if _is_module(name)] + [inner] * bool(inner)
    return tuple(dict.fromkeys(found))


def _is_module(name: str) -> bool:
    path = FOLDER / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or path.is_dir()
