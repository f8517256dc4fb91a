"""The release of Snakemake that this package was written for, and the check of what it relies on."""

import inspect
from collections.abc import Callable

from snakemake import __version__

RELEASE = "9.27.1"


class OtherSnakemake(ValueError):
    """Snakemake lacks something that this workflow relies on; the text names it."""


def expect(owner: object, *names: str) -> None:
    """Raise OtherSnakemake if a class or an object lacks one of these attributes."""
    for name in names:
        if not hasattr(owner, name):
            kind = owner if inspect.isclass(owner) else type(owner)
            raise other_snakemake(f"class {kind.__qualname__} has no {name}")


def expect_parameters(function: Callable[..., object], *names: str) -> None:
    """Raise OtherSnakemake if a function's parameters are others than these."""
    if (names_here := tuple(inspect.signature(function).parameters)) != names:
        raise other_snakemake(f"{function.__qualname__} takes {', '.join(names_here)}, expected {', '.join(names)}")


def other_snakemake(what: str) -> OtherSnakemake:
    """Return the error for something that differs from RELEASE."""
    return OtherSnakemake(
        f"Snakemake {__version__}: {what}; this workflow was written for {RELEASE}, see scripts/workflow/__init__.py; "
        "`make setup` installs that release"
    )
