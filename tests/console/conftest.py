"""A service with a little memory in it, and a browser in front of it; one of each for all tests."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from functions.api.routes.console import is_console_built
from tests.console.browser import Browser, find_chromium, start_browser
from tests.console.demo import Demo, write_demo
from tests.console.visit import SECRET, Visit
from tests.contract.expect import ok
from tests.contract.local_server import LocalServer, running

_NOTE = {"namespace": "notes", "memory_type": "episodic", "value": {"seen": "a price"}}
_STYLE = {"namespace": "company.style", "memory_type": "semantic", "tags": ["style"]}


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """The local server, with an agent's and a namespace's memory."""
    if find_chromium() is None:
        pytest.skip("no Chromium is found; install the package chromium")
    if not is_console_built():
        pytest.skip("the console is not built; run make console")
    data = tmp_path_factory.mktemp("console") / "data"
    often = "5"  # a person's deletion waits for a sweep
    with running(data, AGENT_MEMORY_SWEEP_SECONDS=often) as server, server.client() as admin:
        _fill(admin, server)
        yield server


def _fill(admin: httpx.Client, server: LocalServer) -> None:
    made = ok(admin.post("/api/v1/principals", json={"id": "agent_ada", "kind": "agent"}), 201)
    with server.client(made["api_key"]) as ada:
        for number in range(3):
            ok(ada.post("/api/v1/memory", json=_NOTE | {"key": f"note {number}"}), 201)
    people = _STYLE | {"namespace": "company.people", "key": "salaries"}
    secret = {"value": {"band": SECRET}, "sensitivity": "restricted"}
    ok(admin.post("/api/v1/memory", json=people | secret), 201)


@pytest.fixture(scope="package")
def demo(server: LocalServer) -> Demo:
    """The demo's team, in the same tenant."""
    return write_demo(server)


@pytest.fixture(scope="package")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The browser's folder, with all that it writes."""
    return tmp_path_factory.mktemp("profile")


@pytest.fixture(scope="package")
def browser(profile: Path) -> Iterator[Browser]:
    with start_browser(profile) as browser:
        yield browser


@pytest.fixture
def visit(server: LocalServer, browser: Browser) -> Iterator[Visit]:
    """A visit, with nothing loaded yet; afterwards the browser must have no complaint."""
    browser.call(
        "Page.navigate", url="about:blank"
    )  # what another test's page still asks ends here
    browser.complaints.clear()
    browser.requested.clear()
    browser.sent_headers.clear()
    with server.client() as admin:
        visit = Visit(browser, server, admin)
        yield visit
    assert not [each for each in browser.complaints if not visit.is_expected(each)]
