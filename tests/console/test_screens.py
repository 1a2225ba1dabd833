"""Contract §11: what the console's screens are for, done in a browser."""

import json

import pytest

from tests.console.visit import Visit
from tests.contract.expect import ok


def test_signing_in_shows_agents_and_namespaces(visit: Visit) -> None:
    browser = visit.sign_in()
    for text in ("agent_ada", "3 of 1,000 entries", "company.people", "admin (user) in default"):
        browser.wait_for_text(text)
    browser.press("Sign out")
    browser.wait_for_text("API key")
    assert "agent_ada" not in browser.evaluate("document.documentElement.innerHTML")


def test_a_wrong_key_is_refused_and_forgotten(visit: Visit) -> None:
    visit.statuses = (401,)
    visit.browser.fill("API key", "am_wrong")
    visit.browser.press("Sign in")
    visit.browser.wait_for_text("UNAUTHENTICATED")


def test_memory_is_filtered_by_the_address(visit: Visit) -> None:
    note = visit.make_entry("a key & a / slash", {"a": 1}, tags=["ümlaut"])
    visit.start("memory?tag=%C3%BCmlaut")
    visit.sign_in()
    visit.browser.wait_for_text("a key & a / slash")
    visit.browser.wait_for_text("1 shown.")
    visit.browser.press("a key & a / slash")
    visit.browser.wait_for_text(note["id"])
    visit.browser.wait_for_text('"a": 1')


def test_an_entry_is_changed_under_its_version(visit: Visit) -> None:
    entry = visit.make_entry("to change", {"rule": "old"})
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Edit")
    browser.fill("Value, a JSON object", '{"rule": 1.0, "big": 12345678901234567890}')
    browser.fill("Tags, one a line", "a, b\nc")
    browser.press("Save")
    browser.wait_for_text("12345678901234567890")
    stored = visit.admin.get(f"/api/v1/memory/{entry['id']}")
    assert '"value":{"rule":1.0,"big":12345678901234567890}' in stored.text
    assert (stored.json()["version"], stored.json()["tags"]) == (2, ["a, b", "c"])


def test_a_conflict_keeps_both_texts(visit: Visit) -> None:
    entry = visit.make_entry("contested", {"rule": "old"})
    path = f"/api/v1/memory/{entry['id']}"
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Edit")
    browser.fill("Value, a JSON object", '{"rule": "mine"}')
    ok(visit.admin.patch(path, json={"value": {"rule": "theirs"}}, headers={"If-Match": "1"}))
    visit.statuses = (409,)
    browser.press("Save")
    browser.wait_for_text("Somebody else has changed the entry.")
    browser.wait_for_text("theirs")
    assert browser.evaluate("document.querySelector('textarea').value") == '{"rule": "mine"}'
    assert visit.admin.get(path).json()["value"] == {"rule": "theirs"}
    browser.press("Write mine over version 2")
    browser.wait_for("document.querySelector('pre')?.textContent.includes('mine')")
    assert visit.admin.get(path).json()["version"] == 3


@pytest.mark.parametrize("text", ["[1]", "{", '"text"'])
def test_a_value_that_is_no_object_is_not_sent(visit: Visit, text: str) -> None:
    entry = visit.make_entry(f"unchanged {text}", {"rule": "old"})
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Edit")
    browser.fill("Value, a JSON object", text)
    browser.press("Save")
    browser.wait_for("document.querySelector('[role=alert]')")
    assert visit.admin.get(f"/api/v1/memory/{entry['id']}").json()["version"] == 1


def test_deleting_asks_first(visit: Visit) -> None:
    entry = visit.make_entry("to delete", {"rule": "old"})
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Delete…")
    browser.wait_for_text("Nobody can bring it back.")
    browser.press("Cancel")
    browser.wait_for("!document.querySelector('dialog')")
    browser.press("Delete…")
    browser.press("Delete for good")
    browser.wait_for_text("The entry is deleted.")
    assert visit.admin.get(f"/api/v1/memory/{entry['id']}").status_code == 404


def test_the_timeline_shows_the_newest_first_and_follows(visit: Visit) -> None:
    visit.make_entry("first of two", {})
    visit.start("timeline?log=namespace&name=company.style")
    browser = visit.sign_in()
    browser.wait_for_text("first of two")
    visit.make_entry("second of two", {})
    browser.wait_for_text("second of two")
    shown = browser.shown()
    assert shown.index("second of two") < shown.index("first of two")
    assert browser.evaluate("document.querySelectorAll('svg rect title').length") > 0


def test_all_can_be_done_by_keyboard(visit: Visit) -> None:
    browser = visit.browser
    browser.call("Input.insertText", text=visit.server.api_key)  # the field has the focus
    browser.press_key("Enter")
    browser.wait_for_text("company.people")
    for _ in range(20):
        browser.press_key("Tab")
        if browser.evaluate("document.activeElement.innerText") == "Memory":
            break
    browser.press_key("Enter")
    browser.wait_for(
        "document.activeElement.innerText === 'Memory' && document.activeElement.tagName === 'H1'"
    )


def test_every_field_has_a_label_and_every_screen_one_heading(visit: Visit) -> None:
    browser = visit.sign_in()
    for screen in ("", "memory", "timeline"):
        browser.evaluate(f"location.hash = '#/{screen}'")
        browser.wait_for(f"location.hash === '#/{screen}' && document.querySelector('h1')")
        fields = "[...document.querySelectorAll('input,select,textarea')]"
        unnamed = f"{fields}.filter(each => !each.labels.length).length"
        assert browser.evaluate(unnamed) == 0
        assert browser.evaluate("document.querySelectorAll('h1').length") == 1


def test_nothing_is_wider_than_a_phone(visit: Visit) -> None:
    browser = visit.sign_in()
    size = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    for screen in ("", "memory", "timeline"):
        browser.evaluate(f"location.hash = '#/{screen}'")
        browser.wait_for("document.querySelector('[role=status]')")
        assert browser.evaluate("document.documentElement.scrollWidth") <= 320, screen
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_json_escapes_show_what_is_invisible(visit: Visit) -> None:
    text = "abc\u202edef"
    entry = visit.make_entry(f"hidden {text}", {"text": text})
    browser = visit.sign_in()
    visit.open_entry(entry)
    shown = browser.shown()
    assert "\u202e" not in shown
    assert json.dumps({"text": text}, indent=2) in shown
    assert "hidden abc\\u202edef" in shown
