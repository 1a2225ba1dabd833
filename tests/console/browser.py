"""Chromium without a window, driven by the DevTools protocol over a pipe."""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_EXEC = """import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])"""  # the browser reads from 3 and writes to 4
_PATIENCE_MS = 60_000
_KEY_CODES = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    " ": 32,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowDown": 40,
    "Backspace": 8,
}
_WAIT = """new Promise((resolve, reject) => {
  const observer = new MutationObserver(() => check());
  const end = (settle, result) => {
    observer.disconnect();
    removeEventListener("scroll", check);
    clearTimeout(timer);
    settle(result);
  };
  const check = () => {
    try { const found = (%s); if (found) end(resolve, found === true || String(found)); } catch {}
  };
  const shown = () => document.body.innerText.slice(0, 2000);
  const timer = setTimeout(() => end(reject, new Error("not on the page: " + shown())), %d);
  const changes = {subtree: true, childList: true, attributes: true, characterData: true};
  observer.observe(document, changes);
  addEventListener("scroll", check);
  check();
})"""
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
    # one process shows all pages, and keeps none that was left: a load takes half the CPU time
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
    "--disable-features=BackForwardCache,SpareRendererForSitePerProcess",
)
_FIELD = """[...document.querySelectorAll("label")]
  .find(each => each.textContent === %s).control"""
_BUTTON = """[...document.querySelectorAll("button, a, summary")]
  .find(each => each.textContent.trim() === %s && !each.disabled)"""


def find_chromium() -> str | None:
    """Find the system's Chromium, or another browser with the same protocol."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One page of a browser.

    Attributes:
        requested: the addresses of all requests.
        sent_headers: the headers of all requests, by lower-case names.
        complaints: what the console said: errors, exceptions, reports of the page's policy.
    """

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, os.fdopen(read, "rb")
        self._rest = b""
        self._last = 0
        self._session: str | None = None
        self.requested: list[str] = []
        self.sent_headers: list[dict[str, str]] = []
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol, and keep the events that arrive before its answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._last:
            self._keep(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def evaluate(self, expression: str) -> Any:
        """Evaluate an expression in the page; a promise is awaited."""
        result = self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.wait_for("document.querySelector('h1')")

    def wait_for(self, expression: str) -> Any:
        """Wait until an expression holds in the page."""
        return self.evaluate(_WAIT % (expression, _PATIENCE_MS))

    def wait_for_text(self, text: str) -> None:
        self.wait_for(f"document.body.innerText.includes({json.dumps(text)})")

    def fill(self, label: str, text: str) -> None:
        """Replace the text of the field with a label, as if it were typed."""
        field = _FIELD % json.dumps(label)
        self.wait_for(f"{field} !== null")
        self.evaluate(f"{field}.focus(), {field}.select()")
        self.call("Input.insertText", text=text)

    def choose(self, name: str, option: str) -> None:
        """Choose an option of the list with an accessible name."""
        field = f"document.querySelector('select[aria-label={json.dumps(name)}]')"
        self.wait_for(field)
        self.evaluate(f"{field}.value = {json.dumps(option)}")

    def press(self, text: str) -> None:
        found = _BUTTON % json.dumps(text)
        self.wait_for(found)
        self.evaluate(f"{found}.click()")

    def press_within(self, name: str, text: str) -> None:
        """Press a link of the navigation with an accessible name."""
        links = f"[...document.querySelectorAll('[aria-label={json.dumps(name)}] a')]"
        self.evaluate(f"{links}.find(each => each.textContent === {json.dumps(text)}).click()")

    def press_key(self, key: str, **modifiers: int) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        code = _KEY_CODES[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code} | modifiers
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def press_character(self, character: str) -> None:
        """Type one character where the focus is."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=character, text=character)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=character)

    def shown(self) -> str:
        return str(self.evaluate("document.body.innerText"))

    def get_busy_seconds(self) -> float:
        """Return the CPU time that the page's thread has taken for its tasks, so far."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

    def screenshot(self, path: Path, width: int, height: int, scheme: str) -> None:
        """Save what the page looks like at a size, in a colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = self._read.read1()
            assert more, "the browser has ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        document: dict[str, Any] = json.loads(message)
        return document

    def _keep(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requested.append(params["request"]["url"])
            case "Network.requestWillBeSentExtraInfo":
                names = {name.lower(): text for name, text in params["headers"].items()}
                self.sent_headers.append(names)
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.complaints.append(json.dumps(params["entry"]))


@contextmanager
def start_browser(profile: Path) -> Iterator[Browser]:
    """Start Chromium with a profile folder; it ends with the context."""
    chromium = find_chromium()
    assert chromium is not None
    to_browser, from_browser = os.pipe(), os.pipe()
    ends = (to_browser[0], from_browser[1])
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            _EXEC,
            *map(str, ends),
            chromium,
            *_OPTIONS,
            f"--user-data-dir={profile}",
        ],
        pass_fds=ends,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser[0])
    os.close(from_browser[1])
    try:
        browser = Browser(to_browser[1], from_browser[0])
        yield browser
        browser.call("Page.close")
    finally:
        os.close(to_browser[1])  # the browser ends with its pipe
        process.terminate()
        process.wait(10)
