"""Clients of the shared local server; each test has a new tenant."""

import itertools
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_memory import Client, responses

from tests.contract.local_server import ROOT, ROOT_KEY, LocalServer
from tests.sdk import faults
from tests.sdk.crew import Crew
from tests.sdk.fault_proxy import FaultProxy, proxy_to
from tests.sdk.pages import CODE

EXAMPLES = ROOT / "sdk" / "examples"
RunExample = Callable[..., list[str]]
_serial = itertools.count(1)


@pytest.fixture
def root_key() -> str:
    return ROOT_KEY


@pytest.fixture
def admin(server: LocalServer) -> Iterator[Client]:
    """The all-permission user of a new tenant."""
    with Client(server.address, ROOT_KEY) as root:
        made = root.tenants.create(f"sdk-{next(_serial)}")
    with Client(server.address, made.api_key) as client:
        yield client


@pytest.fixture
def agent(server: LocalServer, admin: Client) -> Iterator[Callable[[str], Client]]:
    """Makes agents of the tenant: `agent("alice")` is a client under alice's key."""
    opened: list[Client] = []

    def introduced(name: str) -> Client:
        opened.append(Client(server.address, admin.principals.create(name).api_key))
        return opened[-1]

    yield introduced
    for client in opened:
        client.close()


@pytest.fixture
def alice(agent: Callable[[str], Client]) -> Client:
    return agent("alice")


@pytest.fixture
def proxy(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultProxy]:
    """A proxy in front of the server; clients of this process retry at once."""
    monkeypatch.setattr(responses, "FIRST_DELAY", 0.001)
    with proxy_to(server.address) as opened:
        yield opened


@pytest.fixture
def flaky(proxy: FaultProxy) -> FaultProxy:
    """One on which every third call goes wrong somehow."""
    proxy.follow(faults.flakiness())
    return proxy


@pytest.fixture
def crew(server: LocalServer, admin: Client) -> Iterator[Crew]:
    """A coordinator on the session's server."""
    made = Crew(server.address, admin)
    yield made
    made.close()


@pytest.fixture
def run_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunExample:
    """Runs an example under a client's key, as a fresh program in this process: what it imports
    takes seconds to start with. Returns the lines that it prints.
    """

    def run(client: Client, example: str, *arguments: str) -> list[str]:
        monkeypatch.setenv("AGENT_MEMORY_URL", client.settings.server_url)
        monkeypatch.setenv("AGENT_MEMORY_API_KEY", client.settings.api_key)
        monkeypatch.setattr(sys, "argv", [example, *arguments])
        runpy.run_path(str(EXAMPLES / example), run_name="__main__")
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out.splitlines()

    return run


@pytest.fixture
def run_page(
    admin: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], None]:
    """Runs the code of a page of the documentation as one program, under the admin's key."""

    def run(page: Path) -> None:
        monkeypatch.setenv("AGENT_MEMORY_URL", admin.settings.server_url)
        monkeypatch.setenv("AGENT_MEMORY_API_KEY", admin.settings.api_key)
        script = tmp_path / "example.py"
        script.write_text("\n".join(CODE.findall(page.read_text(encoding="utf-8"))), "utf-8")
        runpy.run_path(str(script), run_name="__main__")

    return run
