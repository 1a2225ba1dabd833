"""Contract §11: what the console must never do, tried in a browser."""

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from functions.api.routes.console import FOLDER
from tests.console.demo import Demo
from tests.console.visit import SECRET, Visit
from tests.contract.expect import ok

_MAX_SCRIPT_BYTES = 120 * 1024
_STORES = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
_HTML = "document.documentElement.outerHTML"
_DANGEROUS = "[...document.querySelectorAll('button.danger')].map(each => each.textContent)"
_BUSY_SECONDS = 1.0  # of CPU, to show any value; no single task takes longer
_MOST_SHOWN = 6 * 20_000  # characters of a value at first, each of them an escape such as \u202e
_COPIED = (
    "navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }"
)
_MARKUP = '<img src=x onerror="window.hurt = 1"><script>window.hurt = 1</script>'


def test_the_key_is_in_no_address_store_or_document(visit: Visit) -> None:
    browser, key = visit.sign_in(), visit.server.api_key
    browser.wait_for_text("company.people")
    assert not [each for each in browser.requested if key in each]
    assert key not in browser.evaluate("location.href")
    assert browser.evaluate(_STORES) == '[{},{},""]'
    assert key not in browser.evaluate(_HTML)
    visit.start()
    browser.wait_for_text("API key")  # a reload has forgotten it


def test_no_request_leaves_the_origin(visit: Visit) -> None:
    browser = visit.sign_in()
    browser.wait_for_text("company.people")
    outside = [each for each in browser.requested if not each.startswith(visit.server.address)]
    assert not outside


def test_a_restricted_value_comes_when_it_is_asked_for(visit: Visit, profile: Path) -> None:
    browser = visit.sign_in()
    entries = visit.admin.get("/api/v1/memory?namespace=company.people").json()["entries"]
    path = f"/api/v1/memory/{entries[0]['id']}"
    browser.evaluate("location.hash = '#/memory?namespace=company.people'")
    browser.press("salaries")
    browser.wait_for_text("This value is restricted.")
    assert not [each for each in browser.requested if path in each]
    assert SECRET not in browser.evaluate(_HTML)
    browser.evaluate(f"{_COPIED}, true")
    browser.press("Show the value")
    browser.wait_for_text(SECRET)
    assert browser.evaluate("window.copied === undefined")
    browser.press("Copy")
    assert json.loads(browser.evaluate("window.copied")) == {"band": SECRET}
    browser.press("Sign out")
    browser.wait_for_text("API key")
    assert SECRET not in browser.evaluate(_HTML)
    assert not [each for each in _read_files(profile) if SECRET.encode() in each]


def test_a_link_to_an_entry_shows_no_value_before_it_is_asked_for(visit: Visit) -> None:
    entries = visit.admin.get("/api/v1/memory?namespace=company.people").json()["entries"]
    visit.start(f"entry/{entries[0]['id']}")
    browser = visit.sign_in()
    browser.wait_for_text("This value may be sensitive.")
    assert not [each for each in browser.requested if entries[0]["id"] in each]


def test_markup_in_names_and_values_is_text(visit: Visit) -> None:
    entry = visit.make_entry(_MARKUP, {_MARKUP: _MARKUP}, tags=[_MARKUP])
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.wait_for_text("onerror")
    assert browser.evaluate("window.hurt === undefined")
    assert browser.evaluate("document.querySelectorAll('main img, main script').length") == 0


def test_the_policy_stops_markup_that_a_script_would_insert(visit: Visit) -> None:
    assert visit.browser.evaluate(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return false; }"
        " catch (error) { return error instanceof TypeError; } })()"
    )
    visit.browser.complaints.clear()  # it reports that


def test_a_large_value_is_cut_until_more_is_asked_for(visit: Visit) -> None:
    entry = visit.make_entry("large", {"text": "x" * 60_000})
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.wait_for("document.querySelector('pre').textContent.length === 20000")
    found = (
        "[...document.querySelectorAll('button')].find(e => e.innerText.startsWith('Show more'))"
    )
    browser.evaluate(f"{found}.click()")
    browser.wait_for("document.querySelector('pre').textContent.length > 60000")


def test_a_key_that_is_revoked_is_signed_out(visit: Visit) -> None:
    made = visit.admin.post("/api/v1/principals", json={"id": "leaver", "kind": "user"}).json()
    browser = visit.sign_in(made["api_key"])
    visit.admin.delete("/api/v1/principals/leaver")
    visit.statuses = (401,)
    browser.press("Memory")
    browser.wait_for_text("accept this key")
    assert browser.evaluate("document.querySelector('header') === null")


def test_an_agents_key_is_warned_about_and_sees_what_the_agent_may(visit: Visit) -> None:
    made = visit.admin.post("/api/v1/principals", json={"id": "looker", "kind": "agent"}).json()
    browser = visit.sign_in(made["api_key"])
    browser.wait_for_text("what you change counts as the agent")
    browser.evaluate("location.hash = '#/memory?agent_id=agent_ada'")
    browser.wait_for_text("There is something, but nothing that you may read.")


