"""Act as a visitor of the console, and as other clients of the API at the same time."""

import json
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.console.browser import Browser
from tests.contract.expect import ok
from tests.contract.local_server import LocalServer

_IS_LOADED = """![...document.querySelectorAll("[role=status]")]
  .some(each => each.innerText.includes("Loading…"))"""
SECRET = "the-band-that-nobody-asked-for"


@dataclass
class Visit:
    """A browser on the console, and a client with an administrator's key.

    Attributes:
        statuses: of failed requests that the test provokes; browsers report each.
    """

    browser: Browser
    server: LocalServer
    admin: httpx.Client
    statuses: tuple[int, ...] = field(default=())

    def start(self, screen: str = "") -> None:
        """Reload the page, signed out."""
        self.browser.call("Page.navigate", url="about:blank")
        self.browser.open(f"{self.server.address}/console#/{screen}")

    def sign_in(self, api_key: str | None = None, screen: str = "") -> Browser:
        """Reload a screen, and sign in as the administrator or with another key."""
        self.start(screen)
        self.browser.fill("API key", api_key or self.server.api_key)
        self.browser.press("Sign in")
        self.browser.wait_for("document.querySelector('header')")
        return self.browser

    def go_to(self, title: str, address: str) -> None:
        """Go to a screen by its address, and wait until it shows what it loads."""
        self.browser.evaluate(f"location.hash = {json.dumps('#/' + address)}")
        self.browser.wait_for(f"document.querySelector('h1')?.innerText === {json.dumps(title)}")
        self.browser.wait_for(_IS_LOADED)

    def make_entry(self, key: str, value: Any, **fields: Any) -> dict[str, Any]:
        """Write an entry that everybody may read."""
        body = {"namespace": "company.style", "key": key, "memory_type": "semantic"}
        content = json.dumps(body | {"value": value} | fields).encode()
        headers = {"Content-Type": "application/json"}
        made: dict[str, Any] = ok(
            self.admin.post("/api/v1/memory", content=content, headers=headers), 201
        )
        return made

    def open_entry(self, entry: dict[str, Any]) -> None:
        self.browser.evaluate(f"location.hash = '#/memory?namespace={entry['namespace']}'")
        self.browser.wait_for(f"document.querySelector('a[href=\"#/entry/{entry['id']}\"]')")
        self.browser.evaluate(f"location.hash = '#/entry/{entry['id']}'")
        self.browser.wait_for("document.querySelector('aside h2')?.innerText === 'Value'")

    def is_expected(self, complaint: str) -> bool:
        """Tell whether the browser reports a failed request that the test provoked."""
        return any(f"status of {status} " in complaint for status in self.statuses)
