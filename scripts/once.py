"""Work a thing out once for all of the thousands of runs that ask for it."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def once(method: Callable) -> Callable:
    """Keep a method's answers, by its positional arguments, with its object; all callers share them and change none."""
    store = f"_once_{method.__name__}"

    @wraps(method)
    def known(self: Any, *arguments: Any) -> Any:
        # A frozen dataclass lets nobody set attributes; like cached_property, this writes past it.
        answers = vars(self).setdefault(store, {})
        if arguments not in answers:
            answers[arguments] = method(self, *arguments)
        return answers[arguments]

    return known
