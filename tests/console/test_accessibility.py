"""Contract §11: WCAG 2.2 AA on each screen, by axe-core, in light and dark, and on a phone."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.console.demo import Demo
from tests.console.visit import Visit
from tests.contract.local_server import ROOT

_AXE = ROOT / "node_modules/axe-core/axe.min.js"
_LIGHT = {"resultTypes": ["violations"]}
_DARK = _LIGHT | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
_FIND = """axe.run(document, %s).then(({violations}) => JSON.stringify(
  violations.map(({id, nodes}) => [id, nodes.slice(0, 3).map(each => each.html)])))"""
_UNNAMED = """[...document.querySelectorAll("input,select,textarea")]
  .filter(each => !each.labels.length && !each.ariaLabel).length"""


@pytest.fixture(params=["admin", "planner", "reader"])
def screens(visit: Visit, demo: Demo, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The screens of which one principal sees most; it is signed in."""
    key = demo.keys[request.param]
    visit.sign_in(key)
    yield [title for title in demo.screens if demo.key_of(title) == key]
    visit.browser.call("Emulation.clearDeviceMetricsOverride")
    visit.browser.call("Emulation.setEmulatedMedia", features=[])


def test_no_screen_violates_a_rule_of_axe(visit: Visit, demo: Demo, screens: list[str]) -> None:
    if not _AXE.is_file():
        pytest.skip("axe-core is not installed; make test installs it")
    visit.browser.evaluate(_AXE.read_text(encoding="utf-8") + "; true")
    found: dict[str, Any] = {}
    for title in screens:
        visit.go_to(title, demo.screens[title])
        for scheme, options in (("light", _LIGHT), ("dark", _DARK)):
            _set_scheme(visit, scheme)
            violations = json.loads(visit.browser.evaluate(_FIND % json.dumps(options)))
            found |= {f"{title}, {scheme}": violations} if violations else {}
    assert found == {}


def test_no_screen_is_wider_than_a_phone(visit: Visit, demo: Demo, screens: list[str]) -> None:
    size = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False}
    visit.browser.call("Emulation.setDeviceMetricsOverride", **size)
    for title in screens:
        visit.go_to(title, demo.screens[title])
        assert visit.browser.evaluate("document.documentElement.scrollWidth") <= 320, title


def test_each_screen_has_one_heading_and_labels(
    visit: Visit, demo: Demo, screens: list[str]
) -> None:
    for title in screens:
        visit.go_to(title, demo.screens[title])
        assert visit.browser.evaluate("document.querySelectorAll('h1').length") == 1
        assert visit.browser.evaluate(_UNNAMED) == 0, title


def _set_scheme(visit: Visit, scheme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    visit.browser.call("Emulation.setEmulatedMedia", features=[feature])
