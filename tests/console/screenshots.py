"""Saves what each screen looks like with the demo's data: `python -m tests.console.screenshots`."""

import tempfile
from pathlib import Path

from tests.console.browser import Browser, start_browser
from tests.console.demo import Demo, write_demo
from tests.console.visit import Visit
from tests.contract.local_server import ROOT, running

IMAGES = ROOT / "docs/images"
FOLDER = IMAGES / "console"
PLACES = ("Home", "Person", "Agent", "Board", "Facts", "Permissions")
_DESKTOP, _PHONE = (1200, 860), (390, 844)
_BUTTONS = {  # what a screen shows on demand
    "Memory": "Show the value",
    "Run": "Show the run",
    "Replayable run": "Show what it saw",
    "States": "Show the value",
    "Episodes": "Show the episodes",
    "File": "Show the content",
}
_QUESTION = "What did we promise Ada?"


def save_all() -> None:
    """Save a picture of each screen as the administrator sees it; of places four."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "data") as server,
        start_browser(Path(folder) / "profile") as browser,
        server.client() as admin,
    ):
        visit = Visit(browser, server, admin)
        _resize(browser, _DESKTOP)
        visit.start()
        browser.screenshot(FOLDER / "sign-in.png", *_DESKTOP, "light")
        demo = write_demo(server)
        visit.sign_in()
        _save_screens(visit, demo)
        for title in PLACES:
            _save_place(visit, title, demo.screens[title])
        _save_answer(visit)
        _save_conflict(visit)


def _save_screens(visit: Visit, demo: Demo) -> None:
    for title, address in demo.screens.items():
        visit.go_to(title, address)
        if title in _BUTTONS:
            visit.browser.press(_BUTTONS[title])
            visit.go_to(title, address)  # what the button loads is there, too
        _save(visit.browser, title, _DESKTOP, "light")


def _save_place(visit: Visit, title: str, address: str) -> None:
    """Save a place on a desktop and on a phone, in light and dark."""
    for size, suffix in ((_DESKTOP, ""), (_PHONE, " phone")):
        _resize(visit.browser, size)
        visit.go_to(title, address)
        _save(visit.browser, f"{title}{suffix}", size, "light")
        _save(visit.browser, f"{title}{suffix} dark", size, "dark")
    _resize(visit.browser, _DESKTOP)


def _save_answer(visit: Visit) -> None:
    """Save Home with an answered question, which README shows."""
    visit.go_to("Home", "")
    visit.browser.fill("Ask memory", _QUESTION)
    visit.browser.wait_for("document.querySelector('.answers > li')")
    visit.browser.screenshot(IMAGES / "console-home.png", *_DESKTOP, "light")


def _save_conflict(visit: Visit) -> None:
    """Change an entry while somebody edits it, and save what its editor sees."""
    entry = visit.make_entry("tone", {"text": "Write to customers formally"})
    visit.open_entry(entry)
    visit.browser.press("Edit")
    visit.browser.fill("Value (a JSON object)", '{"text": "Write as you would speak"}')
    change = {"value": {"text": "Write short sentences"}}
    visit.admin.patch(f"/api/v1/memory/{entry['id']}", json=change, headers={"If-Match": "1"})
    visit.browser.press("Save")
    visit.browser.wait_for_text("Someone else changed this memory.")
    visit.browser.evaluate("document.querySelector('.editor').scrollIntoView()")
    _save(visit.browser, "Conflict", _DESKTOP, "light")


def _resize(browser: Browser, size: tuple[int, int]) -> None:
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **metrics)


def _save(browser: Browser, title: str, size: tuple[int, int], scheme: str) -> None:
    name = title.lower().replace(" ", "-").replace("?", "")
    browser.screenshot(FOLDER / f"{name}.png", *size, scheme)


if __name__ == "__main__":
    save_all()
