"""Download one file from the first mirror that has it, and check its digest on the way."""

import hashlib
import logging
import os
import time
import urllib.request
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request

from scripts.build.sources import SourceError
from scripts.lib.host.address import Address
from scripts.lib.json_record import file_sha256

log = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 18
PROGRESS_S = 2
TIMEOUT_S = 60
# The largest known, MySQL with its debugging symbols, has 2 GiB.
DOWNLOAD_BYTES_MAX = 16 << 30
SCHEMES = ("http://", "https://")
AUTHORIZATION = "Authorization"
FAILURES = (OSError, HTTPException, ValueError)


def name_of(address: Address) -> str:
    """Return the file name at the end of a URL's path."""
    name = unquote(PurePosixPath(urlsplit(address.real).path).name)
    if not name or "/" in name or "\0" in name or name.startswith("."):
        raise SourceError(f"{address}: no file name at its end")
    return name


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Redirects, with the login only to the server that it is for."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return urllib's request of a redirect, with the login if scheme, host and port stay the same."""
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        login = req.unredirected_hdrs.get(AUTHORIZATION)
        if new and login and (new.type, new.host) == (req.type, req.host):
            new.add_unredirected_header(AUTHORIZATION, login)
        return new


def opened(address: Address, method: str = "GET", timeout_s: float | None = None) -> HTTPResponse:
    """Return the answer to a request. Raises one of FAILURES; SourceError for another scheme than http and https."""
    if not address.real.startswith(SCHEMES):
        raise SourceError(f"expected {' or '.join(SCHEMES)}; an archive on this machine is the source {{file: PATH}}")
    url, login = address.basic_login or (address.real, "")
    request = Request(url, method=method, headers={"User-Agent": "source-fetch/1"})
    if login:
        request.add_unredirected_header(AUTHORIZATION, login)
    director = urllib.request.OpenerDirector()  # urllib's own would follow a redirect to an ftp: URL
    for handler in ("Proxy", "Unknown", "HTTP", "HTTPS", "HTTPDefaultError", "HTTPErrorProcessor"):
        name = handler if handler.endswith("Processor") else f"{handler}Handler"
        director.add_handler(getattr(urllib.request, name)())
    director.add_handler(_Redirects())
    answer: HTTPResponse = director.open(request, timeout=timeout_s or TIMEOUT_S)
    return answer


def fetch(mirrors: list[Address], sha256: str, folder: Path) -> Path:
    """Return the file in `folder` whose content has this sha256 (hex), fetching it only if it is not there yet.

    Mirrors are tried in order. Raises SourceError with one line per mirror, and the path for a file brought by hand.
    """
    target = folder / name_of(mirrors[0])
    if target.is_file():
        if file_sha256(target) == sha256:
            log.info("%s: already here, checksum right", target)
            return target
        log.warning("%s: checksum differs from the expected %s, fetched again", target, sha256)
    folder.mkdir(parents=True, exist_ok=True)
    failures = []
    for url in mirrors:
        try:
            return fetch_one(url, sha256, target)
        except FAILURES as error:
            failures.append(f"{url}: {url.redacted(why(error))}")
            log.warning("%s", failures[-1])
    hint = f"to bring it by hand, put it at {target} (sha256 {sha256})"
    raise SourceError("\n".join([*failures, hint]))


def fetch_one(url: Address, sha256: str, target: Path) -> Path:
    part = target.with_name(f"{target.name}.part")
    log.info("fetching %s", url)
    try:
        with opened(url) as answer, part.open("wb") as out:
            declared = answer.headers.get("Content-Length")
            size_bytes = int(declared) if declared else None
            if size_bytes is not None and not 0 <= size_bytes <= DOWNLOAD_BYTES_MAX:
                raise SourceError(f"has {size_bytes} bytes, expected at most {DOWNLOAD_BYTES_MAX}")
            digest, got_bytes = stream_through(answer, out, size_bytes, target.name)
        if size_bytes is not None and got_bytes != size_bytes:
            raise SourceError(f"broken off after {got_bytes} of {size_bytes} bytes")
        if digest != sha256:
            kind = answer.headers.get_content_type()
            raise SourceError(f"sha256 is {digest}, expected {sha256} ({got_bytes} bytes of {kind})")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def why(error: Exception) -> str:
    """Return the cause of a mirror's failure; urllib keeps errors of the network in `reason`."""
    cause = getattr(error, "reason", None) if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return f"no answer within {TIMEOUT_S} s"
    return str(error if isinstance(cause, str) else cause)


def stream_through(source: IO[bytes], out: IO[bytes], size_bytes: int | None, name: str) -> tuple[str, int]:
    """Copy to `out` and log the progress; return (sha256 hex, bytes copied)."""
    digest, got_bytes, logged_s = hashlib.sha256(), 0, time.monotonic()
    while chunk := source.read(CHUNK_BYTES):
        digest.update(chunk)
        out.write(chunk)
        got_bytes += len(chunk)
        if got_bytes > DOWNLOAD_BYTES_MAX:
            raise SourceError(f"does not end after {got_bytes} bytes, expected at most {DOWNLOAD_BYTES_MAX}")
        if time.monotonic() - logged_s > PROGRESS_S:
            logged_s = time.monotonic()
            of_all = f" of {size_bytes / 2**20:.0f} MiB ({got_bytes / size_bytes:.0%})" if size_bytes else " MiB"
            log.info("%s: %.0f%s", name, got_bytes / 2**20, of_all)
    out.flush()
    os.fsync(out.fileno())
    return digest.hexdigest(), got_bytes
