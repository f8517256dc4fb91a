"""Write the packages and layers of docs/architecture.md, from docstrings and the import contracts of pyproject.toml."""

import argparse
import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

from scripts import ROOT
from scripts.lib.json_record import write_text

PAGE = Path("docs", "architecture.md")
PREFIX = "scripts"


def contracts(root: Path, kind: str) -> list[dict[str, list[str]]]:
    """Return the import contracts of a kind, `layers` or `forbidden`, in the order of the file."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return [contract for contract in settings["tool"]["importlinter"]["contracts"] if contract["type"] == kind]


def summary(file: Path) -> str:
    """Return the first line of a module's docstring. Raises ValueError naming a module without one."""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    if not docstring:
        raise ValueError(f"{file}: no docstring, expected one that says what the package does")
    return docstring.splitlines()[0]


def parts(root: Path) -> Iterator[Path]:
    """Yield the folders of all packages, and the modules that have a layer of their own, from the top layer down."""
    order = {f"{contract['containers'][0]}.{name.strip()}": depth
             for contract in contracts(root, "layers") if "containers" in contract
             for depth, layer in enumerate(contract["layers"]) for name in layer.split(":")}  # fmt: skip

    def place(path: Path) -> tuple[tuple[int, str], ...]:
        names = path.relative_to(root).with_suffix("").parts
        dotted = [".".join(names[:end]) for end in range(2, len(names) + 1)]
        return tuple((order.get(name, len(order)), name) for name in dotted)

    folders = [file.parent for file in (root / PREFIX).glob("*/**/__init__.py")]
    modules = [file for name in order if (file := root / f"{name.replace('.', '/')}.py").is_file()]
    yield from sorted([*folders, *modules], key=place)


def packages(root: Path) -> str:
    """Return the table of packages."""
    lines = ["| package | what it does |", "|---|---|"]
    for path in parts(root):
        name = path.relative_to(root).as_posix()
        lines.append(f"| `{name}` | {summary(path if path.suffix else path / '__init__.py')} |")
    return "\n".join(lines)


def layers(root: Path) -> str:
    """Return the layers of all packages, the top one first, and what the other contracts forbid."""
    packages = next(contract["layers"] for contract in contracts(root, "layers") if "containers" not in contract)
    groups = next(
        contract["layers"] for contract in contracts(root, "layers") if contract.get("containers") == [PREFIX]
    )
    lines = [f"    {layer.replace(' : ', ', ')}" for layer in groups]
    inner = [f"    {layer.replace(f'{PREFIX}.', '').replace(' : ', ', ')}" for layer in packages]
    rules = [f"- {contract['name']}." for contract in contracts(root, "forbidden")]
    return "\n".join(["The groups:", "", *lines, "", "The packages inside them:", "", *inner, "", *rules])


def page(root: Path) -> str:
    """Return the page of a checkout with both parts between their marks. Raises ValueError without a mark."""
    text = (root / PAGE).read_text(encoding="utf-8")
    for name, content in {"packages": packages(root), "layers": layers(root)}.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"{PAGE}: expected one line {begin.strip()} and, below it, one line {end}")
        head, rest = text.split(begin)
        text = f"{head}{begin}{content}\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m scripts.commands.architecture_doc", description=__doc__).parse_args()
    write_text(ROOT / PAGE, page(ROOT))
