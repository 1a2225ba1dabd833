"""Each screen, visited once: what it shows, asks for and offers, and WCAG 2.2 AA by axe-core."""

import json

import pytest

from tests.console.axe import find_violations
from tests.console.browser import Browser
from tests.console.demo import Demo
from tests.console.visit import Visit

_SHOWN = {
    "Home": ["remembered", "Needs attention"],
    "People": ["ada", "ben", "chen"],
    "Person": ["35 memories", "13 conversations"],
    "Conversation": ["The line has been down since seven this morning."],
    "States": ["language"],
    "Agents": ["12 of 12 memories"],
    "Agent": ["18 of 1,000 memories", "Agree on a time before calling back"],
    "Procedures": ["measure-first", "restart-first"],
    "Replayable runs": ["ended", "run_"],
    "Replayable run": ["ended", "Show what it saw"],
    "Task": ["billing", "progress"],
    "Intent": ["Refund affected customers", "→ billing", "archived"],
    "Board": ["Refund affected customers", "waits for the billing run", "failed"],
    "Namespaces": ["users/", "policies"],
    "Permissions": ["lead may write, and give access to policies."],
    "Strategies": ["learns what people prefer"],
    "Usage": ["put_conversation", "estimated cost of this month"],
    "Namespace": ["everyone else", "yes: read access to the namespace"],
    "Facts": ["Graz depot", "learned 2 times", "has service level"],
    "Fact": ["Fibre 500", "Fibre 100"],
    "Files": ["reports", "lead"],
    "Space": ["outage/refunds.csv", "text/csv", "everyone else"],
    "Guardrails": ["80", "payroll"],
    "Audit": ["task.change", "lead (coordinator)"],
}
_PARTS = {  # of screens, beside the one that they show first
    "Person": tuple(f"person/ada?show={each}" for each in ("facts", "conversations", "timeline")),
    "Agent": ("agent/billing?show=eviction", "agent/billing?show=next", "agent/billing?show=tasks"),
    "Task": tuple(
        f"task/task_refund-affected-customers?show={each}" for each in ("context", "grants")
    ),
    "Intent": ("intent/march-outage?show=access", "intent/march-outage?show=entries"),
    "Procedures": ("procedures", "procedures?agent_type=support"),
}
_MOVING = """[...document.querySelectorAll("*")].filter(each => {
  const style = getComputedStyle(each);
  return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
}).length"""  # without motion, the page needs no rule for reduced motion
_UNNAMED = """[...document.querySelectorAll("input,select,textarea")]
  .filter(each => !each.labels.length && !each.ariaLabel).length"""
_TYPED = """[...document.querySelectorAll("input[required]")]
  .filter(each => !each.list?.options.length).map(each => each.labels[0].innerText)"""
_NEW = ["New principal"]  # it does not exist yet, so that no list offers it
_DANGEROUS = "[...document.querySelectorAll('button.danger')].map(each => each.textContent)"
_PHONE = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False}


@pytest.mark.parametrize("half", [0, 1])
def test_a_screen_shows_what_is_stored(
    visit: Visit, demo: Demo, half: int, subtests: pytest.Subtests
) -> None:
    """Visit each screen of the demo, with all of its parts, under the key of a new user."""
    browser = visit.sign_in()
    for title in [*demo.screens][half::2]:
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
