"""Hostile text in each field that a screen shows: it stays text, on every screen, old and new."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from functions.api.routes.console import is_console_built
from tests.console.browser import Browser, find_chromium
from tests.console.visit import Visit
from tests.contract.expect import ok
from tests.contract.local_server import LocalServer, running
from tests.contract.openwop_calls import start

_ID = '<img src=x onerror="window.hurt=1"> {who} zebra'  # in ids, `/` and bidi are no characters
_TEXT = f"{_ID}<script>window.hurt=1</script>\u202e"
_SHOWN = "<img src=x onerror="
_PART = quote(_ID, safe="")
_TYPE = quote(f"{_ID} type", safe="")
_HAS_TEXT = f"innerText.includes('{_SHOWN}')"
_RUNS = "/api/v1/runs?values=omit"
_MARKUP = "document.querySelectorAll('main img, main script, [role=dialog] img').length"
_LIST = {"permissions": {"default": "write", "allow": [{"agent": _ID, "access": "write"}]}}
_JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalServer, list[str]]]:
    """A separate server, so that no other test sees this memory; and the screens."""
    if find_chromium() is None or not is_console_built():
        pytest.skip("no Chromium is found, or the console is not built; run make console")
    with running(tmp_path_factory.mktemp("hostile") / "data") as server, server.client() as admin:
        yield server, _fill(admin, server)


@pytest.fixture
def visit(hostile: tuple[LocalServer, list[str]], browser: Browser) -> Iterator[Visit]:
    browser.complaints.clear()
    with hostile[0].client() as admin:
        visit = Visit(browser, hostile[0], admin)
        yield visit
    assert not [each for each in browser.complaints if not visit.is_expected(each)]


def test_no_screen_runs_or_hides_what_is_stored(
    visit: Visit, hostile: tuple[LocalServer, list[str]], subtests: pytest.Subtests
) -> None:
    browser = visit.sign_in()
    for screen in hostile[1]:
        with subtests.test(screen):
            browser.evaluate(f"location.hash = {json.dumps('#/' + screen)}")
            browser.wait_for(f"document.querySelector('main').innerText.includes('{_SHOWN}')")
            _open_all(browser)
            _assert_harmless(browser)


@pytest.mark.parametrize("screen", ["usage", "memory-runs"])
def test_lists_without_texts_of_others_stay_so(visit: Visit, screen: str) -> None:
    browser = visit.sign_in(screen=screen)
    browser.wait_for("document.querySelector('main table')")
    _assert_harmless(browser)


def test_no_screen_runs_what_somebody_asks_to_see(visit: Visit, subtests: pytest.Subtests) -> None:
    """Load what may be sensitive, such as a run or a state: it is shown on request."""
    browser = visit.sign_in()
    memory_runs = ok(visit.admin.get("/v1/runs"))["runs"]
    memory_run = max(memory_runs, key=lambda each: str(each["snapshotAt"]))["runId"]
    for screen, button in (
        *((f"run/{each['id']}", "Show the run") for each in ok(visit.admin.get(_RUNS))["runs"]),
        (f"episodes/{_PART}", "Show the episodes"),
        (f"states?agent_id={_PART}", "Show the value"),
        (f"states?agent_id={_TYPE}&owner_id={_PART}", "Show the value"),
        (f"memory-run/{memory_run}", "Show what it saw"),
        (f"object?space={_PART}&key={_PART}", "Show the content"),
    ):
        with subtests.test(screen):
            browser.evaluate(f"location.hash = {json.dumps('#/' + screen)}")
            browser.press(button)
            browser.wait_for(f"document.querySelector('main pre, main .said')?.{_HAS_TEXT}")
            _open_all(browser)
            _assert_harmless(browser)


def test_the_sign_in_page_runs_nothing(visit: Visit) -> None:
    visit.statuses = (401,)
    visit.start(f"{_PART}?show={_PART}")
    browser = visit.browser
    for key in (_ID, _ID.replace(" ", "/")):  # the second could be one
        browser.fill("API key", key)
        browser.press("Sign in")
        browser.wait_for("document.querySelector('main [role=alert]')")
        _assert_harmless(browser)
    visit.browser.fill("API key", visit.server.api_key)
    browser.press("Sign in")
    browser.wait_for_text("Page not found")
    _assert_harmless(browser)


def test_no_answer_and_no_dialog_runs_what_is_stored(visit: Visit) -> None:
    browser = visit.sign_in()
    browser.press_character("/")
    browser.wait_for("document.activeElement.matches('[role=dialog] input[type=search]')")
    browser.call("Input.insertText", text="zebra")
    browser.wait_for("document.querySelectorAll('.answers > li').length >= 3")
    browser.evaluate("document.querySelectorAll('.why').forEach(each => { each.open = true })")
    _assert_harmless(browser)
    browser.press_key("Escape")
    for screen, button in ((f"person/{_PART}", "Forget this person…"), ("tasks", "Hand over…")):
        browser.evaluate(f"location.hash = {json.dumps('#/' + screen)}")
        browser.press(button)
        browser.wait_for(f"document.querySelector('dialog')?.innerText.includes('{_SHOWN}')")
        _assert_harmless(browser)


def _open_all(browser: Browser) -> None:
    """Open what is closed, once all is loaded."""
    browser.wait_for("!document.querySelector('.skeleton')")
    browser.evaluate(
        "[...document.querySelectorAll('main summary')].forEach(each => each.click()), 1"
    )


def _assert_harmless(browser: Browser) -> None:
    assert browser.evaluate("window.hurt === undefined")
    assert browser.evaluate(_MARKUP) == 0
    assert "\u202e" not in browser.shown()
    assert browser.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def _fill_work(admin: httpx.Client) -> None:
    task = {"id": _ID, "intent_id": _ID, "name": _TEXT, "assigned_agent": _ID}
    blocked = {"status": "blocked", "blocked_reason": _TEXT, "metadata": {_TEXT: 1}}
    ok(admin.post("/api/v1/tasks", json=task | blocked), 201)
    body = {"agent_type": _ID, "instance_id": _ID, "input": {_TEXT: _TEXT}}
    run = ok(admin.post("/api/v1/runs", json=body), 201)["id"]
    noted = {"content": {_TEXT: _TEXT}, "kind": _ID}
    ok(admin.post(f"/api/v1/runs/{run}/episodes", json=noted), 201)
    ok(admin.post(f"/api/v1/runs/{run}/fail", json={"error": {_TEXT: _TEXT}}))
    start(admin, _ID).put(_TEXT, tags=[_ID])
    start(admin, _ID)  # it sees what the first has put
    strategy = {"kind": "facts", "instructions": _TEXT, "namespace": _ID.format(who="ada")}
    ok(admin.put(f"/api/v1/strategies/{_PART}", json=strategy), 201)
    workflow = {"spec": {_TEXT: _TEXT}}
    ok(admin.put(f"/api/v1/procedures/{_PART}/{_PART}/{_PART}", json=workflow), 201)
    admin.put(f"/api/v1/objects/{_PART}/{_PART}", content=_TEXT.encode())
    rules = {"guardrails": {"denied_semantic_namespaces": [_ID], _ID: _ID}}
    ok(admin.patch(f"/api/v1/coordinators/{_PART}/guardrails", json=rules))


def _fill(admin: httpx.Client, server: LocalServer) -> list[str]:
    """Store the text in each field, and return the screens that show it."""
    one = {"id": _ID, "kind": "agent", "agent_type": f"{_ID} type"}
    made = ok(admin.post("/api/v1/principals", json=one), 201)
    entry: dict[str, Any] = {"namespace": _ID, "key": _ID, "tags": [_ID]}
    entry |= {"value": {_TEXT: _TEXT, "text": _TEXT}}
    ok(admin.patch(f"/api/v1/memory/namespaces/{_PART}", json=_LIST))
    shared = ok(admin.post("/api/v1/memory", json=entry | {"memory_type": "semantic"}), 201)
    change = {"value": {"text": f"{_TEXT} changed"}}
    path = f"/api/v1/memory/{shared['id']}"
    ok(admin.patch(path, json=change, headers={"If-Match": "1"}))
    with server.client(made["api_key"]) as agent:
        ok(agent.post("/api/v1/memory", json=entry | {"memory_type": "episodic"}), 201)
        state = f"/api/v1/agents/{_PART}/state/{_PART}/{_PART}"
        ok(agent.put(state, json={"value": {_TEXT: _TEXT}}))
        of_type = f"/api/v1/agents/{_TYPE}/state/{_PART}/{_PART}"
        ok(agent.put(of_type, json={"value": {_TEXT: _TEXT}}))
    ok(admin.put(f"/api/v1/facts/predicates/{_PART}", json={"single_valued": False}))
    fact = {"subject": _ID, "predicate": _ID, "object": _ID, "user_id": _ID}
    learned = ok(admin.post("/api/v1/facts", json=fact | {"agent_type": _ID}), 201)
    ok(admin.post("/api/v1/facts", json=fact | {"object": _ID.upper()}), 201)
    _fill_work(admin)
    message = {"role": "user", "content": _TEXT}
    said: dict[str, Any] = {"user_id": _ID, "messages": [message], "tags": [_ID]}
    ok(admin.put(f"/api/v1/conversations/{_PART}", json=said), 201)
    return [
        "",
        f"timeline?log=namespace&name={_PART}",
        "people",
        *(f"person/{_PART}?show={each}" for each in ("memories", "facts", "timeline")),
        f"person/{_PART}?show=conversations",
        "conversations",
        f"conversation/{_PART}",
        "states",
        f"states?agent_id={_PART}",
        f"states?agent_id={_PART}&owner_id={_PART}",
        f"states?agent_id={_TYPE}&owner_id={_PART}",
        "agents",
        *(f"agent/{_PART}?show={each}" for each in ("memory", "eviction", "tasks", "log", "next")),
        "runs",
        f"episodes/{_PART}",
        "procedures",
        f"procedures?agent_type={_PART}&task_type={_PART}",
        "tasks",
        *(f"task/{_PART}?show={each}" for each in ("timeline", "entries", "grants", "context")),
        *(f"intent/{_PART}?show={each}" for each in ("timeline", "tasks", "entries", "access")),
        "memory",
        f"memory?namespace={_PART}&tags={_PART}",
        f"entry/{shared['id']}",
        "facts",
        f"facts?subject={_PART}",
        f"fact/{learned['fact_id']}",
        "consolidation",
        "namespaces",
        f"namespace/{_PART}",
        "objects",
        f"space/{_PART}",
        f"object?space={_PART}&key={_PART}",
        "principals",
        "permissions",
        f"access?kind=namespace&id={_PART}&principal={_PART}",
        f"guardrails?coordinator_id={_PART}",
        "strategies",
        "audit",
    ]
