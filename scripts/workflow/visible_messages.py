"""Let Snakemake show what a terminal would obey: its messages hold commands, errors and logs of failed jobs."""

from functools import wraps
from typing import Any

from scripts.lib.visible import visible
from scripts.workflow.snakemake_release import expect, expect_parameters


def make_visible(formatter: Any) -> None:
    """Change the class that formats Snakemake's messages; colours are added later.

    Raises OtherSnakemake if it formats them otherwise.
    """
    expect(formatter, "format")
    expect_parameters(formatter.format, "self", "record")
    write = formatter.format

    @wraps(write)
    def shown(self: Any, record: Any) -> Any:
        text = write(self, record)
        return visible(text) if isinstance(text, str) else text

    formatter.format = shown
