"""The recorded outputs of sysbench (tests/data/README.md)."""

from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "sysbench"
FINISHED = [
    "1.0.20-mariadb-oltp_read_only",
    "1.0.20-mariadb-oltp_read_write",
    "1.0.20-postgresql-oltp_read_only",
    "1.0.20-postgresql-oltp_read_write",
]


def recorded(name: str) -> str:
    """Return the text of one recorded output."""
    return (DATA / f"{name}.txt").read_text()
