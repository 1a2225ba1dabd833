"""The MCP server in front of the memory service, by either transport."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager

import pytest
from agent_memory import Client
from agent_memory.model import PrincipalKind

from tests.contract.local_server import LocalServer
from tests.sdk.mcp.serving import HttpServer, Talk, http_server, over_http, over_stdio

_serial = itertools.count(1)
Introduce = Callable[..., str]
Connect = Callable[[str], AbstractAsyncContextManager[Talk]]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def mcp_server(server: LocalServer) -> Iterator[HttpServer]:
    """An MCP server over HTTP. It has a key in its environment, which it must not use."""
    with http_server(server.address, AGENT_MEMORY_API_KEY=server.api_key) as started:
        yield started


@pytest.fixture
def introduce(admin: Client) -> Introduce:
    """Makes a new principal of a fresh tenant, by default an agent; its key."""

    def made(kind: PrincipalKind = "agent") -> str:
        return admin.principals.create(f"{kind}_{next(_serial)}", kind).api_key

    return made


@pytest.fixture
def key(introduce: Introduce) -> str:
    return introduce()


@pytest.fixture
def connect(mcp_server: HttpServer) -> Connect:
    """Connects a client under a key to the session's server, over HTTP."""
    return lambda key: over_http(mcp_server.endpoint, key)


@pytest.fixture(params=["stdio", "http"])
def connect_by_each(
    request: pytest.FixtureRequest, server: LocalServer, connect: Connect
) -> Connect:
    """Connects a client under a key, by each transport; over stdio, a process for each client."""
    return connect if request.param == "http" else lambda key: over_stdio(server.address, key)
