"""One answer to "can I trust it": its topic with a code and a remedy, its state, its text."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a finding is shown: good, look (to be read first), or plain (neither)."""

    GOOD = "good"
    LOOK = "look"
    PLAIN = "plain"


@dataclass(frozen=True)
class Topic:
    """What findings are about. `remedy` says what one to look at means for the answer, and what to do about it."""

    code: str
    title: str
    remedy: str = ""

    def good(self, text: str, details: tuple[str, ...] = ()) -> "Finding":
        """Return a finding that is good."""
        return Finding(self, State.GOOD, text, details)

    def look(self, text: str, details: tuple[str, ...] = ()) -> "Finding":
        """Return a finding to be read first."""
        return Finding(self, State.LOOK, text, details)

    def plain(self, text: str, details: tuple[str, ...] = ()) -> "Finding":
        """Return a finding that is neither."""
        return Finding(self, State.PLAIN, text, details)

    def judged(self, good: bool, text: str, details: tuple[str, ...] = ()) -> "Finding":
        """Return a finding that is good, or else to be read first."""
        return (self.good if good else self.look)(text, details)


@dataclass(frozen=True)
class Finding:
    """One answer to "can I trust it"; `details` are more lines."""

    topic: Topic
    state: State
    text: str
    details: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The code of its topic."""
        return self.topic.code

    @property
    def title(self) -> str:
        """The title of its topic."""
        return self.topic.title

    @property
    def remedy(self) -> str:
        """The remedy, of a finding to look at; empty for others."""
        return self.topic.remedy if self.state is State.LOOK else ""
