"""Fetch one file by its Maven coordinates with the command mvn, from the repositories of Maven's own configuration."""

import logging
from dataclasses import dataclass
from pathlib import Path

from scripts.build.sources import SourceError
from scripts.lib.host import process
from scripts.lib.host.made_environment import UTF8_LOCALE, download_variables
from scripts.lib.json_record import file_sha256

log = logging.getLogger(__name__)

# With a version, because Maven would otherwise take the newest.
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of a file in a Maven repository; the classifier is empty if it has none."""

    group: str
    artifact: str
    extension: str
    classifier: str
    version: str

    @property
    def file_name(self) -> str:
        """Return the file's name in a repository."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.{self.extension}"

    @property
    def argument(self) -> str:
        """Return the coordinates in the order of Maven's dependency plugin."""
        parts = [self.group, self.artifact, self.version, self.extension, self.classifier]
        return ":".join(parts).removesuffix(":")


def parse(text: str) -> Coordinates:
    """Read "group:artifact:extension:classifier:version". Raises SourceError naming the text."""
    parts = text.split(":")
    wrong = len(parts) != 5 or any(part.startswith(("-", ".")) or "/" in part or " " in part for part in parts)
    if wrong or not all(parts[:3] + parts[4:]):
        raise SourceError(f"maven: {text!r}: expected group:artifact:extension:classifier:version")
    return Coordinates(*parts)


def fetch(text: str, sha256: str | None, downloads: Path) -> Path:
    """Return the file of these coordinates in `downloads`, checked if `sha256` (hex) is given.

    A file that is there and right is kept. Raises SourceError, or CommandFailed with Maven's last lines.
    """
    coordinates = parse(text)
    file = downloads / coordinates.file_name
    if sha256 and file.is_file() and file_sha256(file) == sha256:
        log.info("%s: already here, checksum right", file)
        return file
    downloads.mkdir(parents=True, exist_ok=True)
    log.info("fetching %s through Maven", text)
    argv = ["mvn", "-B", "-q", COPY, f"-Dartifact={coordinates.argument}", f"-DoutputDirectory={downloads.absolute()}"]
    process.run(
        [*argv, "-Dmdep.overWriteReleases=true", "-Dmdep.overWriteSnapshots=true"],
        cwd=downloads,
        environment=environment(),
    )
    if not file.is_file():
        raise SourceError(f"maven: {text}: Maven ended with status 0, but {file} is not there")
    if sha256 and (actual := file_sha256(file)) != sha256:
        raise SourceError(f"maven: {text}: sha256 is {actual}, expected {sha256}")
    return file


def environment() -> dict[str, str]:
    """Return what Maven gets besides the made environment: how to reach a repository, and a locale for file names."""
    return {**download_variables(), **UTF8_LOCALE}
