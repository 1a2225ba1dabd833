"""Measure the pages of the built site in the system's Chromium, at the widths of laptop and phone.

A page loads the others in frames of these widths, without their scripts, and reports each part that
needs more space than its frame has.
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path

WIDTHS = (1280, 390)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PAGES_AT_ONCE = 12
_PATIENCE = 120  # seconds for a batch of pages
_MEASURE = """
addEventListener("load", () => {
  const found = [];
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, width = frame.clientWidth;
    const parts = [page.documentElement, ...page.querySelectorAll("article table, article img")];
    for (const part of parts) {
      const space = part === page.documentElement ? width : part.clientWidth || width;
      if (part.scrollWidth > space + 1) {
        const what = part === page.documentElement ? "the page" : part.tagName.toLowerCase();
        const needs = `${what} needs ${part.scrollWidth} pixels of ${space}`;
        found.push(`${frame.dataset.name} at ${width}: ${needs}`);
      }
    }
  }
  const report = Object.assign(document.createElement("pre"), {textContent: JSON.stringify(found)});
  document.body.replaceChildren(report);
});
"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site and the measuring page, without logs."""

    measuring = ""

    def do_GET(self) -> None:
        if self.path != "/measure":
            super().do_GET()
            return
        body = self.measuring.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def find_browser() -> str | None:
    """Find the system's Chromium; None if there is none."""
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def find_wide_pages(site: Path, browser: str) -> Iterator[str]:
    """Yield each page that is wider than its window, with the part that needs the space."""
    handler = functools.partial(_Quiet, directory=str(site))
    names = sorted(each.relative_to(site).as_posix() for each in site.rglob("*.html"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for start in range(0, len(names), _PAGES_AT_ONCE):
            _Quiet.measuring = _render_measuring(names[start : start + _PAGES_AT_ONCE])
            yield from _measure(browser, f"http://127.0.0.1:{server.server_port}/measure")
        server.shutdown()


def _render_measuring(names: list[str]) -> str:
    frames = "".join(
        f'<iframe src="/{name}" data-name="{name}" sandbox="allow-same-origin"'
        f' style="border: 0; height: 800px; width: {width}px"></iframe>'
        for name in names
        for width in WIDTHS
    )
    return f"<!doctype html><body>{frames}<script>{_MEASURE}</script></body>"


def _measure(browser: str, address: str) -> list[str]:
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless", "--disable-gpu", f"--user-data-dir={profile}"]
        if os.geteuid() == 0:  # Chromium's sandbox rejects root
            options.append("--no-sandbox")
        command = [browser, *options, "--dump-dom", address]
        ended = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=True)  # noqa: S603
    (found,) = re.findall(r"<pre>(.*?)</pre>", ended.stdout.decode(), re.DOTALL)
    pages: list[str] = json.loads(unescape(found))
    return pages
