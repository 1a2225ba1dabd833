"""The ten interactions of the console: by mouse, by keyboard alone, and by a finger on a phone."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.console.demo import Demo
from tests.console.person import DESKTOP, PHONE, Person
from tests.console.visit import Visit
from tests.contract.expect import ok

_COPIED = "window.copied = ''; navigator.clipboard.writeText = async text => { copied = text }"
_WIDE = "document.documentElement.scrollWidth - innerWidth"
_SOURCES = "new Set([...document.querySelectorAll('.answers .badge')].map(e => e.dataset.source))"
_CENTER = "(it => [it.left + it.width / 2, it.top + it.height / 2])((%s).getBoundingClientRect())"
_BY_POINTER = pytest.mark.parametrize("person", ["mouse", "finger"], indirect=True)
_BY_KEYBOARD = pytest.mark.parametrize("person", ["keyboard"], indirect=True)
_QUICK_KEYS = """["Enter", "ArrowUp"].forEach(code => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", {code, key: code, bubbles: true, cancelable: true})))"""


@pytest.fixture(params=["mouse", "keyboard", "finger"])
def person(request: pytest.FixtureRequest, visit: Visit, demo: Demo) -> Iterator[Person]:
    """Somebody who is signed in as the administrator, and what they use."""
    assert demo.screens
    is_phone = request.param == "finger"
    browser = visit.browser
    browser.call("Emulation.setDeviceMetricsOverride", **(PHONE if is_phone else DESKTOP))
    browser.call("Emulation.setTouchEmulationEnabled", enabled=is_phone)
    visit.sign_in()
    yield Person(browser, request.param)
    width = browser.evaluate(_WIDE)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
    browser.call("Emulation.clearDeviceMetricsOverride")
    assert width <= 0  # nothing scrolls sideways


def test_1_a_slash_asks_from_anywhere(visit: Visit, person: Person) -> None:
    browser = person.browser
    visit.go_to("Audit", "audit")
    if person.is_on_phone:
        person.press_first(".ask-button")
    else:
        browser.press_character("/")
    browser.wait_for("document.activeElement.matches('[role=dialog] input[type=search]')")
    person.type("ada refund")
    browser.wait_for(f"{_SOURCES}.size >= 2")  # mixed, each with its place
    person.see("users/ada/memory")
    person.type(" promised")
    browser.wait_for("document.querySelector('.answers').innerText.includes('was promised')")
    person.press_first(".answers > li a")
    browser.wait_for("!document.querySelector('[role=dialog]')")
    browser.wait_for("location.hash !== '#/audit'")


def test_2_a_memory_says_where_it_is_from(visit: Visit, person: Person) -> None:
    visit.go_to("Agent", "agent/frontline?tags=lesson")
    if person.is_on_phone:
        person.press("Agree on a time before calling back")
        person.see("happened ")
    else:
        query = "agent_id=frontline&memory_type=episodic&key=callback"
        (lesson,) = ok(visit.admin.get(f"/api/v1/memory?{query}"))["entries"]
        person.look_at(f"li:has(a[href='#/entry/{lesson['id']}']) .origin")
        person.browser.wait_for("document.querySelector('.origin-card')")
        person.see("Speaks of")
    person.see("Used in 3 answers, last ")
    if person.uses == "mouse":
        person.press_at(*person.browser.evaluate(_CENTER % "document.querySelector('.uses a')"))
    else:
        person.press("The technician comes on Monday before opening.")
    said = "document.querySelector('.messages [data-marked=true]')?.innerText ?? ''"
    person.browser.wait_for(f"({said}).includes('The technician comes on Monday')")
    visit.go_to("Person", "person/ada?show=facts")
    person.press("Ada Winter has contract Fibre 500")
    person.see("Used in 1 answer")
    fresh = visit.make_entry(f"used by {person.uses}", {"text": "Nobody used it"})
    visit.open_entry(fresh)
    person.see("client.say(session, assistant=answer, uses=recalled)")
    visit.go_to("Agent", "agent/frontline?show=eviction")
    person.see("last used")


def test_3_the_score_is_explained_and_what_is_missing_too(person: Person) -> None:
    person.write("Ask memory", "which contract has Ada")
    person.press("Why this result?")
    person.browser.wait_for("document.querySelectorAll('.parts-of-score meter').length >= 3")
    person.see("Matching words: ")
    person.press("Why is something missing?")
    person.see("Confidential and restricted memories are never found.")


def test_4_the_next_turn_is_shown_live_with_its_tokens(
    visit: Visit, demo: Demo, person: Person
) -> None:
    visit.go_to("Agent", "agent/frontline?show=next")
    person.write("Question of the next turn", "tariff of the lighthouse")
    person.see("1,200 tokens")
    person.write("Question of the next turn", "refunds")
    person.see("Refunds above 80 EUR")  # shared memory that the agent is given, too
    person.write("Question of the next turn", "tariff of the lighthouse")
    note = {"text": f"The lighthouse has a tariff by {person.uses}"}
    entry = {"namespace": "lessons", "key": f"lighthouse {person.uses}", "memory_type": "episodic"}
    with visit.server.client(demo.keys["frontline"]) as agent:
        ok(agent.post("/api/v1/memory", json=entry | {"value": note}), 201)
    person.see(note["text"])
    given = f"document.querySelector('pre').innerText.includes('by {person.uses}')"
    person.browser.wait_for(given)


def test_5_facts_are_shown_as_they_were_on_a_day(visit: Visit, person: Person) -> None:
    visit.go_to("Person", "person/ada?show=facts")
    person.see("Ada Winter has contract Fibre 500")
    _slide_back(person, "[...document.querySelectorAll('[type=range]')].at(-1)", 55)
    person.see("Ada Winter has contract Fibre 100")
    assert "Ada Winter has contract Fibre 500" not in person.browser.shown()
    visit.go_to("Memories", "memory?namespace=policies")
    person.see("Refunds above 80 EUR")
    _slide_back(person, "document.querySelector('[type=range]')", 10)
    is_gone = "!document.body.innerText.includes('Refunds above 80 EUR')"
    person.browser.wait_for(is_gone)  # the demo was not there yet


def _slide_back(person: Person, slider: str, days: int) -> None:
    if not person.has_keyboard_only:
        person.slide(slider, days)
        return
    person.press_until("Tab", f"it === ({slider})")
    for _ in range(days):
        person.browser.press_key("ArrowLeft")


def test_6_versions_are_compared_and_restored(visit: Visit, person: Person) -> None:
    entry = visit.make_entry(f"versions by {person.uses}", {"text": "Paint it red"})
    change = {"value": {"text": "Paint it blue"}}
    path = f"/api/v1/memory/{entry['id']}"
    ok(visit.admin.patch(path, json=change, headers={"If-Match": "1"}))
    visit.open_entry(entry)
    person.browser.wait_for("document.querySelector('.versions del')?.innerText === 'red'")
    person.browser.wait_for("document.querySelector('.versions ins')?.innerText === 'blue'")
    person.press("Restore version 1")
    person.browser.wait_for("document.querySelector('.said.large')?.innerText === 'Paint it red'")
    assert ok(visit.admin.get(path))["version"] == 3


def test_7_a_memory_is_corrected_in_place(visit: Visit, demo: Demo, person: Person) -> None:
    word = person.uses
    entry = visit.make_entry(f"corrected by {word}", {"text": "The code word is wrong"})
    visit.open_entry(entry)
    person.press("Correct")
    person.write("Text", f"The code word is {word}")
    person.press("Save")
    person.browser.wait_for("!document.querySelector('textarea')")
    person.see(f"The code word is {word}")
    with visit.server.client(demo.keys["frontline"]) as agent:
        asked = {"query": f"code word {word}", "wait": "indexed"}
        assert f"The code word is {word}" in ok(agent.post("/api/v1/recall", json=asked))["text"]


def test_8_a_task_is_handed_to_another_agent(visit: Visit, person: Person) -> None:
    name = f"Handed by {person.uses}"
    task = _show_task_on_board(visit, name)
    lane = "document.querySelector('.lane[data-agent=billing]')"
    person.press(f"Hand over {name}")
    person.browser.wait_for("document.querySelector('dialog select')")
    if person.has_keyboard_only:
        person.press_until("Tab", "it.matches('dialog select')")
    else:
        person.browser.evaluate("document.querySelector('dialog select').focus()")
    person.type("billing")
    person.see(f"Hand over “{name}”?")
    person.write("Note for the next agent", "It is half done")
    person.press("Hand over")
    person.browser.wait_for(f"{lane}?.querySelector('a[href=\"#/task/{task}\"]')")
    stored = ok(visit.admin.get(f"/api/v1/tasks/{task}"))
    assert (stored["assigned_agent"], stored["hand_over_note"]) == ("billing", "It is half done")


@_BY_POINTER
def test_8_a_task_is_dragged(visit: Visit, person: Person) -> None:
    name = f"Drag by {person.uses}"
    task = _show_task_on_board(visit, name)
    card = f"document.querySelector('a[href=\"#/task/{task}\"]').closest('.task-card')"
    lane = "document.querySelector('.lane[data-agent=billing]')"
    person.drag(f"{card}.querySelector('.quiet')", lane)
    person.see(f"Hand over “{name}”?")
    person.press("Hand over")
    person.browser.wait_for("!document.querySelector('dialog')")
    person.browser.wait_for(f"{lane}.querySelector('a[href=\"#/task/{task}\"]')")
    assert ok(visit.admin.get(f"/api/v1/tasks/{task}"))["assigned_agent"] == "billing"


@_BY_KEYBOARD
def test_8_a_task_is_moved_by_keyboard(visit: Visit, person: Person) -> None:
    browser = person.browser
    task = _show_task_on_board(visit, "Move by keys")
    between = "all.findIndex(each => each.dataset.agent === '{}')".format
    lanes = "(all => {} - {})([...document.querySelectorAll('.lane')])".format
    steps = browser.evaluate(lanes(between("frontline"), between("billing")))
    person.press_until("Tab", "it.ariaLabel === 'Move Move by keys'")
    browser.evaluate(_QUICK_KEYS)  # the second before the page has done anything for the first
    for _ in range(steps - 1):
        browser.press_key("ArrowUp")
    browser.wait_for("document.querySelector('.lane[data-over]')?.dataset.agent === 'billing'")
    browser.press_key("Enter")
    person.see("Hand over “Move by keys”?")
    person.press("Hand over")
    browser.wait_for("!document.querySelector('dialog')")
    assert ok(visit.admin.get(f"/api/v1/tasks/{task}"))["assigned_agent"] == "billing"


@_BY_KEYBOARD
def test_8_a_task_is_opened_from_the_board_by_keyboard(visit: Visit, person: Person) -> None:
    task = _show_task_on_board(visit, "Open by keys")
    person.press("Open by keys")
    person.browser.wait_for(f"location.hash === '#/task/{task}'")


def test_9_a_person_is_forgotten_with_a_preview_and_a_receipt(visit: Visit, person: Person) -> None:
    name = {"finger": "dora", "mouse": "emil", "keyboard": "fred"}[person.uses]
    said = [{"role": "user", "content": f"I am {name}"}]
    body = {"user_id": name, "messages": said}
    ok(visit.admin.put(f"/api/v1/conversations/talk-{name}", json=body), 201)
    remembered = {"text": f"{name} likes trains", "user_id": name}
    ok(visit.admin.post("/api/v1/remember", json=remembered), 201)
    visit.go_to("Person", f"person/{name}")
    person.press("Forget this person…")
    person.see("1 memory")
    person.see("These items will be deleted or redacted:")
    person.write(f"Type {name} to confirm", name)
    person.press("Forget this person")
    person.see("Receipt")
    person.see("The deletion is running.")
    receipt = ok(visit.admin.get(f"/api/v1/deletions/person/{name}"))
    assert receipt["requested_by"]["id"] == "admin"


def test_10_a_view_is_copied_as_code_that_works(visit: Visit, person: Person) -> None:
    visit.go_to("Facts", "facts?subject=Graz%20depot")
    person.browser.evaluate(_COPIED)
    for name in ("Python", "curl", "CLI", "MCP"):
        person.press_first("[data-copies=code]")
        person.press(name)
        copied = person.browser.wait_for("window.copied")
        person.browser.evaluate("window.copied = ''")
        if name == "MCP":
            assert json.loads(copied)["params"]["name"] == "recall_facts"
        else:
            assert "two days" in _run(visit, name, copied)


def _run(visit: Visit, name: str, code: str) -> str:
    """Run code that was copied, and return what it prints."""
    url, key = visit.server.address, visit.server.api_key
    variables = {"AGENT_MEMORY_URL": url, "AGENT_MEMORY_API_KEY": key}
    cli = f"{sys.executable} -m agent_memory.cli"
    command = {
        "Python": [sys.executable, "-c", code],
        "curl": ["bash", "-c", code],
        "CLI": ["bash", "-c", code.replace("agent-memory", cli, 1)],
    }[name]
    ended = subprocess.run(
        command, env=os.environ | variables, check=True, capture_output=True, text=True
    )
    return ended.stdout


def _show_task_on_board(visit: Visit, name: str) -> str:
    """Show a new task alone on the board, and wait until nothing moves it; return its id."""
    intent = f"{name.lower().replace(' ', '-')}-{secrets.token_hex(3)}"
    body = {"intent_id": intent, "name": name, "assigned_agent": "frontline", "status": "running"}
    task = str(ok(visit.admin.post("/api/v1/tasks", json=body), 201)["id"])
    visit.go_to("Board", f"tasks?intent_id={intent}")
    visit.browser.wait_for("document.querySelector('.lane[data-agent=agent_ada]')")
    visit.browser.wait_for("document.querySelector('main p.quiet > a[href^=\"#/intent/\"]')")
    return task
