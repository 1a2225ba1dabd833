"""WCAG 2.2 AA of the sign-in and of each dialog, by axe-core; for screens: `test_each_screen`."""

from collections.abc import Iterator

from tests.console.axe import find_violations
from tests.console.demo import Demo
from tests.console.visit import Visit
from tests.contract.expect import ok


def test_sign_in_and_dialogs_violate_no_rule_of_axe(visit: Visit, demo: Demo) -> None:
    visit.start()
    assert find_violations(visit.browser) == {}
    visit.statuses = (401, 409)
    visit.browser.fill("API key", "am_wrong")
    visit.browser.press("Sign in")
    visit.browser.wait_for_text("UNAUTHENTICATED")
    assert find_violations(visit.browser) == {}
    visit.sign_in()
    for name in _open_dialogs(visit, demo):
        assert find_violations(visit.browser) == {}, name


def _open_dialogs(visit: Visit, demo: Demo) -> Iterator[str]:
    """Open each dialog and form that a screen shows on demand; yield what is open."""
    yield from _open_editor(visit)
    yield from _open_changes(visit, demo)
    yield from _open_keys(visit)
    ok(visit.admin.put("/api/v1/objects/axe/k", content=b"x"), 201)
    visit.go_to("File", "object?space=axe&key=k")
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
    browser.fill("Value (a JSON object)", "{1}")
    browser.press("Save")
    browser.wait_for_text("The value is not valid JSON")
    yield "a value that is not valid JSON"
    browser.fill("Value (a JSON object)", '{"rule": "mine"}')
    browser.press("Save")
    browser.wait_for_text("Someone else changed this memory.")
    yield "a conflict"


def _open_changes(visit: Visit, demo: Demo) -> Iterator[str]:
    browser = visit.browser
    visit.go_to("Namespace", demo.screens["Namespace"])
    browser.choose("Access of everyone else", "none")
    browser.press("Change…")
    yield "change permissions"
    browser.press("Cancel")
    visit.go_to("Guardrails", demo.screens["Guardrails"])
    browser.fill("Most episodic memories of an agent", "7")
    browser.press("Change…")
    yield "change guardrails"
    browser.press("Cancel")


def _open_keys(visit: Visit) -> Iterator[str]:
    browser = visit.browser
    visit.go_to("Keys", "principals")
    for button in ("Rotate…", "Revoke…"):
        browser.press(button)
        yield button
        browser.press("Cancel")
    browser.fill("New principal", "shown to axe")
    browser.press("Create")
    browser.wait_for_text("it is not shown again")
    yield "a new key"
