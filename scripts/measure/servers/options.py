"""The options a server starts with, and the check that it runs with them: their values are read back."""

import contextlib
from pathlib import Path
from typing import Any

from scripts.lib.host import machine_facts
from scripts.lib.vocabulary import FailureKind
from scripts.measure.servers import families
from scripts.measure.servers.families import Family
from scripts.measure.servers.server import Server, ServerFailed


def server_options(family: families.Family, recipe: dict[str, Any]) -> dict[str, Any]:
    """Return the family's default options with those of a recipe laid over them."""
    return {**family.default_options(round(machine_facts.meminfo_mib()["MemTotal"])), **recipe.get("options", {})}


def require_values(server: Server, install: Path, given: dict[str, Any]) -> dict[str, list[str]]:
    """Raise ServerFailed if a server runs with other values than the study's options state.

    The message names each option, the stated value and the server's. Returns those that cannot be read back under
    `options_unread`, nothing if there are none.
    """
    if not given:
        return {}
    family = server.family
    with contextlib.closing(server.connect()) as connection:
        settings = family.settings(connection)
    asked = asked_of(family, install, given)
    answers = {name: family.option_taken(name, value, settings) for name, value in asked.items()}
    if changed := [name for name, answer in answers.items() if answer is False]:
        changes = "; ".join(
            f"options.{name}: {asked[name]!r}, but it runs with {_shown(settings, name)}" for name in changed
        )
        program = Path(server.command[0]).name
        text = f"{program} did not take {changes}; write what it can take (log: {server.log})"
        raise ServerFailed(text, FailureKind.VALUE, changes)
    unread = sorted(name for name, answer in answers.items() if answer is None)
    return {"options_unread": unread} if unread else {}


def _shown(settings: dict[str, Any], name: str) -> str:
    match settings.get(name):
        case None:
            return "another value"
        case str() as found:
            return repr(found)
        case found:
            return repr(" ".join(part for part in found if part))


def asked_of(family: Family, install: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a study under the release's names, with the defaults that they change."""
    defaults = server_options(family, {})
    usual, own = family.options_of_release(install, defaults), family.options_of_release(install, given)
    whole = family.options_of_release(install, {**defaults, **given})
    return {name: value for name, value in whole.items() if name in own or usual.get(name) != value}
