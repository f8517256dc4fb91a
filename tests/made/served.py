"""A mirror on this machine, for tests of what is fetched over HTTP."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


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


class Files(Quiet):
    """A handler that serves the files below the server's `folder`, to who has the server's `login` if it has one."""

    def do_GET(self) -> None:
        """Answer with a file's content."""
        file = self.server.folder / urlsplit(self.path).path.lstrip("/")
        if (login := getattr(self.server, "login", None)) and self.headers["Authorization"] != login:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="files"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif file.is_file():
            content = file.read_bytes()
            self.answer(content, len(content))
        else:
            self.send_error(404)

    do_HEAD = do_GET


@contextlib.contextmanager
def served(handler: type[Quiet]) -> Iterator[ThreadingHTTPServer]:
    """Serve on a free port of this machine; the server has its `url`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
