"""Saves what each screen looks like with the demo's data: `python -m tests.console.screenshots`."""

import tempfile
from pathlib import Path

from tests.console.browser import Browser, start_browser
from tests.console.demo import Demo, write_demo
from tests.console.visit import Visit
from tests.contract.local_server import ROOT, running

FOLDER = ROOT / "docs/images/console"
_WIDTH, _HEIGHT = 1200, 860
_BUTTONS = {  # what a screen shows on demand
    "Run": "Show the run",
    "Replayable run": "Show what it saw",
    "States": "Show the value",
    "Episodes": "Show the episodes",
    "File": "Show what it holds",
}
_DARK = {"Agent", "Activity"}


def save_all() -> None:
    """Save a picture of each screen, as the demo's coordinator and its administrator see it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "data") as server,
        start_browser(Path(folder) / "profile") as browser,
        server.client() as admin,
    ):
        visit = Visit(browser, server, admin)
        _resize(browser)
        visit.start()
        _save(browser, "Sign in")
        _save_screens(visit, write_demo(server))
        _save_conflict(visit)


def _save_screens(visit: Visit, demo: Demo) -> None:
    for key in dict.fromkeys(demo.keys.values()):
        visit.sign_in(key)
        for title, address in demo.screens.items():
            if demo.key_of(title) == key:
                _open(visit, title, address)
                _save(visit.browser, title)


def _save_conflict(visit: Visit) -> None:
    """Change an entry while somebody edits it, and save what its editor sees."""
    entry = visit.make_entry("tone", {"text": "Write to customers formally"})
    visit.open_entry(entry)
    visit.browser.press("Edit")
    visit.browser.fill("Value, a JSON object", '{"text": "Write as you would speak"}')
    change = {"value": {"text": "Write short sentences"}}
    visit.admin.patch(f"/api/v1/memory/{entry['id']}", json=change, headers={"If-Match": "1"})
    visit.browser.press("Save")
    visit.browser.wait_for_text("Somebody else has changed the entry.")
    visit.browser.evaluate("document.querySelector('.editor').scrollIntoView()")
    _save(visit.browser, "Conflict")


def _open(visit: Visit, title: str, address: str) -> None:
    browser = visit.browser
    visit.go_to(title, address)
    if title in _BUTTONS:
        browser.press(_BUTTONS[title])
    if title == "Home":
        browser.fill("Ask memory", "who checks large invoices")
        browser.wait_for("document.querySelector('.answers > li')")
    visit.go_to(title, address)  # what the button loads is there, too


def _resize(browser: Browser) -> None:
    size = {"width": _WIDTH, "height": _HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **size)


def _save(browser: Browser, title: str) -> None:
    name = title.lower().replace(" ", "-")
    scheme = "dark" if title in _DARK else "light"
    browser.screenshot(FOLDER / f"{name}.png", _WIDTH, _HEIGHT, scheme)


if __name__ == "__main__":
    save_all()