@pytest.mark.usefixtures("server")
def test_the_script_is_small() -> None:
    scripts = [path.read_bytes() for path in (FOLDER / "assets").glob("*.js")]
    assert sum(len(gzip.compress(each)) for each in scripts) <= _MAX_SCRIPT_BYTES


def test_looking_changes_nothing_that_is_stored_or_counted(visit: Visit) -> None:
    made = ok(visit.admin.post("/api/v1/principals", json={"id": "full", "kind": "agent"}), 201)
    settings = {"episodic": {"capacity": 2}}
    ok(visit.admin.patch("/api/v1/agents/full/memory/config", json=settings))
    with visit.server.client(made["api_key"]) as agent:
        first, second = (_note(agent, f"note {number}") for number in (1, 2))
        visit.start("memory?agent_id=full")
        browser = visit.sign_in(made["api_key"])  # the agent's own key: its reads would count
        browser.press("note 1")
        browser.wait_for_text(first["id"])
        browser.wait_for_text("What happened to it")
        _note(agent, "note 3")
        left = ok(agent.get("/api/v1/memory?memory_type=episodic"))["entries"]
    assert [each["key"] for each in left] == ["note 3", "note 2"], second["id"]


def test_numbers_are_shown_as_they_were_written(visit: Visit) -> None:
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


def test_every_change_is_sent_under_the_version_that_was_read(visit: Visit) -> None:
    entry = visit.make_entry("deleted under its version", {"rule": "old"})
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Delete…")
    path = f"/api/v1/memory/{entry['id']}"
    ok(visit.admin.patch(path, json={"tags": ["new"]}, headers={"If-Match": "1"}))
    visit.statuses = (409,)
    browser.press("Delete for good")
    browser.wait_for_text("VERSION_MISMATCH")
    assert ok(visit.admin.get(path))["version"] == 2


def test_nothing_deletes_several_things_at_once(visit: Visit, demo: Demo) -> None:
    browser = visit.sign_in()
    for title, address in demo.screens.items():
        if demo.key_of(title) == visit.server.api_key:
            visit.go_to(title, address)
            dangerous = browser.evaluate(_DANGEROUS)
            assert all(each.startswith(("Delete…", "Rotate", "Revoke")) for each in dangerous)


def test_permissions_change_after_the_page_has_said_what_changes(visit: Visit) -> None:
    permissions = {"default": "read", "allow": [{"agent": "agent_ada", "access": "write"}]}
    path = "/api/v1/memory/namespaces/company.plans"
    ok(visit.admin.patch(path, json={"permissions": permissions}))
    visit.start("namespace/company.plans")
    browser = visit.sign_in()
    browser.wait_for_text("everybody else")
    browser.fill("Somebody else’s id", "agent_eve")  # noqa: RUF001 - as the page has it
    browser.choose("Access of everybody else", "none")
    browser.press("Change…")
    for text in ("agent_eve: read → read", "everybody else: read → none"):
        browser.wait_for_text(text)
    assert ok(visit.admin.get(path))["permissions"] == permissions
    browser.press("Change")
    browser.wait_for("!document.querySelector('dialog')")
    changed = ok(visit.admin.get(path))["permissions"]
    assert changed["default"] == "none"
    allowed = {each["agent"]: each["access"] for each in changed["allow"]}
    assert allowed == {"agent_ada": "write", "agent_eve": "read"}


def test_the_service_opens_no_door_to_other_origins(visit: Visit) -> None:
    headers = {"Origin": "https://elsewhere.example"}
    for answer in (
        visit.admin.options("/api/v1/me", headers=headers),
        visit.admin.get("/api/v1/me", headers=headers),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert "set-cookie" not in answer.headers
    page = httpx.get(f"{visit.server.address}/console")
    assert (page.status_code, visit.server.api_key in page.text) == (200, False)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({f"key {number}": number for number in range(4_000)}, id="thousands of keys"),
        pytest.param({"text": "\u202eevil\u2066\u200b" * 5_000}, id="bidi"),
        pytest.param({"a": [[[[[[[[[["deep"]]]]]]]]]]}, id="deep"),
        pytest.param({"__proto__": {"hurt": True}, "constructor": 1}, id="prototype"),
    ],
)
def test_a_hostile_value_is_text_and_the_page_goes_on(visit: Visit, value: Any) -> None:
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


def test_huge_states_are_cut_and_the_page_goes_on(visit: Visit) -> None:
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
        browser.wait_for("document.querySelector('pre')?.textContent.length >= 20000")
        shown = browser.evaluate("document.querySelector('pre').textContent")
        assert len(shown) <= _MOST_SHOWN
        assert not set(shown) & {"\u202e", "\u2066"}
        assert browser.evaluate("document.querySelectorAll('main b').length") == 0
        assert browser.get_busy_seconds() - before < _BUSY_SECONDS, name


def _note(agent: httpx.Client, key: str) -> dict[str, Any]:
    body = {"namespace": "notes", "key": key, "memory_type": "episodic", "value": {"seen": key}}
    made: dict[str, Any] = ok(agent.post("/api/v1/memory", json=body), 201)
    return made


def _read_files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
