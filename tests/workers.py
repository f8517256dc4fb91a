"""How tests are shared out among the workers of pytest-xdist.

Its own groups (`--dist loadgroup`) do nothing: pytest 9.2 keeps the name of a test elsewhere than pytest-xdist 3.8
expects.
"""

from xdist.scheduler import LoadScopeScheduling

# Files and folders that take long, or do in `make faults`, by the beginning of their tests' names, the longest first.
LONG = (
    "tests/endtoend/test_real_study.py",
    "tests/faults/test_interrupted_runs.py",
    "tests/faults/test_random_kills.py",
    "tests/faults/test_two_signals.py",
    "tests/endtoend/",
    "tests/workflow/",
    "tests/faults/",
    "tests/browser/",
)
# Files that look at the same pages, and those that look at the same study, for one worker.
PAGES = ("tests/browser/",)
LOOKED_INTO = ("tests/endtoend/test_diagnosed_servers.py", "tests/faults/test_nothing_outside.py")
# Files of long tests that share nothing: each test goes to the next free worker.
APART = ("tests/faults/test_random_kills.py",)


def rank(nodeid: str) -> int:
    """Return the place of a test in the order of LONG, after all of them if it is in none."""
    return next((place for place, beginning in enumerate(LONG) if nodeid.startswith(beginning)), len(LONG))


class ByFile(LoadScopeScheduling):
    """Send all tests of a file to one worker, which makes what they share once, except for the files in APART."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(APART):
            return nodeid
        shared = (names[0] for names in (PAGES, LOOKED_INTO) if nodeid.startswith(names))
        return next(shared, nodeid.partition("::")[0])
