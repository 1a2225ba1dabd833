"""The ten things that the console must never do, each tried in a browser.

1. Show a sensitive value, or copy it, before somebody asked for that one value.
2. Leave a value on the disk.
3. Keep a key where it outlives the session, or put it where others read it.
4. Change memory by being looked at.
5. Change a number by showing it.
6. Overwrite what somebody else has written since it was read.
7. Run what agents have stored.
8. Delete several things at once, unless what goes was shown and confirmed.
9. Have more authority than the visitor's key.
10. Stop answering because of what agents have stored.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from functions.api.routes.console import FOLDER
from tests.console.visit import SECRET, Visit
from tests.contract.expect import ok

_STORES = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
_HTML = "document.documentElement.outerHTML"
_BUSY_SECONDS = 1.0  # of CPU, to show any value; no single task takes longer
_MOST_SHOWN = 6 * 20_000  # characters of a value at first, each of them an escape such as \u202e
_COPIED = (
    "navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }"
)
_MARKUP = '<img src=x onerror="window.hurt = 1"><script>window.hurt = 1</script>'


def test_never_1_a_sensitive_value_before_it_is_asked_for(visit: Visit) -> None:
    path = _open_salaries(visit)
    browser = visit.browser
    assert not [each for each in browser.requested if path in each]
    assert SECRET not in browser.evaluate(_HTML)
    browser.evaluate(f"{_COPIED}, true")
    browser.press("Show the value")
    browser.wait_for_text(SECRET)
    assert browser.evaluate("window.copied === undefined")
    browser.press("Copy")
    assert json.loads(browser.evaluate("window.copied")) == {"band": SECRET}


def test_never_1_a_value_behind_a_link_before_it_is_asked_for(visit: Visit) -> None:
    entries = visit.admin.get("/api/v1/memory?namespace=company.people").json()["entries"]
    browser = visit.sign_in(screen=f"entry/{entries[0]['id']}")
    browser.wait_for_text("This value may be sensitive")
    assert not [each for each in browser.requested if entries[0]["id"] in each]


def test_never_2_a_value_on_the_disk(visit: Visit, profile: Path) -> None:
    path = _open_salaries(visit)
    browser = visit.browser
    browser.press("Show the value")
    browser.wait_for_text(SECRET)
    assert visit.admin.get(path).headers["cache-control"] == "no-store"
    keyed = [each for each in browser.sent_headers if "x-api-key" in each]
    assert keyed
    assert all(each.get("cache-control") == "no-cache" for each in keyed)  # by fetch's `no-store`
    browser.press("Sign out")
    browser.wait_for_text("API key")
    assert SECRET not in browser.evaluate(_HTML)
    files = list(_read_files(profile))
    assert files
    assert not [each for each in files if SECRET.encode() in each]


def test_never_3_a_key_in_an_address_a_store_or_the_document(visit: Visit) -> None:
    browser, key = visit.sign_in(), visit.server.api_key
    browser.wait_for_text("Needs attention")
    assert not [each for each in browser.requested if key in each]
    assert key not in browser.evaluate("location.href")
    assert browser.evaluate(_STORES) == '[{},{},""]'
    assert key not in browser.evaluate(_HTML)
    visit.start()
    browser.wait_for_text("API key")  # a reload has forgotten it


def test_never_4_a_change_of_memory_by_a_look(visit: Visit) -> None:
    made = ok(visit.admin.post("/api/v1/principals", json={"id": "full", "kind": "agent"}), 201)
    settings = {"episodic": {"capacity": 2}}
    ok(visit.admin.patch("/api/v1/agents/full/memory/config", json=settings))
    with visit.server.client(made["api_key"]) as agent:
        first, second = (_note(agent, f"note {number}") for number in (1, 2))
        browser = visit.sign_in(
            made["api_key"], screen="memory?agent_id=full"
        )  # the agent's own key: its reads would count
        browser.press("seen: note 1")
        browser.wait_for_text(first["id"])
        browser.wait_for_text("History of this memory")
        _note(agent, "note 3")
        left = ok(agent.get("/api/v1/memory?memory_type=episodic"))["entries"]
    assert [each["key"] for each in left] == ["note 3", "note 2"], second["id"]


def test_never_5_a_number_that_is_shown_as_another_one(visit: Visit) -> None:
    path = "/api/v1/memory"
    body = (
        b'{"namespace": "company.style", "key": "precise", "memory_type": "semantic",'
        b' "value": {"a": 12345678901234567890123, "b": 1.0}}'
    )
    headers = {"Content-Type": "application/json"}
    entry = ok(visit.admin.post(path, content=body, headers=headers), 201)
    browser = visit.sign_in()
    visit.open_entry(entry)
    for text in ('"a": 12345678901234567890123', '"b": 1.0'):
        browser.wait_for_text(text)


def test_never_6_a_lost_update(visit: Visit) -> None:
    entry = visit.make_entry("deleted under its version", {"rule": "old"})
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Delete…")
    path = f"/api/v1/memory/{entry['id']}"
    ok(visit.admin.patch(path, json={"tags": ["new"]}, headers={"If-Match": "1"}))
    visit.statuses = (409,)
    browser.press("Delete permanently")
    browser.wait_for_text("VERSION_MISMATCH")
    assert ok(visit.admin.get(path))["version"] == 2


def test_never_7_markup_of_names_and_values(visit: Visit) -> None:
    entry = visit.make_entry(_MARKUP, {_MARKUP: _MARKUP}, tags=[_MARKUP])
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.wait_for_text("onerror")
    assert browser.evaluate("window.hurt === undefined")
    assert browser.evaluate("document.querySelectorAll('main img, main script').length") == 0


def test_never_7_markup_that_a_script_inserts(visit: Visit) -> None:
    visit.start()
    assert visit.browser.evaluate(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return false; }"
        " catch (error) { return error instanceof TypeError; } })()"
    )
    visit.browser.complaints.clear()  # it reports that


@pytest.mark.usefixtures("server")
def test_never_8_a_deletion_of_several_things() -> None:
    """No script does so; `test_each_screen` looks at the buttons."""
    scripts = [each.read_text(encoding="utf-8") for each in (FOLDER / "assets").glob("*.js")]
    assert scripts
    assert not [each for each in scripts if "memory/batch" in each]


def test_never_9_a_door_to_other_origins(visit: Visit) -> None:
    headers = {"Origin": "https://elsewhere.example"}
    for answer in (
        visit.admin.options("/api/v1/me", headers=headers),
        visit.admin.get("/api/v1/me", headers=headers),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert "set-cookie" not in answer.headers
    page = httpx.get(f"{visit.server.address}/console")
    assert (page.status_code, visit.server.api_key in page.text) == (200, False)


def test_never_9_more_than_the_key_may_see(visit: Visit) -> None:
    made = visit.admin.post(
        "/api/v1/principals", json={"id": "other_agent", "kind": "agent"}
    ).json()
    browser = visit.sign_in(made["api_key"])
    browser.wait_for_text("Your changes count as the agent")
    browser.evaluate("location.hash = '#/memory?agent_id=agent_ada'")
    browser.wait_for_text("have permission to see these results.")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({f"key {number}": number for number in range(4_000)}, id="thousands of keys"),
        pytest.param({"text": "\u202eevil\u2066\u200b" * 5_000}, id="bidi"),
        pytest.param({"a": [[[[[[[[[["deep"]]]]]]]]]]}, id="deep"),
        pytest.param({"__proto__": {"hurt": True}, "constructor": 1}, id="prototype"),
    ],
)
def test_never_10_a_stop_by_a_hostile_value(visit: Visit, value: Any) -> None:
    entry = visit.make_entry(f"hostile {len(json.dumps(value))}", value)
    browser = visit.sign_in()
    before = browser.get_busy_seconds()
    visit.open_entry(entry)
    browser.wait_for("document.querySelector('pre')")
    shown = browser.evaluate("document.querySelector('pre').textContent")
    assert len(shown) <= _MOST_SHOWN
    assert not set(shown) & {"\u202e", "\u2066", "\u200b"}
    assert browser.evaluate("({}).hurt === undefined && window.hurt === undefined")
    assert browser.get_busy_seconds() - before < _BUSY_SECONDS


_HUGE = {
    "four megabytes of markup": {"text": "<b>" * 1_300_000},
    "four megabytes of bidi": {"text": "\u202e" * 1_300_000},
    "ten thousand keys": {f"key \u2066 {number}": [number] for number in range(10_000)},
}


def test_never_10_a_stop_by_a_huge_value(visit: Visit) -> None:
    made = ok(visit.admin.post("/api/v1/principals", json={"id": "keeper", "kind": "agent"}), 201)
    path = "/api/v1/agents/keeper/state"
    with visit.server.client(made["api_key"]) as keeper:
        for name, value in _HUGE.items():
            body = json.dumps({"value": value}, ensure_ascii=False).encode()
            headers = {"Content-Type": "application/json"}
            ok(keeper.put(f"{path}/{name}/huge", content=body, headers=headers))
    browser = visit.sign_in(made["api_key"])
    for name in _HUGE:
        visit.go_to("States", f"states?agent_id=keeper&owner_id={quote(name)}")
        before = browser.get_busy_seconds()
        browser.press("Show the value")
        browser.press("Exact JSON")
        browser.wait_for("document.querySelector('pre')?.textContent.length >= 20000")
        shown = browser.evaluate("document.querySelector('pre').textContent")
        assert len(shown) <= _MOST_SHOWN
        assert not set(shown) & {"\u202e", "\u2066"}
        assert browser.evaluate("document.querySelectorAll('main b').length") == 0
        assert browser.get_busy_seconds() - before < _BUSY_SECONDS, name


def _open_salaries(visit: Visit) -> str:
    """Open the restricted entry from its list, and return its path in the API."""
    entries = visit.admin.get("/api/v1/memory?namespace=company.people").json()["entries"]
    browser = visit.sign_in()
    browser.evaluate("location.hash = '#/memory?namespace=company.people'")
    browser.press("salaries")
    browser.wait_for_text("This value is restricted")
    return f"/api/v1/memory/{entries[0]['id']}"


def _read_files(folder: Path) -> Iterator[bytes]:
    """Read all files, except those that the browser removes at the same time."""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield path.read_bytes()


def _note(agent: httpx.Client, key: str) -> dict[str, Any]:
    body = {"namespace": "notes", "key": key, "memory_type": "episodic", "value": {"seen": key}}
    made: dict[str, Any] = ok(agent.post("/api/v1/memory", json=body), 201)
    return made
