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
from dataclasses import dataclass
from pathlib import Path

from scripts.build.sources import SourceError
from scripts.lib.host.made_environment import download_variables, made_environment
from scripts.lib.host.process import CommandFailed, output_of, run

CDROM = re.compile(r"^\s*cdrom:", re.IGNORECASE)


def source_line(line: str) -> str | None:
    """Return the deb-src line for a line of a *.list file, None for comments, CD-ROMs and blank lines."""
    parts = re.match(r"\s*deb(?:-src)?\s+(?:\[(?P<options>[^]]*)\]\s*)?(?P<rest>[^#]+)", line)
    if not parts or CDROM.match(parts["rest"]):
        return None
    safe = [option for option in (parts["options"] or "").split() if source_option(option.split("=")[0])]
    options = f"[{' '.join(safe)}] " if safe else ""
    return f"deb-src {options}{parts['rest'].strip()}"


def source_option(name: str) -> bool:
    """Return whether an option of an apt source may be kept, because it does not turn signature checks off."""
    return not name.lower().rstrip("+-").startswith(("trusted", "allow-"))


def source_list(text: str) -> str:
    """Return the text of a *.list file with each of its lines once, as deb-src."""
    lines = dict.fromkeys(line for line in map(source_line, text.splitlines()) if line)
    return "".join(f"{line}\n" for line in lines)


def source_stanza(stanza: str) -> str | None:
    """Return the deb-src form of a deb822 stanza, None for CD-ROMs and stanzas without Types."""
    lines, keep, has_types = [], True, False
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if not line[:1].isspace():
            name, _, value = line.partition(":")
            keep = source_option(name)
            if name.lower() == "types":
                line, has_types = "Types: deb-src", True
            if name.lower() == "uris" and CDROM.match(value):
                return None
        if keep:
            lines.append(line)
    return "\n".join(lines) + "\n" if has_types else None


def source_deb822(text: str) -> str:
    """Return the text of a *.sources file with each of its stanzas once, as deb-src."""
    stanzas = dict.fromkeys(map(source_stanza, re.split(r"\n[ \t]*\n", text)))
    return "\n".join(stanza for stanza in stanzas if stanza)


def system_lists() -> tuple[Path, Path]:
    """Return the (sources.list, sources.list.d) that the user's apt reads."""
    argv = ["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"]
    text = output_of(argv, environment=download_variables())
    folders = dict(re.findall(r"^(\w+)='(.*)'$", text, re.MULTILINE))
    return Path(folders["LIST"]), Path(folders["PARTS"])


def write_lists(system_list: Path, system_parts: Path, parts: Path) -> int:
    """Write deb-src copies of the system's package lists into `parts`; return the number of lists with a source."""
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    named = sorted(system_parts.iterdir()) if system_parts.is_dir() else []
    count = 0
    for file in [system_list, *named]:
        convert = {".list": source_list, ".sources": source_deb822}.get(file.suffix)
        if not convert or not file.is_file():
            continue
        if text := convert(file.read_text(encoding="utf-8", errors="surrogateescape")):
            (parts / file.name).write_text(text, encoding="utf-8", errors="surrogateescape")
            count += 1
    return count


def write_configuration(folder: Path) -> Path:
    """Write the private apt configuration below `folder`; return its file, for apt's `-c`."""
    system_list, system_parts = system_lists()
    if not write_lists(system_list, system_parts, folder / "parts"):
        raise FileNotFoundError(f"no usable entry in {system_list} or {system_parts}: apt has nowhere to fetch from")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    configuration = folder / "apt.conf"
    configuration.write_text(
        # the hooks would clean the system's caches
        "#clear APT::Update::Post-Invoke;\n"
        "#clear APT::Update::Post-Invoke-Success;\n"
        'Dir::Etc::sourcelist "/dev/null";\n'
        f'Dir::Etc::sourceparts "{folder}/parts";\n'
        f'Dir::State::lists "{folder}/lists";\n'
        f'Dir::Cache "{folder}/cache";\n'
        'APT::Get::AllowUnauthenticated "false";\n'
        'Acquire::AllowInsecureRepositories "false";\n'
        'Acquire::AllowDowngradeToInsecureRepositories "false";\n'
        'APT::Status-Fd "1";\n',
        encoding="utf-8",
    )
    return configuration


_log = logging.getLogger(__name__)

PROGRESS_S = 2
# apt 2.6 waits for ever for its own helpers if they cannot write, and half a minute for a host that does not answer.
STALLED_S = 120


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
    """Return whether a release is the series itself or one of its point releases: 10.11.18 of 10.11, not 10.110."""
    return release == series or release.startswith(f"{series}.")


def offered_versions(showsrc: str, package: str) -> list[str]:
    """Return the versions of a package in the output of `apt-cache showsrc`, each once, in stored order."""
    versions = []
    for stanza in showsrc.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (\S+)", stanza, re.MULTILINE))
        if fields.get("Package") == package and "Version" in fields:
            versions.append(fields["Version"])
    return list(dict.fromkeys(versions))


