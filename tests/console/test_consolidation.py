"""Facts that say the same are merged by consolidation, and come back when it is undone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.api.routes.console import is_console_built
from tests.console.browser import Browser, find_chromium
from tests.console.visit import Visit
from tests.contract.expect import ok
from tests.contract.local_server import LocalServer, running

_FACT = {"subject": "Graz depot", "predicate": "opens at", "agent_type": "support"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A separate server, because a consolidation examines all facts of a tenant."""
    if find_chromium() is None or not is_console_built():
        pytest.skip("no Chromium is found, or the console is not built; run make console")
    data: Path = tmp_path_factory.mktemp("consolidation") / "data"
    with running(data, AGENT_MEMORY_SWEEP_SECONDS="2") as server:
        yield server


def test_suggestions_are_applied_and_undone(visit: Visit, browser: Browser) -> None:
    for spelling in ("Eight o'clock", "eight o'clock"):
        ok(visit.admin.post("/api/v1/facts", json=_FACT | {"object": spelling}), 201)
    visit.sign_in(screen="consolidation")
    browser.wait_for_text("the same, in another spelling")
    assert _count_facts(visit) == 2  # so far it is only a suggestion
    browser.press("Apply the suggestions…")
    browser.press("Consolidate")
    browser.wait_for_text("There is nothing to consolidate.")
    browser.wait_for("document.querySelector('section .badge')?.innerText === 'done'")
    browser.wait_for("document.querySelector('section li')?.innerText.includes('merged')")
    assert _count_facts(visit) == 1
    browser.press("Undo…")
    browser.press("Undo")
    browser.wait_for("document.querySelector('section li .tag')?.innerText === 'undone'")
    assert _count_facts(visit) == 2


def _count_facts(visit: Visit) -> int:
    return len(ok(visit.admin.get("/api/v1/facts"))["facts"])
