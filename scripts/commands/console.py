"""The terminal of commands that draw tables: what it would obey is made visible."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from scripts.lib.visible import visible


class VisibleConsole(Console):
    """A console that shows control characters and the like in texts; its own colours and moves are no text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the parts of what is printed."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(visible(part.text), part.style)
