"""Whether the sources of the study's servers are available: asked for, not fetched."""

import tempfile
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

from scripts.build.sources import SourceError, debian, download, git, git_command, installed, maven
from scripts.build.sources.debian import write_configuration
from scripts.build.sources.declared import DeclaredSource
from scripts.build.sources.kinds import (
    kind_of,
    mirrors_of,
    source_candidates,
    source_path,
    with_version,
)
from scripts.commands.doctor.checkup import CheckResult, CheckResults, ok
from scripts.commands.doctor.needs import NeededServer, Needs
from scripts.lib import json_record
from scripts.lib.host import process
from scripts.lib.host.address import Address
from scripts.measure.servers import families
from scripts.study.plan.recipes import Plan

ANSWER_S = 15
FAILURES = (RuntimeError, OSError, ValueError, HTTPException)
OfferOf = Callable[[DeclaredSource, NeededServer], str]


def check(needs: Needs, results: Path = Path("results")) -> CheckResults:
    """Yield for each server the sources that were fetched, or which of its sources is available."""
    with tempfile.TemporaryDirectory() as folder:
        for server, entry in needs.servers.items():
            if identity := fetched(needs, server, results):
                yield ok(f"source of {server}", f"here already: {json_record.read(identity)['origin']}")
            else:
                yield offered(server, entry, lambda source, entry: found(source, entry, Path(folder)))


def fetched(needs: Needs, server: str, results: Path) -> Path | None:
    """Return the record of a server's fetched sources, None without one; the search reports unreadable sources."""
    try:
        digest = Plan(needs.study, Path()).source(server).digest
    except ValueError:
        return None
    identity = results / "sources" / f"{server}-{digest}" / "source.json"
    return identity if identity.is_file() else None


def offered(server: str, entry: NeededServer, look: OfferOf) -> CheckResult:
    """Try a server's sources in their order, as fetching does, up to one that is available."""
    name, failures = f"source of {server}", []
    for source in source_candidates(entry["sources"]):
        try:
            fact = look(source, entry)
        except FAILURES as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            failures.append(f"{kind_of(source)}: {'; '.join(line.strip() for line in lines)[:300]}")
            continue
        if not failures:
            return ok(name, fact)
        why = "the release that is measured may be another than with the first of its sources"
        return CheckResult("note", name, f"{fact}; not from {' | '.join(failures)}", why, BY_HAND.format(server=server))
    why = "without a source there is nothing to compile or to start"
    return CheckResult("problem", name, " | ".join(failures), why, BY_HAND.format(server=server))


BY_HAND = "check network and proxies, or name an archive of yours as {{file: PATH}} under servers.{server}.sources"


def found(source: DeclaredSource, entry: NeededServer, folder: Path) -> str:
    """Return what one source offers. Raises one of FAILURES when it is not available."""
    match kind_of(source):
        case "debian":
            return debian_package(source["debian"], entry["version"], folder)
        case "url":
            return mirror(mirrors_of(source, entry["version"]))
        case "git":
            repository = git.location(source["git"])
            git_command.online(folder, "ls-remote", repository, "HEAD")
            return f"git repository {repository} answers; whether it has the commit shows when it is fetched"
        case "maven":
            answer = process.run(["mvn", "--version"], cwd=folder, environment=maven.environment())
            return f"{answer.output.splitlines()[0]}; the artifact is looked up when it is fetched"
        case "installed":
            product = families.products()
            program = installed.find_program(source_path(source["installed"]), "installed", product)
            return f"{program}, release {installed.program_release(program, product)}"
    declared = source["file"] if "file" in source else source["directory"]
    path = source_path(with_version(declared, entry["version"]))
    if not path.exists():
        raise ValueError(f"{path}: no such file or directory")
    return str(path)


def debian_package(package: str, series: str, folder: Path) -> str:
    """Return a source package of a series that apt offers; a temporary copy of the package lists is used."""
    debian.require_tools()
    versions, failures = debian.offered_by_apt(str(write_configuration(folder / "apt")), package, folder)
    if matching := debian.matching_versions(versions, series):
        return f"source package {package} {matching[0]}"
    offer = f"apt offers {', '.join(versions) or 'nothing'} as source package {package}, wanted {series}"
    raise SourceError("\n".join([offer, *failures]))


def mirror(urls: list[Address]) -> str:
    """Return the first URL that answers. Raises ValueError with the error of each."""
    failures = []
    for url in urls:
        try:
            with download.opened(url, "HEAD", ANSWER_S) as answer:
                size = answer.headers.get("Content-Length")
            return f"{url}" + (f" ({int(size) / 1e6:.0f} MB)" if size else "")
        except FAILURES as error:
            failures.append(f"{url}: {url.redacted(str(error))}")
    raise ValueError("; ".join(failures))
