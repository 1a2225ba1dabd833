"""A key's session ends with 15 minutes without activity; the one-time link's survives a reload."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.console.browser import Browser
from tests.console.visit import Visit
from tests.contract.local_server import running

_MINUTES = """(() => {
  const timers = new Map(), later = window.setTimeout, stop = window.clearTimeout;
  let now = 0, last = 1e9;
  window.setTimeout = (call, delay, ...rest) => {
    if (!(delay >= 60_000)) return later(call, delay, ...rest);
    timers.set(++last, {call, due: now + delay});
    return last;
  };
  window.clearTimeout = id => timers.delete(id) || stop(id);
  window.passMinutes = count => {
    now += count * 60_000;
    const due = [...timers].filter(([, each]) => each.due <= now);
    due.forEach(([id, {call}]) => { timers.delete(id); call(); });
  };
  for (const each of %s) addEventListener(each, () => { window.acted = each; });
})()"""
_ACTED = """new Promise(resolve => {
  const look = () => window.acted === %s ? resolve(true) : requestAnimationFrame(look);
  look();
})"""
_POINT = {"x": 400, "y": 300}


def _turn_wheel(browser: Browser) -> None:
    turn = {"deltaX": 0, "deltaY": 20}
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", **turn, **_POINT)


def _press_pointer(browser: Browser) -> None:
    for act in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=act, button="middle", **_POINT)


def _press_key(browser: Browser) -> None:
    browser.press_key("Tab")


_ACTIVITIES = {
    "wheel": _turn_wheel,
    "pointerdown": _press_pointer,
    "keydown": _press_key,
}


@pytest.fixture
def minutes(visit: Visit) -> Iterator[Callable[[int], None]]:
    """Lets minutes pass in a page whose long timers go by them; somebody is signed in."""
    browser = visit.browser
    page = browser.call("Page.addScriptToEvaluateOnNewDocument", source=_MINUTES % [*_ACTIVITIES])
    visit.sign_in()
    yield lambda count: browser.evaluate(f"window.passMinutes({count})")
    browser.call("Page.removeScriptToEvaluateOnNewDocument", **page)


def test_any_activity_prolongs_a_session_which_ends_without(
    visit: Visit, minutes: Callable[[int], None]
) -> None:
    browser = visit.browser
    for name, act in _ACTIVITIES.items():
        minutes(14)
        act(browser)
        assert browser.evaluate(_ACTED % repr(name))
        minutes(14)
        assert browser.evaluate("document.querySelector('header') !== null"), name
        browser.press_key("Tab")
    minutes(15)
    browser.wait_for_text("You were signed out after 15 minutes without activity.")
    assert visit.server.api_key not in browser.evaluate("document.documentElement.outerHTML")


def test_the_one_time_link_signs_in_until_one_signs_out(visit: Visit, tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:  # its code is new, and works for five minutes
        _sign_in_by_link_and_out(replace(visit, server=server))


def _sign_in_by_link_and_out(visit: Visit) -> None:
    browser = visit.browser
    link = re.search(r"^ *console +(\S+)$", visit.server.greeting, re.MULTILINE)
    assert link
    browser.open(link.group(1))
    browser.wait_for("document.querySelector('header')")
    assert "code" not in browser.evaluate("location.href")
    assert "session" not in browser.evaluate("document.cookie")
    visit.start()
    browser.wait_for("document.querySelector('header')")
    browser.press("Sign out")
    browser.wait_for("document.querySelector('form')")
    visit.start()
    browser.wait_for("document.querySelector('form')")
