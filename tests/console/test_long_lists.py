"""A long list is scrolled to its end and back, three pages of it shown."""

import json

import pytest

from tests.console.browser import Browser
from tests.console.visit import Visit
from tests.contract.expect import ok
from tests.contract.local_server import LocalServer

_ENTRIES, _BATCH, _MOST_ROWS = 700, 50, 300
_A_LINE = 30  # pixels; columns get wider or narrower with what is in them
_SCREEN = {"width": 1200, "height": 860, "deviceScaleFactor": 1, "mobile": False}
_NOTE = {"namespace": "notes", "memory_type": "episodic"}
_KEYS = "[...document.querySelectorAll('.memories .said')].map(each => each.textContent)"
_TOPS = """Object.fromEntries([...document.querySelectorAll(".memories .said")]
  .map(each => [each.textContent, Math.round(each.getBoundingClientRect().top + scrollY)]))"""
_IN_VIEW = """[...document.querySelectorAll(".memories .said")].filter(each => {
  const {top, bottom} = each.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}).map(each => each.textContent)"""
_HAS_MORE = "document.querySelectorAll('.count button').length > 0"


@pytest.fixture(scope="module")
def key(server: LocalServer) -> str:
    """The key of an agent with a long memory."""
    with server.client() as admin:
        body = {"id": "long", "kind": "agent"}
        made = str(ok(admin.post("/api/v1/principals", json=body), 201)["api_key"])
    with server.client(made) as agent:
        for start in range(0, _ENTRIES, _BATCH):
            numbers = range(start, start + _BATCH)
            entries = [
                _NOTE | {"key": f"{number}", "value": {"text": f"row {number:03}"}}
                for number in numbers
            ]
            ok(agent.post("/api/v1/memory/batch", json={"entries": entries}))
    return made


def test_a_list_is_scrolled_to_its_end_and_back(visit: Visit, key: str) -> None:
    visit.browser.call("Emulation.setDeviceMetricsOverride", **_SCREEN)
    browser = visit.sign_in(key, screen="memory?agent_id=long")
    browser.wait_for(f"{_KEYS}.length >= 100")
    tops = _scroll_to_end(browser)
    in_order = sorted(tops, key=tops.__getitem__)
    numbers = [int(each.removeprefix("row ")) for each in in_order]
    assert sorted(numbers) == list(range(_ENTRIES))
    batches = [number // _BATCH for number in numbers]  # the entries of one have one time
    assert batches == sorted(batches, reverse=True)
    _scroll_back(browser, in_order)
    _press_back(browser, in_order)
    browser.call("Emulation.clearDeviceMetricsOverride")


def _scroll_to_end(browser: Browser) -> dict[str, int]:
    """Scroll to the end; return where each row was, which no row that was shown has left."""
    tops: dict[str, int] = {}
    while True:
        shown = browser.evaluate(_TOPS)
        assert len(shown) <= _MOST_ROWS
        moved = [each for each, top in shown.items() if abs(top - tops.get(each, top)) > _A_LINE]
        assert not moved
        tops |= shown
        if not browser.evaluate(_HAS_MORE):
            return tops
        _go_to_end(browser)


def _go_to_end(browser: Browser) -> None:
    last = json.dumps(browser.evaluate(f"{_KEYS}.at(-1)"))
    browser.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    browser.wait_for(f"{_KEYS}.at(-1) !== {last} || !({_HAS_MORE})")


def _scroll_back(browser: Browser, in_order: list[str]) -> None:
    """Go to the middle, which has left the page, and by a key to the begin."""
    browser.evaluate("window.scrollTo(0, document.body.scrollHeight / 2)")
    browser.wait_for(f"{_IN_VIEW}.length > 5")
    middle = in_order.index(browser.evaluate(_IN_VIEW)[0])
    assert _ENTRIES * 0.4 < middle < _ENTRIES * 0.6
    browser.press_key("Home")
    browser.wait_for(f"{_IN_VIEW}.includes({json.dumps(in_order[0])})")
    assert browser.evaluate(f"{_KEYS}.length") <= _MOST_ROWS


def _press_back(browser: Browser, in_order: list[str]) -> None:
    """Go back by the buttons, which readers of a screen have."""
    while browser.evaluate(f"{_KEYS}[0]") == in_order[0]:
        _go_to_end(browser)
    _go_to_end(browser)
    before = browser.evaluate(f"{_KEYS}[0]")
    browser.press("Show previous results")
    browser.wait_for(f"{_KEYS}[0] !== {json.dumps(before)}")
    browser.press("Show first results")
    browser.wait_for(f"{_IN_VIEW}.includes({json.dumps(in_order[0])})")
