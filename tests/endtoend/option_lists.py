"""The options of a server whose values are text, with those of its plugins, as the server itself lists them."""

import re
import subprocess
from pathlib import Path

import yaml

from scripts.measure.servers.server import Server
from tests.workflow.running import CHECKOUT

# A name, and the form of its value: `=#` is a number, nothing is a switch.
OPTION = re.compile(r"^  (?:-\w, )?--([\w-]+)(\[?=[\w#]+\]?)?(?=\s|$)", re.MULTILINE)
# What follows the options: a table of the variables' values.
TABLE = "\nVariables (--variable-name=value)"


def listed(family: str) -> set[str]:
    """Return the names that tests/data has for a family."""
    kinds = yaml.safe_load((CHECKOUT / "tests" / "data" / "server_options.yaml").read_text(encoding="utf-8"))[family]
    return {name for names in kinds.values() for name in names.split()}


def of_help(program: Path, *arguments: str, plugins: Path | None = None) -> set[str]:
    """Return the names in the help of MySQL or MariaDB, with each plugin of a folder loaded in turn."""
    asked = [[]]
    if plugins:
        asked += [[f"--plugin-dir={plugins}", f"--plugin-load={file.name}"] for file in sorted(plugins.glob("*.so"))]
    names = set()
    for more in asked:
        command = [program, "--no-defaults", *arguments, *more, "--user=root", "--verbose", "--help"]
        text = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False).stdout
        forms = OPTION.findall(text.partition(TABLE)[0])
        names |= {name.replace("-", "_").lower() for name, form in forms if form and "#" not in form}
    return names


def of_settings(server: Server, libraries: set[str]) -> set[str]:
    """Return the names of PostgreSQL's settings, with each of its libraries loaded that can be."""
    connection = server.connect()
    cursor = connection.cursor()
    for name in sorted(libraries):
        try:
            cursor.execute(f"LOAD '{name}'")
        except Exception:  # most are loaded when the server starts, or are none of an extension
            connection.rollback()
    cursor.execute("SELECT lower(name) FROM pg_settings WHERE vartype = 'string'")
    names = {name for (name,) in cursor.fetchall()}
    connection.close()
    return names
