"""How a database product is recognised on disk: its server programs, and where it states its release."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    """Marks of one product, or of several.

    `programs` are the names of server programs. `answer` matches the release in the output of `--version`; its first
    group with text is the release. `release_files` are pairs of a file at the top of a source tree and a pattern whose
    matches are the parts of the release.
    """

    programs: tuple[str, ...]
    answer: str
    release_files: tuple[tuple[str, str], ...]

    def release_in(self, answer: str) -> str:
        """Return the release that a program's answer states, an empty text if it states none."""
        found = re.search(self.answer, answer)
        return next(filter(None, found.groups()), "") if found else ""


def any_of(products: Iterable[Product]) -> Product:
    """Return one product with the marks of all."""
    known = list(products)
    programs = dict.fromkeys(name for product in known for name in product.programs)
    files = dict.fromkeys(pair for product in known for pair in product.release_files)
    return Product(tuple(programs), "|".join(dict.fromkeys(product.answer for product in known)), tuple(files))
