"""The deployed service in the place of the one in this process, for the same contract tests.

What a deployment doesn't offer leaves a test out at the moment that it asks for it: a clock that
is moved, the tables' content, another instance of a function.
"""

import time
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest

from functions.platform.clock import now_ms
from tests.contract.engines import Engine
from tests.contract.service import Service
from tests.contract.transport import MovableClock
from tests.e2e.cloud import Cloud

_LONGEST_PAUSE = 0.1  # seconds that a test may let pass in earnest
_PATIENCE = httpx.Timeout(60.0)


def _left_out(what: str) -> NoReturn:
    pytest.skip(f"a deployment offers no {what}")


class GatewayTransport(httpx.BaseTransport):
    """Carries requests to the HTTP API at the emulator's address for it, over TLS."""

    def __init__(self, cloud: Cloud, api_id: str) -> None:
        self._base = httpx.URL(cloud.url)
        self._prefix = f"/_aws/execute-api/{api_id}/$default".encode()
        self._transport = httpx.HTTPTransport(verify=cloud.trust)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = self._prefix + request.url.raw_path
        there = self._base.copy_with(raw_path=path)
        headers = [pair for pair in request.headers.raw if pair[0].lower() != b"host"]
        sent = httpx.Request(
            request.method,
            there,
            headers=[(b"Host", there.netloc), *headers],
            stream=request.stream,
            extensions={"timeout": _PATIENCE.as_dict()},
        )
        try:
            return self._transport.handle_request(sent)
        except httpx.LocalProtocolError:
            _left_out("way to send what is no HTTP")


class RunningClock(MovableClock):
    """This machine's time. Short moves are waited for."""

    def __init__(self) -> None:
        """Runs from the start."""

    def __call__(self) -> int:
        return now_ms()

    @property
    def now(self) -> int:  # type: ignore[override]
        """The present time, which no test can use: the time passes before it is compared."""
        _left_out("clock that stands still")

    def advance(self, *, seconds: float = 0, ms: int = 0) -> None:
        pause = seconds + ms / 1000
        if not 0 <= pause <= _LONGEST_PAUSE:
            _left_out("clock that moves")
        time.sleep(pause)


class DeployedEngine(Engine):
    """Tables that are out of reach."""

    cloud: Cloud

    def __init__(self, cloud: Cloud) -> None:
        known = {"name": "deployed", "parallel": True, "takes_volume": False, "cloud": cloud}
        for name, value in known.items():
            object.__setattr__(self, name, value)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that another process would need."""
        _left_out("way to its tables")

    @property
    def memory(self) -> str:
        _left_out("way to its tables")

    @property
    def log(self) -> str:
        _left_out("way to its tables")

    @property
    def client(self) -> Any:
        _left_out("way to its tables")

    def empty_tables(self) -> None:
        """They stay. No call that the test has led to was refused by IAM."""
        assert self.cloud.new_denials() == []

    def items(self) -> list[dict[str, Any]]:
        _left_out("look into its tables")


class DeployedService(Service):
    """The service behind its gateway; tests share it, each with its own tenants."""

    @property
    def archive(self) -> Path:
        """The folder that stands for cold storage."""
        _left_out("folder that stands for cold storage")


def deployed_service(cloud: Cloud, api_id: str, root_key: str) -> DeployedService:
    """The service at an HTTP API of an emulated AWS."""
    transport = GatewayTransport(cloud, api_id)
    return DeployedService(DeployedEngine(cloud), RunningClock(), cloud.folder, transport, root_key)
