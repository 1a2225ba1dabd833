"""Test the console's protections that test_never.py does not cover."""

import gzip

from functions.api.routes.console import FOLDER
from tests.console.visit import Visit
from tests.contract.expect import ok

_MAX_BYTES = 250 * 1024
_HOLD_FIRST_LIST = """{
  const send = window.fetch;
  window.fetch = async (request, ...rest) => {
    const answer = await send(request, ...rest);
    if (request.method !== "GET" || !request.url.includes("/principals")) return answer;
    window.fetch = send;
    document.body.dataset.held = "";
    return new Promise(resolve => { window.release = () => resolve(answer); });
  };
}"""


def test_no_request_leaves_the_origin(visit: Visit) -> None:
    browser = visit.sign_in()
    browser.wait_for_text("Needs attention")
    outside = [each for each in browser.requested if not each.startswith(visit.server.address)]
    assert not outside


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
    browser.press("Knowledge")
    browser.wait_for_text("accept this key")
    assert browser.evaluate("document.querySelector('header') === null")


def test_a_list_shows_what_is_made_while_it_loads(visit: Visit) -> None:
    browser = visit.sign_in()
    browser.evaluate(_HOLD_FIRST_LIST)
    browser.evaluate("location.hash = '#/principals'")
    browser.wait_for("document.body.dataset.held !== undefined")
    browser.fill("New principal", "meanwhile")
    browser.press("Create")
    browser.wait_for_text("it is not shown again")
    browser.evaluate("window.release()")
    browser.wait_for("""document.querySelector('[aria-label="Revoke meanwhile"]')""")


def test_the_first_view_is_small(visit: Visit) -> None:
    """All that the browser loads until Home is shown, compressed as it is sent."""
    browser = visit.sign_in()
    browser.wait_for_text("Needs attention")
    names = {each.rpartition("/")[2] for each in browser.requested if "/assets/" in each}
    files = [(FOLDER / "assets" / each).read_bytes() for each in names]
    assert 50_000 < sum(len(gzip.compress(each)) for each in files) <= _MAX_BYTES


def test_permissions_change_after_the_page_has_said_what_changes(visit: Visit) -> None:
    permissions = {"default": "read", "allow": [{"agent": "agent_ada", "access": "write"}]}
    path = "/api/v1/memory/namespaces/company.plans"
    ok(visit.admin.patch(path, json={"permissions": permissions}))
    browser = visit.sign_in(screen="namespace/company.plans")
    browser.wait_for_text("everyone else")
    browser.fill("Add an ID", "agent_eve")
    browser.choose("Access of everyone else", "none")
    browser.press("Change…")
    for text in ("agent_eve: read → read", "everyone else: read → none"):
        browser.wait_for_text(text)
    assert ok(visit.admin.get(path))["permissions"] == permissions
    browser.press("Change")
    browser.wait_for("!document.querySelector('dialog')")
    changed = ok(visit.admin.get(path))["permissions"]
    assert changed["default"] == "none"
    allowed = {each["agent"]: each["access"] for each in changed["allow"]}
    assert allowed == {"agent_ada": "write", "agent_eve": "read"}
