"""The families of database products that a study can name; `FAMILIES` is the list of them."""

from scripts.build.sources.installed import Product, any_of
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.families.mariadb import MariaDB
from scripts.measure.servers.families.mysql import MySQL
from scripts.measure.servers.families.postgresql import PostgreSQL

__all__ = ["FAMILIES", "Family", "names", "of", "products"]
FAMILIES: dict[str, Family] = {family.NAME: family for family in (MariaDB(), MySQL(), PostgreSQL())}


def of(name: str) -> Family:
    """Return a family. Raises ValueError naming the unknown name and the known ones."""
    if name not in FAMILIES:
        raise ValueError(f"family: {name!r} is unknown, expected one of {', '.join(names())}")
    return FAMILIES[name]


def names() -> list[str]:
    """Return the names of all families, sorted."""
    return sorted(FAMILIES)


def products() -> Product:
    """Return how a server of any family is recognised on disk."""
    return any_of(FAMILIES[name].PRODUCT for name in names())
