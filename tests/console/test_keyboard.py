"""All main uses without a pointer (WCAG 2.2, 2.1.1 and 2.4.3)."""

import json

from tests.console.browser import Browser
from tests.console.demo import Demo
from tests.console.visit import Visit
from tests.contract.expect import ok


def test_one_signs_in_and_finds_a_screen_by_keyboard(visit: Visit) -> None:
    visit.start()
    browser = visit.browser
    browser.call("Input.insertText", text=visit.server.api_key)  # the field has the focus
    browser.press_key("Enter")
    browser.wait_for_text("Recent activity")
    _press(browser, "Knowledge")
    browser.wait_for(
        "document.activeElement.innerText === 'Memories' && document.activeElement.tagName === 'H1'"
    )


def test_an_entry_is_found_and_changed_by_keyboard(visit: Visit) -> None:
    entry = visit.make_entry("changed by keys", {"a": 1}, tags=["keys"])
    browser = visit.sign_in(screen="memory")
    _tab_until(browser, "document.activeElement.ariaLabel === 'Add a filter'")
    browser.call("Input.insertText", text="tag:keys")
    browser.press_key("Enter")
    browser.wait_for_text("1 result")
    _press(browser, "a: 1")
    browser.wait_for_text('"a": 1')
    _press(browser, "Edit")
    browser.wait_for("document.activeElement.tagName === 'TEXTAREA'")
    browser.evaluate("document.activeElement.select()")
    browser.call("Input.insertText", text='{"a": 2}')
    _press(browser, "Save")
    browser.wait_for_text('"a": 2')
    assert ok(visit.admin.get(f"/api/v1/memory/{entry['id']}"))["value"] == {"a": 2}


def test_an_entry_is_deleted_by_keyboard(visit: Visit) -> None:
    entry = visit.make_entry("deleted by keys", {"a": 1})
    browser = visit.sign_in()
    visit.open_entry(entry)
    _press(browser, "Delete…")
    browser.wait_for("document.activeElement.innerText === 'Cancel'")
    browser.press_key("Escape")
    browser.wait_for("!document.querySelector('dialog')")
    assert browser.evaluate("document.activeElement.innerText") == "Delete…"
    browser.press_key("Enter")
    browser.wait_for("document.activeElement.innerText === 'Cancel'")
    _press(browser, "Delete permanently")
    browser.wait_for_text("The memory is deleted.")


def test_permissions_are_changed_by_keyboard(visit: Visit) -> None:
    path = "/api/v1/memory/namespaces/company.keys"
    ok(visit.admin.patch(path, json={"permissions": {"default": "read"}}))
    browser = visit.sign_in(screen="namespace/company.keys")
    browser.wait_for_text("everyone else")
    _tab_until(browser, "document.activeElement.ariaLabel === 'Access of everyone else'")
    browser.press_key("ArrowDown")
    _press(browser, "Change…")
    browser.wait_for_text("everyone else: read → write")
    _press(browser, "Change")
    browser.wait_for("!document.querySelector('dialog')")
    assert ok(visit.admin.get(path))["permissions"]["default"] == "write"


def test_keys_are_made_and_rotated_by_keyboard(visit: Visit) -> None:
    browser = visit.sign_in(screen="principals")
    _tab_to_field(browser, "New principal")
    browser.call("Input.insertText", text="made by keys")
    browser.press_key("Enter")
    browser.wait_for_text("it is not shown again")
    _press(browser, "I have copied it")
    browser.wait_for("""document.querySelector('[aria-label="Rotate the key of made by keys"]')""")
    _tab_until(browser, "document.activeElement.ariaLabel === 'Rotate the key of made by keys'")
    browser.press_key("Enter")
    browser.wait_for("document.activeElement.innerText === 'Cancel'")
    _press(browser, "Create a new key")
    browser.wait_for_text("it is not shown again")
    _press(browser, "Sign out")
    browser.wait_for_text("API key")


_USES = (  # a screen, what is pressed or typed there, and what is shown then
    ("Home", "Ask memory", "Was promised a refund"),
    ("Agent", "Evicted next", "Pinned memories are never evicted."),
    ("Task", "Context at start", "Shared memory (10)"),
    ("Run", "Show the run", "Episodes, newest first"),
    ("Replayable run", "Show what it saw", "<REDACTED:card>"),
    ("States", "Show the value", "German"),
    ("File", "Show the content", "customer,refund"),
)


def test_screens_are_used_by_keyboard(visit: Visit, demo: Demo) -> None:
    browser = visit.sign_in()
    for title, pressed, shown in _USES:
        visit.go_to(title, demo.screens[title])
        if title == "Home":
            _tab_to_field(browser, pressed)
            browser.call("Input.insertText", text="promised refund")
        else:
            _press(browser, pressed)
        lower = json.dumps(shown.lower())
        browser.wait_for(f"document.body.innerText.toLowerCase().includes({lower})")


def _press(browser: Browser, text: str) -> None:
    _tab_until(browser, f"document.activeElement.innerText === {json.dumps(text)}")
    browser.press_key("Enter")


def _tab_to_field(browser: Browser, label: str) -> None:
    _tab_until(browser, f"document.activeElement.labels?.[0]?.innerText === {json.dumps(label)}")


def _tab_until(browser: Browser, condition: str) -> None:
    for _ in range(200):  # an overview has links for each agent
        browser.press_key("Tab")
        if browser.evaluate(condition):
            return
    raise AssertionError(f"Tab doesn't reach {condition}")
