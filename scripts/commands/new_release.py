"""Make a release of the workflow: check, move the changelog's section, write the version, commit and tag; push nothing.

`make release VERSION=1.2.0`; with DRY=1 it checks, says what it would change, and changes nothing.
"""

import argparse
import datetime
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from scripts import ROOT
from scripts.lib.host.entry import WrongCall, say, user_command
from scripts.lib.host.process import output_of

CHANGELOG, VERSION_FILE, CITATION = Path("CHANGELOG.md"), Path("scripts", "__init__.py"), Path("CITATION.cff")
VERSION_LINES = {
    VERSION_FILE: re.compile(r'^__version__ = "(.*)"$', re.MULTILINE),
    CITATION: re.compile(r"^version: (.*)$", re.MULTILINE),
}
UNRELEASED, LINK = "## [Unreleased]\n", "[Unreleased]: #unreleased\n"
NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")
CHECKS = (("make", "lint"), ("make", "test"))


def git(root: Path, *words: str) -> str:
    """Return what a git command prints. Raises CommandFailed when it fails."""
    return output_of(["git", "-C", str(root), *words]).strip()


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers. Raises WrongCall unless it is three of them."""
    match = NUMBER.fullmatch(version)
    if not match:
        raise WrongCall(f"VERSION={version!r}: expected three numbers such as 1.2.0")
    return tuple(map(int, match.groups()))


def version_of(root: Path) -> str:
    """Return the version that a checkout states."""
    match = VERSION_LINES[VERSION_FILE].search((root / VERSION_FILE).read_text(encoding="utf-8"))
    if not match:
        raise ValueError(f"{root / VERSION_FILE}: no line __version__, expected one")
    return match[1]


def refusals(root: Path, version: str) -> list[str]:
    """Return why a checkout cannot be released as this version now; empty if it can."""
    reasons = []
    if changed := git(root, "status", "--porcelain"):
        reasons.append(f"the working tree has changes ({len(changed.splitlines())} files), expected a clean one")
    if numbers(version) <= numbers(current := version_of(root)):
        reasons.append(f"VERSION={version} is not above the last version, {current}")
    if git(root, "tag", "--list", f"v{version}"):
        reasons.append(f"there is a tag v{version} already")
    if not unreleased(changelog_of(root)).strip():
        reasons.append(f"{CHANGELOG}: nothing stands under Unreleased")
    return reasons


def changelog_of(root: Path) -> str:
    """Return the changelog. Raises ValueError without the heading and the link of what is not released."""
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    if text.count(UNRELEASED) != 1 or text.count(LINK) != 1:
        raise ValueError(f"{root / CHANGELOG}: expected one line {UNRELEASED.strip()!r} and one {LINK.strip()!r}")
    return text


def unreleased(changelog: str) -> str:
    """Return what stands under Unreleased."""
    return re.split(r"^## |^\[Unreleased\]:", changelog.split(UNRELEASED)[1], maxsplit=1, flags=re.MULTILINE)[0]


def moved(changelog: str, version: str, date: str) -> str:
    """Return the changelog with what is not released yet under the version and its date."""
    anchor = f"{version}---{date}".replace(".", "")
    headed = changelog.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {date}\n")
    return headed.replace(LINK, f"{LINK}[{version}]: #{anchor}\n")


def contents(root: Path, version: str, date: str) -> dict[Path, str]:
    """Return file -> text of all that a release changes."""
    texts = {CHANGELOG: moved(changelog_of(root), version, date)}
    for file, line in VERSION_LINES.items():
        text = (root / file).read_text(encoding="utf-8")
        texts[file] = line.sub(lambda match: match[0].replace(match[1], version), text)
    return texts


def release(root: Path, version: str, date: str, check: Callable[[Path], None] | None) -> None:
    """Make a release of a checkout once `check` has passed; without `check` only say what it would change.

    Raises ValueError with all reasons against it.
    """
    if reasons := refusals(root, version):
        raise ValueError("\n".join(reasons))
    texts = contents(root, version, date)
    if not check:
        say(f"would check ({', '.join(map(' '.join, CHECKS))}), change {', '.join(map(str, texts))}, tag v{version}")
        say(f"changelog of {version}:\n{unreleased(changelog_of(root)).strip()}")
        return
    check(root)
    for file, text in texts.items():
        (root / file).write_text(text, encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "--message", f"Version {version}")
    git(root, "tag", "--annotate", f"v{version}", "--message", f"Version {version}")
    say(f"version {version} is committed and tagged; look at it, then: git push --follow-tags")


def run_checks(root: Path) -> None:
    """Run the linters and all tests. Raises ValueError naming the first command that fails."""
    for command in CHECKS:
        if status := subprocess.run(command, cwd=root, env=dict(os.environ), check=False).returncode:
            raise ValueError(f"`{' '.join(command)}` ended with {status}, so nothing was changed")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.new_release", description=__doc__)
    parser.add_argument("--version", required=True, help="three numbers, above the last version")
    parser.add_argument("--dry", action="store_true", help="change nothing")
    arguments = parser.parse_args()
    with user_command():
        today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
        release(ROOT, arguments.version, today, None if arguments.dry else run_checks)
