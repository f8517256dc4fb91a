"""The options a server starts with, and the check that it runs with them: their values are read back."""

import contextlib
from pathlib import Path

from scripts.lib.host import machine_facts
from scripts.lib.vocabulary import FailureKind
from scripts.measure.servers.families.family import Family, ServerSetting
from scripts.measure.servers.families.option_rules import Options
from scripts.measure.servers.server import Server, ServerFailed


def server_options(family: Family, chosen: Options) -> Options:
    """Return the family's default options with the chosen ones laid over them."""
    return {**family.default_options(round(machine_facts.meminfo_mib()["MemTotal"])), **chosen}


def require_values(server: Server, install: Path, chosen: Options) -> list[str]:
    """Return the options of the study that cannot be read back.

    Raises ServerFailed if the server runs with other values than they state, naming each option and both values.
    """
    if not chosen:
        return []
    family = server.family
    with contextlib.closing(server.connect()) as connection:
        settings = family.settings(connection)
    stated = stated_options(family, install, chosen)
    answers = {name: family.option_taken(name, value, settings) for name, value in stated.items()}
    if changed := [name for name, answer in answers.items() if answer is False]:
        running = {name: _shown(settings.get(name)) for name in changed}
        changes = "; ".join(f"options.{name}: {stated[name]!r}, but it runs with {running[name]}" for name in changed)
        program = Path(server.command[0]).name
        text = f"{program} did not take {changes}; write what it can take (log: {server.log})"
        raise ServerFailed(text, FailureKind.VALUE, changes)
    return sorted(name for name, answer in answers.items() if answer is None)


def _shown(setting: ServerSetting | None) -> str:
    return "another value" if setting is None else repr(" ".join(filter(None, (setting.text, setting.unit))))


def stated_options(family: Family, install: Path, chosen: Options) -> Options:
    """Return the options of a study under the release's names, with the defaults that they change."""
    defaults = server_options(family, {})
    usual, named = family.options_of_release(install, defaults), family.options_of_release(install, chosen)
    in_all = family.options_of_release(install, {**defaults, **chosen})
    return {name: value for name, value in in_all.items() if name in named or usual.get(name) != value}
