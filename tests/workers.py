"""How tests are shared out among the workers of pytest-xdist.

Its own groups (`--dist loadgroup`) do nothing: pytest 9.2 keeps the name of a test elsewhere than pytest-xdist 3.8
expects.
"""

from xdist.scheduler import LoadScopeScheduling

# Folders whose files make whole studies, by the beginning of their tests' names.
LONG = ("tests/workflow/", "tests/faults/", "tests/browser/")
# All its files look at the same pages.
ONE_WORKER = "tests/browser/"


class ByFile(LoadScopeScheduling):
    """Send all tests of a file to one worker, which makes what they share once."""

    def _split_scope(self, nodeid: str) -> str:
        return ONE_WORKER if nodeid.startswith(ONE_WORKER) else nodeid.partition("::")[0]
