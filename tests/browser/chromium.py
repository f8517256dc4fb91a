"""Headless Chromium over its DevTools pipe: open a page, act on it as a reader does, hear its complaints."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium")
PATIENCE_S = 120.0
# Without a request of the browser itself: what is left was asked for by the page.
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
A4_INCHES = {"paperWidth": 8.27, "paperHeight": 11.69}


@dataclass
class Browser:
    """A running Chromium: messages end with a zero byte, answers carry the number of their question."""

    process: subprocess.Popen
    question: int
    answer: int
    numbers: Iterator[int] = field(default_factory=count)
    unread: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Call a DevTools method and return its result. Raises ValueError when Chromium refuses."""
        number = next(self.numbers)
        told = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.question, json.dumps(told).encode() + b"\0")
        reply = self._until(lambda message: message.get("id") == number, method)
        if "error" in reply:
            raise ValueError(f"{method} {params}: {reply['error']}")
        return reply["result"]

    def wait(self, event: str, session: str) -> None:
        """Wait for an event, unless it has come already."""
        if not any(each["method"] == event for each in self.heard(session)):
            self._until(lambda message: message.get("method") == event and message.get("sessionId") == session, event)

    def heard(self, session: str) -> list[dict[str, Any]]:
        """Return the events of a tab so far."""
        return [event for event in self.events if event.get("sessionId") == session]

    def _until(self, wanted: Any, what: str) -> dict[str, Any]:
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            message = self._next(deadline_s, what)
            if "method" in message:
                self.events.append(message)
            if wanted(message):
                return message

    def _next(self, deadline_s: float, what: str) -> dict[str, Any]:
        pieces = [self.unread]
        while b"\0" not in pieces[-1]:
            if not select.select([self.answer], [], [], max(0.0, deadline_s - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium gave no answer to {what} in {PATIENCE_S:.0f} s")
            pieces.append(os.read(self.answer, 1 << 20))
            if not pieces[-1]:
                raise ValueError(f"Chromium ended with status {self.process.wait()} before it answered {what}")
        text, self.unread = b"".join(pieces).split(b"\0", 1)
        return json.loads(text)


@contextmanager
def started() -> Iterator[Browser]:
    """Run Chromium with a profile of its own. Its end of the pipes must be the descriptors 3 and 4."""
    with tempfile.TemporaryDirectory(prefix="browser-") as home, tempfile.TemporaryFile() as said:
        (read_question, question), (answer, write_answer) = os.pipe(), os.pipe()
        shell = ["bash", "-c", f'exec "$@" 3<&{read_question} 4>&{write_answer}', "bash"]
        command = [*shell, str(PROGRAM), *OPTIONS, f"--user-data-dir={home}"]
        ours = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        process = subprocess.Popen(
            command, pass_fds=(read_question, write_answer), stdout=said, stderr=said, env=os.environ | ours
        )
        os.close(read_question)
        os.close(write_answer)
        try:
            yield Browser(process, question, answer)
        finally:
            os.close(question)
            process.terminate()
            process.wait(PATIENCE_S)
            os.close(answer)


@dataclass(frozen=True)
class Tab:
    """One page in one window."""

    browser: Browser
    session: str
    url: str

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a DevTools method for this tab."""
        return self.browser.ask(method, self.session, **params)

    def value(self, expression: str) -> Any:
        """Return what a JavaScript expression gives, once it is there. Raises ValueError when it throws."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        told = self.ask("Runtime.evaluate", **asked)
        if "exceptionDetails" in told:
            raise ValueError(f"{expression}: {told['exceptionDetails']}")
        return told["result"].get("value")

    def click(self, element: str) -> None:
        """Press the mouse in the middle of the element an expression names."""
        self.value(f"({element}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        box = self.value(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])(({element}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            place = {"x": box[0], "y": box[1], "button": "left", "clickCount": 1}
            self.ask("Input.dispatchMouseEvent", type=kind, **place)

    def key(self, name: str) -> None:
        """Press a key."""
        code = {"Enter": 13, "Delete": 46, " ": 32}[name]
        text = {"Enter": "\r", " ": " "}.get(name, "")
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code, text=text)

    def write(self, element: str, text: str) -> None:
        """Replace the text of an input field."""
        self.value(f"(({element}).focus(), ({element}).select())")
        self.ask("Input.insertText", text=text) if text else self.key("Delete")

    def complaints(self) -> list[str]:
        """Return every error and warning: exceptions, the page's console, and the browser's own (blocked by policy)."""
        self.value("new Promise(done => setTimeout(done, 50))")
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
        return [
            json.dumps(event["params"])[:2000]
            for event in self.browser.heard(self.session)
            if event["method"] in kinds and event["params"].get("entry", {}).get("level") != "verbose"
        ]

    def requests(self) -> list[str]:
        """Return every address asked for beside the page itself."""
        asked = [event["params"] for event in self.browser.heard(self.session) if event["method"] == REQUEST]
        addresses = [told["request"]["url"] for told in asked]
        return [address for address in addresses if address != self.url and not address.startswith("data:")]

    def screenshot(self, file: Path, most_px: int = 8000) -> None:
        """Write a picture of the page from its top."""
        width, height = self.value("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, most_px), "scale": 1}
        told = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(told["data"]))

    def pdf(self, file: Path) -> None:
        """Print the page on A4, with the margins of its style."""
        told = self.ask("Page.printToPDF", preferCSSPageSize=True, printBackground=True, **A4_INCHES)
        file.write_bytes(base64.b64decode(told["data"]))


REQUEST = "Network.requestWillBeSent"


@contextmanager
def opened(
    browser: Browser,
    file: Path,
    width: int = 1280,
    dark: bool = False,
    scripts: bool = True,
    media: str = "screen",
    hash: str = "",
) -> Iterator[Tab]:
    """Open a file in a window of its own, `width` pixels wide, and wait until it is loaded.

    `hash` is the part of the address from its # on.
    """
    target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
    session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    tab = Tab(browser, session, file.resolve().as_uri() + hash)
    for part in ("Page", "Runtime", "Log", "Network"):
        tab.ask(f"{part}.enable")
    tab.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    tab.ask("Emulation.setEmulatedMedia", media=media, features=scheme)
    tab.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
    tab.ask("Emulation.setFocusEmulationEnabled", enabled=True)
    browser.events.clear()
    tab.ask("Page.navigate", url=tab.url)
    browser.wait("Page.loadEventFired", session)
    try:
        yield tab
    finally:
        browser.ask("Target.closeTarget", targetId=target)