def compare_versions(first: str, second: str) -> int:
    """Order two Debian versions as dpkg does: -1, 0 or 1."""
    if first == second:
        return 0
    command = ["dpkg", "--compare-versions", first, "lt", second]
    return -1 if subprocess.run(command, env=made_environment(), check=False).returncode == 0 else 1


def matching_versions(offered: list[str], series: str) -> list[str]:
    """Return the versions of one series, newest first."""
    matching = [version for version in offered if in_series(upstream_version(version), series)]
    return sorted(matching, key=functools.cmp_to_key(compare_versions), reverse=True)


def dsc_files(dsc: Path) -> list[str]:
    """Return the names in a .dsc's Checksums-Sha256 field."""
    section = re.search(
        r"^Checksums-Sha256:\n((?: .*\n?)+)", dsc.read_text(encoding="utf-8", errors="replace"), re.MULTILINE
    )
    if not section:
        raise SourceError(f"{dsc}: no Checksums-Sha256 field")
    names = re.findall(r"^ [0-9a-f]{64} \d+ ([^/\s]+)$", section[1], re.MULTILINE)
    if len(names) != len(section[1].splitlines()):
        raise SourceError(f"{dsc}: a line of Checksums-Sha256 is not checksum, size and the name of a file")
    return names


class AptProgress:
    """Progress of apt's downloads into `folder`, which apt reports twice a second."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.logged_s = folder, time.monotonic()
        self.last, self.last_s = "", self.logged_s

    def take(self, line: str) -> bool:
        """Log the progress in a line "dlstatus:file:percent:text" now and then; return False for other lines.

        Raises SourceError when percent and text have not changed for STALLED_S.
        """
        if not line.startswith("dlstatus:"):
            return False
        now_s, percent_and_text = time.monotonic(), line.split(":", 2)[2].strip()
        if percent_and_text != self.last:
            self.last, self.last_s = percent_and_text, now_s
        if now_s - self.last_s >= STALLED_S:
            free_mib = shutil.disk_usage(self.folder).free / 2**20
            problem = f"no progress for {STALLED_S} s at {self.last!r}"
            raise SourceError(f"apt: {problem}; {free_mib:.0f} MiB are free in {self.folder}")
        if now_s - self.logged_s > PROGRESS_S:
            self.logged_s = now_s
            percent, text = percent_and_text.split(":", 1)
            _log.info("apt: %.0f %%, %s", float(percent), text.strip())
        return True


def run_apt(argv: list[str], folder: Path) -> str:
    """Return the output of a command of apt or dpkg in `folder`. Raises CommandFailed, and SourceError if it stalls."""
    return run(argv, cwd=folder, environment=download_variables(), progress=AptProgress(folder).take).output


def require_tools() -> None:
    if missing := [name for name in ("apt-get", "apt-cache", "dpkg-source") if not shutil.which(name)]:
        raise SourceError(f"{', '.join(missing)} not found: needs Debian or Ubuntu with the package dpkg-dev")


def fetch_package(package: str, series: str, downloads: Path) -> SourcePackage:
    """Download the newest version of a source package in a series, signatures checked by apt.

    An archive may list a version before it has its files: then the next older one of the series is taken. Raises
    SourceError naming package, series, the versions offered and apt's errors.
    """
    require_tools()
    downloads.mkdir(parents=True, exist_ok=True)
    configuration = str(write_configuration(downloads.absolute() / "apt"))
    offered, failures = offered_by_apt(configuration, package, downloads)
    for version in matching_versions(offered, series):
        try:
            return fetch_version(configuration, package, version, downloads)
        except (SourceError, CommandFailed) as error:
            _log.warning("%s %s is listed but not available; trying an older one", package, version)
            failures.append(str(error))
    problem = f"source package {package}: offered {', '.join(offered) or 'nothing'}; wanted {series}"
    raise SourceError("\n".join([problem, *failures]))


def offered_by_apt(configuration: str, package: str, downloads: Path) -> tuple[list[str], list[str]]:
    """Return (versions, failures): the lists that could be updated are used even if another could not."""
    versions, failures = [], []
    for argv in (["apt-get", "update"], ["apt-cache", "showsrc", "--only-source", package]):
        try:
            shown = run_apt([argv[0], "-c", configuration, *argv[1:]], downloads)
            versions = offered_versions(shown, package)
        except (SourceError, CommandFailed) as error:
            _log.warning("%s", error)
            failures.append(str(error))
    return versions, failures


def fetch_version(configuration: str, package: str, version: str, downloads: Path) -> SourcePackage:
    _log.info("fetching source package %s %s", package, version)
    argv = ["apt-get", "-c", configuration, "source", "--only-source", "--download-only", f"{package}={version}"]
    run_apt(argv, downloads)
    dsc = downloads / f"{package}_{version.split(':', 1)[-1]}.dsc"
    files = [dsc, *(downloads / name for name in dsc_files(dsc))]
    return SourcePackage(package, version, dsc, tuple(files))


def unpack_package(package: SourcePackage, target: Path) -> None:
    """Unpack a source package, with the distribution's patches applied, into the new directory `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    run_apt(["dpkg-source", "--no-copy", "-x", str(package.dsc.absolute()), str(target.absolute())], target.parent)
