"""What a sysbench script says of its options, and which values of a study it would read as something else.

sysbench refuses an unknown option, but takes a word in place of a number for 0 (1.0.20, tried).
"""

import re
import subprocess
from collections.abc import Mapping
from typing import Any

from scripts.sysbench import Capabilities, option_text

OPTION = re.compile(r"^ +--([\w-]+)(\[?=\S+)", re.MULTILINE)
KINDS = {"=N": r"-?\d+(?:\.\d+)?", "[=on|off]": r"on|off|true|false|0|1"}
ANSWER_S = 60


def options_of(capabilities: Capabilities, script: str) -> dict[str, str]:
    """Return a script's own options, underscored, with the form of their values as `sysbench SCRIPT help` has it.

    Empty where the script has no help.
    """
    argv = [capabilities.path, script, "help"]
    said = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=ANSWER_S).stdout
    own = said.partition(" options:\n")[2]
    return {name.replace("-", "_"): form for name, form in OPTION.findall(own)}


def demand(capabilities: Capabilities, script: str, options: Mapping[str, Any]) -> None:
    """Refuse options whose values sysbench would misread. Raises ValueError naming the script and each of them."""
    if wrong := mistakes(options_of(capabilities, script), options):
        raise ValueError("\n".join(f"options of {script}: {line}" for line in wrong))


def mistakes(known: Mapping[str, str], options: Mapping[str, Any]) -> list[str]:
    """Return one line for each option with a value that is none of its form: name, value, what was expected."""
    found = []
    for name, value in options.items():
        form = known.get(name.replace("-", "_"), "")
        if form in KINDS and not re.fullmatch(KINDS[form], option_text(value)):
            found.append(f"{name}: {value!r}, expected {form.strip('[]=')} as its script says")
    return found
