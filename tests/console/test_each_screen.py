"""Each screen, visited once: what it shows, asks for and offers, and WCAG 2.2 AA by axe-core."""

import json

import pytest

from tests.console.axe import find_violations
from tests.console.browser import Browser
from tests.console.demo import Demo
from tests.console.visit import Visit

_SHOWN = {
    "Agent": ["1 of 1,000 entries", "INV-1043", "rounding"],
    "Intent": ["Read invoices", "→ checker", "archived"],
    "Namespace": ["everybody else", "yes: write access to the namespace"],
    "Facts": ["Acme GmbH", "learned 2 times", "day first"],
    "Procedures": ["0.740 ± 0.179", "totals-first"],
    "States": ["language"],
    "Replayable runs": ["ended", "run_"],
    "Replayable run": ["ended", "Show what it saw"],
    "Task": ["checker", "progress", "updated"],
    "Files": ["reports", "planner"],
    "Space": ["2026/10.csv", "text/csv", "everybody else"],
    "Home": ["remembered", "Needs attention"],
    "People": ["customer-7", "French"],
    "Conversation": ["Did you get invoice INV-1042?"],
    "Guardrails": ["80", "salaries"],
    "Audit": ["task.change", "planner (coordinator)"],
}
_PARTS = {  # of screens, beside the one that they show first
    "Person": ("person/customer-7?show=facts", "person/customer-7?show=conversations"),
    "Agent": ("agent/checker?show=eviction", "agent/checker?show=next", "agent/checker?show=tasks"),
    "Task": ("task/task_check-invoices?show=context", "task/task_check-invoices?show=grants"),
    "Intent": ("intent/close-the-month?show=access", "intent/close-the-month?show=entries"),
    "Procedures": ("workflows", "workflows?agent_type=invoice-checker"),
}
_MOVING = """[...document.querySelectorAll("*")].filter(each => {
  const style = getComputedStyle(each);
  return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
}).length"""  # nothing moves by itself, so nobody has to ask for less motion
_UNNAMED = """[...document.querySelectorAll("input,select,textarea")]
  .filter(each => !each.labels.length && !each.ariaLabel).length"""
_TYPED = """[...document.querySelectorAll("input[required]")]
  .filter(each => !each.list?.options.length).map(each => each.labels[0].innerText)"""
_NEW = [  # what nobody can list
    "New principal’s id",  # noqa: RUF001 - as the page has it
    "Run’s id",  # noqa: RUF001
]
_DANGEROUS = "[...document.querySelectorAll('button.danger')].map(each => each.textContent)"
_PHONE = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False}


@pytest.mark.parametrize("who", ["admin", "planner", "reader"])
def test_a_screen_shows_what_is_stored_to_everybody(
    visit: Visit, demo: Demo, who: str, subtests: pytest.Subtests
) -> None:
    """Visit the screens of which one principal sees most, with all of their parts."""
    key = demo.keys[who]
    browser = visit.sign_in(key)
    for title in (each for each in demo.screens if demo.key_of(each) == key):
        for address in (demo.screens[title], *_PARTS.get(title, ())):
            with subtests.test(address):
                visit.go_to(title, address)
                for text in _SHOWN.get(title, ()) if address == demo.screens[title] else ():
                    browser.wait_for_text(text)
                # what can be listed is chosen, not typed
                browser.wait_for(f"{_TYPED}.every(each => {json.dumps(_NEW)}.includes(each))")
                _assert_plain(browser)
                assert find_violations(browser) == {}


def _assert_plain(browser: Browser) -> None:
    """Assert one heading, names, no motion, room on a phone, no deletion of several things."""
    assert browser.evaluate("document.querySelectorAll('h1').length") == 1
    assert browser.evaluate(_UNNAMED) == 0
    assert browser.evaluate(_MOVING) == 0
    dangerous = browser.evaluate(_DANGEROUS)
    assert all(
        each.startswith(("Delete…", "Rotate", "Revoke", "Forget this person…"))
        for each in dangerous
    )
    browser.call("Emulation.setDeviceMetricsOverride", **_PHONE)
    width = browser.evaluate("document.documentElement.scrollWidth")
    browser.call("Emulation.clearDeviceMetricsOverride")
    assert width <= _PHONE["width"]
