"""What both adapters are tested with: a flaky way to the server, and the asyncio event loop."""

from collections.abc import Iterator

import pytest

from tests.contract.local_server import LocalServer
from tests.sdk import faults
from tests.sdk.fault_proxy import FaultProxy, proxy_to


@pytest.fixture
def anyio_backend() -> str:
    """Both packages are asyncio's."""
    return "asyncio"


@pytest.fixture
def proxy(server: LocalServer) -> Iterator[FaultProxy]:
    """A proxy in front of the server."""
    with proxy_to(server.address) as opened:
        yield opened


@pytest.fixture
def flaky(proxy: FaultProxy) -> FaultProxy:
    """One on which every third call goes wrong somehow."""
    proxy.follow(faults.flakiness())
    return proxy
