"""Make results/sources/{server}-{digest}/tree and its record source.json from the server's recipe."""

import logging
import sys
from pathlib import Path

from scripts.build.sources import addresses, kinds, source
from scripts.build.sources.declared import DeclaredSource, WantedSource
from scripts.lib.host import entry
from scripts.lib.recipe_models import ServerSourceRecipe
from scripts.measure.loadgen import reached_servers
from scripts.measure.servers import families


def log_to(log: Path, sources: list[DeclaredSource]) -> None:
    """Send all messages, without the logins of `sources`, to `log`; those from INFO on to standard error as well."""
    log.parent.mkdir(parents=True, exist_ok=True)
    everything, seen = (
        logging.FileHandler(log, mode="w", encoding="utf-8", errors="backslashreplace"),
        logging.StreamHandler(sys.stderr),
    )
    seen.setLevel(logging.INFO)

    def without_logins(message: logging.LogRecord) -> bool:
        message.msg, message.args = addresses.redacted(message.getMessage(), sources), ()
        return True

    everything.addFilter(without_logins)
    seen.addFilter(without_logins)
    style = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    everything.setFormatter(style)
    logging.basicConfig(level=logging.DEBUG, handlers=[everything, seen], format="%(message)s")


def main(recipe: ServerSourceRecipe, sources: list[DeclaredSource], tree: Path, identity: Path, log: Path) -> None:
    """Inputs: `recipe`, the wanted content, and `sources`, the places to get it. Outputs: `tree`, then `identity`.

    The first source that is available is used; a server that already runs is only asked for its release. Raises
    SourceError with the failure of each source.
    """
    sources = addresses.with_logins(recipe.server, sources)
    log_to(log, sources)
    if kinds.is_running(sources):
        reached_servers.describe_server(recipe, tree, identity)
        return
    source.make(WantedSource(recipe, sources), tree, identity, families.products())


if __name__ == "__main__":
    entry.run(main, __doc__, "tree", "identity", recipe=entry.recipe(ServerSourceRecipe), sources=entry.JSON)
