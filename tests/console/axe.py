"""Find violations of WCAG 2.2 AA in a page with axe-core, in light and dark."""

import json
from typing import Any

import pytest

from tests.console.browser import Browser
from tests.contract.local_server import ROOT

_AXE = ROOT / "node_modules/axe-core/axe.min.js"
_LIGHT = {"resultTypes": ["violations"]}
_DARK = _LIGHT | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
_FIND = """axe.run(document, %s).then(({violations}) => JSON.stringify(
  violations.map(({id, nodes}) => [id, nodes.slice(0, 3).map(each => each.html)])))"""


def find_violations(browser: Browser) -> dict[str, Any]:
    """Find the rules that the page as it is violates, by the colour scheme."""
    if not _AXE.is_file():
        pytest.skip("axe-core is not installed; make test installs it")
    if browser.evaluate("typeof axe") == "undefined":
        browser.evaluate(_AXE.read_text(encoding="utf-8") + "; true")
    found: dict[str, Any] = {}
    for scheme, options in (("light", _LIGHT), ("dark", _DARK)):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.call("Emulation.setEmulatedMedia", features=[feature])
        violations = json.loads(browser.evaluate(_FIND % json.dumps(options)))
        found |= {scheme: violations} if violations else {}
    browser.call("Emulation.setEmulatedMedia", features=[])
    return found
