"""A mirror on this machine, for tests of what is fetched over HTTP."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Quiet(BaseHTTPRequestHandler):
    """A handler that logs nothing; `answer` sends a content that may be declared longer than it is."""

    def answer(self, content: bytes, declared: int, kind: str = "application/octet-stream") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(declared))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        pass


@contextlib.contextmanager
def served(handler: type[Quiet]) -> Iterator[ThreadingHTTPServer]:
    """Serve on a free port of this machine; the server has its `url`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
