"""Fetch a Debian or Ubuntu source package through the user's own apt configuration, editing no system file.

apt runs with a private configuration laid over the system's: same keys, proxies, logins and pinning, but the package
lists are our own copy of the system's, with `deb-src` in place of `deb`.
"""

import functools
import logging
import re
import shutil
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from scripts.apt_lists import write_configuration

log = logging.getLogger(__name__)

PROGRESS_S = 2
# apt 2.6 waits for ever for its own helpers when they cannot write, and half a minute for a host that does not answer.
STALLED_S = 120
TAIL_LINES = 12


class DebianError(RuntimeError):
    """A source package that could not be had; the text names the package, the wanted series and what apt said."""


@dataclass(frozen=True)
class SourcePackage:
    """One version of a source package on disk: the .dsc, and every file it names, the .dsc included."""

    name: str
    version: str
    dsc: Path
    files: tuple[Path, ...]

    @property
    def release(self) -> str:
        return upstream_version(self.version)


def upstream_version(version: str) -> str:
    """Strip epoch, Debian revision and repacking suffix: "1:10.11.18+ds-0+deb12u1" gives "10.11.18"."""
    plain = re.sub(r"-[^-]*$", "", version.split(":", 1)[-1])
    return re.sub(r"[+~.](dfsg|ds|repack)[.\d]*$", "", plain)


def in_series(release: str, series: str) -> bool:
    """Tell whether a release is the series itself or one of its point releases: 10.11.18 of 10.11, not 10.110."""
    return release == series or release.startswith(f"{series}.")


def offered_versions(showsrc: str, package: str) -> list[str]:
    """Return the versions of a package in the output of `apt-cache showsrc`, each once, in stored order."""
    versions = []
    for stanza in showsrc.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (\S+)", stanza, re.MULTILINE))
        if fields.get("Package") == package and "Version" in fields:
            versions.append(fields["Version"])
    return list(dict.fromkeys(versions))


def compare_versions(left: str, right: str) -> int:
    """Order two Debian versions as dpkg does: -1, 0 or 1."""
    if left == right:
        return 0
    return -1 if subprocess.run(["dpkg", "--compare-versions", left, "lt", right], check=False).returncode == 0 else 1


def matching_versions(offered: list[str], series: str) -> list[str]:
    """Return the versions of one series, newest first."""
    matching = [version for version in offered if in_series(upstream_version(version), series)]
    return sorted(matching, key=functools.cmp_to_key(compare_versions), reverse=True)


def dsc_files(dsc: Path) -> list[str]:
    """Return the names in a .dsc's Checksums-Sha256 field."""
    section = re.search(r"^Checksums-Sha256:\n((?: .*\n?)+)", dsc.read_text(encoding="utf-8"), re.MULTILINE)
    if not section:
        raise DebianError(f"{dsc}: no Checksums-Sha256 field")
    return [line.split()[2] for line in section[1].splitlines()]


class Progress:
    """What apt says of its downloads into `folder`, twice a second: told now and then, and whether it goes on."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.told_at = folder, time.monotonic()
        self.said, self.since = "", self.told_at

    def goes_on(self, line: str) -> bool:
        """Take a line "dlstatus:file:percent:text"; returns False when it has been the same for STALLED_S."""
        now, percent_and_text = time.monotonic(), line.split(":", 2)[2].strip()
        if percent_and_text != self.said:
            self.said, self.since = percent_and_text, now
        if now - self.told_at > PROGRESS_S:
            self.told_at = now
            percent, text = percent_and_text.split(":", 1)
            log.info("apt: %.0f %%, %s", float(percent), text.strip())
        return now - self.since < STALLED_S

    def stalled(self) -> str:
        """Return where it stands still, and how much room there is."""
        free_mib = shutil.disk_usage(self.folder).free / 2**20
        return f"no progress for {STALLED_S} s at {self.said!r}; {free_mib:.0f} MiB are free in {self.folder}"


def run(argv: list[str], folder: Path) -> str:
    """Run a command, its lines to the log as they come, and return its output.

    Raises DebianError with the command and its last lines if it fails.
    """
    log.debug("in %s: %s", folder, " ".join(argv))
    lines: deque[str] = deque(maxlen=100_000)
    progress = Progress(folder)
    with subprocess.Popen(
        argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout:
            if not line.startswith("dlstatus:"):
                lines.append(line.rstrip("\n"))
                log.debug("%s: %s", argv[0], line.rstrip("\n"))
            elif not progress.goes_on(line):
                process.kill()
                raise DebianError(f"{' '.join(argv)}: {progress.stalled()}")
        log.debug("exit %d", process.wait())
    if process.returncode:
        tail = [line for line in lines if line.startswith(("E:", "dpkg"))] or list(lines)
        raise DebianError("\n".join([f"{' '.join(argv)}: exit {process.returncode}", *tail[-TAIL_LINES:]]))
    return "\n".join(lines)


def require_tools() -> None:
    if missing := [name for name in ("apt-get", "apt-cache", "dpkg-source") if not shutil.which(name)]:
        raise DebianError(f"{', '.join(missing)} not found: needs Debian or Ubuntu with the package dpkg-dev")


def fetch(package: str, series: str, downloads: Path) -> SourcePackage:
    """Download the newest version of a source package in a series, signatures checked by apt.

    An archive may list a version before it has its files: then the next older one of the series is taken. Raises
    DebianError naming package, series, the versions offered and what apt said.
    """
    require_tools()
    downloads.mkdir(parents=True, exist_ok=True)
    configuration = str(write_configuration(downloads.absolute() / "apt"))
    offered, failures = offered_by_apt(configuration, package, downloads)
    for version in matching_versions(offered, series):
        try:
            return fetch_version(configuration, package, version, downloads)
        except DebianError as error:
            log.warning("%s %s is listed but cannot be had; looking for an older one", package, version)
            failures.append(str(error))
    told = f"source package {package}: offered {', '.join(offered) or 'nothing'}; wanted {series}"
    raise DebianError("\n".join([told, *failures]))


def offered_by_apt(configuration: str, package: str, downloads: Path) -> tuple[list[str], list[str]]:
    """Return (versions, failures): one list that cannot be updated does not make the others useless."""
    versions, failures = [], []
    for argv in (["apt-get", "update"], ["apt-cache", "showsrc", "--only-source", package]):
        try:
            versions = offered_versions(run([argv[0], "-c", configuration, *argv[1:]], downloads), package)
        except DebianError as error:
            log.warning("%s", error)
            failures.append(str(error))
    return versions, failures


def fetch_version(configuration: str, package: str, version: str, downloads: Path) -> SourcePackage:
    log.info("fetching source package %s %s", package, version)
    argv = ["apt-get", "-c", configuration, "source", "--only-source", "--download-only", f"{package}={version}"]
    run(argv, downloads)
    dsc = downloads / f"{package}_{version.split(':', 1)[-1]}.dsc"
    files = [dsc, *(downloads / name for name in dsc_files(dsc))]
    return SourcePackage(package, version, dsc, tuple(files))


def unpack(package: SourcePackage, target: Path) -> None:
    """Unpack with the distribution's patches applied into the new directory `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    run(["dpkg-source", "--no-copy", "-x", str(package.dsc.absolute()), str(target.absolute())], target.parent)
