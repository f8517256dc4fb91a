"""Refactor Python by machine: the same program with other local names, no comments and another form."""

import ast


def refactored(text: str) -> str:
    """Return a module with the local variables of its functions renamed, and a comment."""
    tree = ast.parse(text)
    for node in tree.body:
        functions = node.body if isinstance(node, ast.ClassDef) else [node]
        for function in functions:
            if isinstance(function, ast.FunctionDef):
                _rename(function, _locals(function))
    return f"# another comment\n{ast.unparse(tree)}\n"


def _locals(function: ast.FunctionDef) -> set[str]:
    """Return the names that are only ever plain variables of a function."""
    stored, others = set(), set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                stored.add(name)
            case ast.arg(arg=name) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                others.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                others.update(names)
            case ast.ClassDef() | ast.FunctionDef() | ast.ExceptHandler() | ast.alias() if getattr(node, "name", None):
                others.add(node.name)
    return stored - others


def _rename(function: ast.FunctionDef, names: set[str]) -> None:
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = f"{node.id}_renamed"
