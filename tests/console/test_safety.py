"""Contract §11: what the console must never do, tried in a browser."""

import gzip
from pathlib import Path

import pytest

from functions.api.routes.console import FOLDER
from tests.console.visit import SECRET, Visit

_MAX_SCRIPT_BYTES = 120 * 1024
_STORES = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
_HTML = "document.documentElement.outerHTML"
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
    browser.press("Show the value")
    browser.wait_for_text(SECRET)
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


def _read_files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
