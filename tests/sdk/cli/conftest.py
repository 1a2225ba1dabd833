"""Give each test a new tenant, and command lines that use it."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent_memory import responses

from tests.contract.local_server import ROOT_KEY, LocalServer
from tests.sdk.cli.terminal import Cli

_serial = itertools.count(1)


@dataclass(frozen=True)
class Tenant:
    """A tenant, and how its admin reaches the service."""

    server: LocalServer
    http: httpx.Client
    home: Path
    api_key: str

    def cli(self, api_key: str | None = None) -> Cli:
        return Cli(self.home, self.server.address, api_key or self.api_key)

    def agent(self, name: str, kind: str = "agent") -> str:
        body = {"id": name, "kind": kind}
        made = self.http.post("/api/v1/principals", json=body).raise_for_status()
        return str(made.json()["api_key"])

    def create(self, **fields: Any) -> dict[str, Any]:
        """An entry of the admin's, written as it is given."""
        body = {"namespace": "ns", "key": "k", "value": {}, "memory_type": "working"} | fields
        made: dict[str, Any] = self.http.post("/api/v1/memory", json=body).raise_for_status().json()
        return made


@contextmanager
def _tenant(server: LocalServer, home: Path) -> Iterator[Tenant]:
    with server.client(ROOT_KEY) as root:
        made = root.post("/api/v1/tenants", json={"id": f"cli-{next(_serial)}"}).raise_for_status()
    api_key = made.json()["admin"]["api_key"]
    with server.client(api_key) as http:
        yield Tenant(server, http, home, api_key)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process retry at once."""
    monkeypatch.setattr(responses, "FIRST_DELAY", 0.001)


@pytest.fixture
def tenant(server: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    with _tenant(server, tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.fixture
def another(server: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    with _tenant(server, tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.fixture
def cli(tenant: Tenant) -> Cli:
    return tenant.cli()
