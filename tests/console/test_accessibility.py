"""WCAG 2.2 AA on each screen, by axe-core, in light and dark, and on a phone."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.console.demo import Demo
from tests.console.visit import Visit
from tests.contract.expect import ok
from tests.contract.local_server import ROOT

_AXE = ROOT / "node_modules/axe-core/axe.min.js"
_LIGHT = {"resultTypes": ["violations"]}
_DARK = _LIGHT | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
_FIND = """axe.run(document, %s).then(({violations}) => JSON.stringify(
  violations.map(({id, nodes}) => [id, nodes.slice(0, 3).map(each => each.html)])))"""
_PARTS = {  # of screens, beside the one that they show first
    "Agent": ("agent/checker?show=eviction", "agent/checker?show=tasks"),
    "Task": ("task/task_check-invoices?show=context", "task/task_check-invoices?show=grants"),
    "Intent": ("intent/close-the-month?show=access", "intent/close-the-month?show=entries"),
    "Workflows": ("workflows", "workflows?agent_type=invoice-checker"),
}
_MOVING = """[...document.querySelectorAll("*")].filter(each => {
  const style = getComputedStyle(each);
  return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
}).length"""  # nothing moves by itself, so nobody has to ask for less motion
_UNNAMED = """[...document.querySelectorAll("input,select,textarea")]
  .filter(each => !each.labels.length && !each.ariaLabel).length"""


@pytest.fixture(params=["admin", "planner", "reader"])
def screens(visit: Visit, demo: Demo, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The screens of which one principal sees most; it is signed in."""
    key = demo.keys[request.param]
    visit.sign_in(key)
    yield [title for title in demo.screens if demo.key_of(title) == key]
    visit.browser.call("Emulation.clearDeviceMetricsOverride")


@pytest.fixture
def audit(visit: Visit) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Gives what axe finds in the page as it is, light and dark, by a name."""
    if not _AXE.is_file():
        pytest.skip("axe-core is not installed; make test installs it")
    axe = _AXE.read_text(encoding="utf-8") + "; true"

    def find_violations(name: str) -> dict[str, Any]:
        if visit.browser.evaluate("typeof axe") == "undefined":
            visit.browser.evaluate(axe)
        found: dict[str, Any] = {}
        for scheme, options in (("light", _LIGHT), ("dark", _DARK)):
            _set_scheme(visit, scheme)
            violations = json.loads(visit.browser.evaluate(_FIND % json.dumps(options)))
            found |= {f"{name}, {scheme}": violations} if violations else {}
        return found

    yield find_violations
    visit.browser.call("Emulation.setEmulatedMedia", features=[])


def test_no_screen_violates_a_rule_of_axe(
    visit: Visit, demo: Demo, screens: list[str], audit: Callable[[str], dict[str, Any]]
) -> None:
    found: dict[str, Any] = {}
    for title in screens:
        for address in (demo.screens[title], *_PARTS.get(title, ())):
            visit.go_to(title, address)
            found |= audit(address)
    assert found == {}


def test_sign_in_and_dialogs_violate_no_rule_of_axe(
    visit: Visit, demo: Demo, audit: Callable[[str], dict[str, Any]]
) -> None:
    found = audit("sign in")
    visit.statuses = (401, 409)
    visit.browser.fill("API key", "am_wrong")
    visit.browser.press("Sign in")
    visit.browser.wait_for_text("UNAUTHENTICATED")
    found |= audit("refused sign in")
    visit.sign_in()
    for name in _open_dialogs(visit, demo):
        found |= audit(name)
    assert found == {}


def _open_dialogs(visit: Visit, demo: Demo) -> Iterator[str]:
    """Open each dialog and form that a screen shows on demand; yield what is open."""
    yield from _open_editor(visit)
    yield from _open_changes(visit, demo)
    yield from _open_keys(visit)
    ok(visit.admin.put("/api/v1/objects/axe/k", content=b"x"), 201)
    visit.go_to("Object", "object?space=axe&key=k")
    visit.browser.press("Delete…")
    yield "delete an object"


def _open_editor(visit: Visit) -> Iterator[str]:
    browser = visit.browser
    entry = visit.make_entry("looked at by axe", {"rule": "old"})
    visit.open_entry(entry)
    browser.press("Delete…")
    yield "delete an entry"
    browser.press("Cancel")
    browser.press("Edit")
    yield "edit an entry"
    path = f"/api/v1/memory/{entry['id']}"
    ok(visit.admin.patch(path, json={"value": {}}, headers={"If-Match": "1"}))
    browser.fill("Value, a JSON object", "{1}")
    browser.press("Save")
    browser.wait_for_text("no JSON")
    yield "a value that is no JSON"
    browser.fill("Value, a JSON object", '{"rule": "mine"}')
    browser.press("Save")
    browser.wait_for_text("Somebody else has changed the entry.")
    yield "a conflict"


def _open_changes(visit: Visit, demo: Demo) -> Iterator[str]:
    browser = visit.browser
    visit.go_to("Namespace", demo.screens["Namespace"])
    browser.choose("Access of everybody else", "none")
    browser.press("Change…")
    yield "change permissions"
    browser.press("Cancel")
    visit.go_to("Guardrails", demo.screens["Guardrails"])
    browser.fill("Episodic entries of an agent, at most", "7")
    browser.press("Change…")
    yield "change guardrails"
    browser.press("Cancel")


def _open_keys(visit: Visit) -> Iterator[str]:
    browser = visit.browser
    visit.go_to("Principals", "principals")
    for button in ("Rotate…", "Revoke…"):
        browser.press(button)
        yield button
        browser.press("Cancel")
    browser.fill("New principal’s id", "shown to axe")  # noqa: RUF001 - as the page has it
    browser.press("Create")
    browser.wait_for_text("It is shown this once")
    yield "a new key"


def test_no_screen_is_wider_than_a_phone(visit: Visit, demo: Demo, screens: list[str]) -> None:
    size = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False}
    visit.browser.call("Emulation.setDeviceMetricsOverride", **size)
    for title in screens:
        for address in (demo.screens[title], *_PARTS.get(title, ())):
            visit.go_to(title, address)
            assert visit.browser.evaluate("document.documentElement.scrollWidth") <= 320, address


def test_each_screen_has_one_heading_and_labels_and_nothing_moves(
    visit: Visit, demo: Demo, screens: list[str]
) -> None:
    for title in screens:
        visit.go_to(title, demo.screens[title])
        assert visit.browser.evaluate("document.querySelectorAll('h1').length") == 1
        assert visit.browser.evaluate(_UNNAMED) == 0, title
        assert visit.browser.evaluate(_MOVING) == 0, title


def _set_scheme(visit: Visit, scheme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    visit.browser.call("Emulation.setEmulatedMedia", features=[feature])
