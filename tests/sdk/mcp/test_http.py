"""Streamable HTTP: whose key counts, and who may ask at all."""

import signal

import anyio
import httpx
import pytest

from tests.contract.local_server import LocalServer
from tests.sdk.mcp.conftest import Introduce
from tests.sdk.mcp.serving import HttpServer, http_server, over_http

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def post(endpoint: str, key: str | None, **headers: str) -> httpx.Response:
    sent = ACCEPT | {name.replace("_", "-"): value for name, value in headers.items()}
    if key is not None:
        sent["Authorization"] = f"Bearer {key}"
    return httpx.post(endpoint, json=PING, headers=sent, trust_env=False)


def test_without_a_key_nothing_is_answered_whatever_the_server_was_started_with(
    mcp_server: HttpServer,
) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic YTpi"},
        {"X-API-Key": "two words"},
    ):
        answer = post(mcp_server.endpoint, None, **headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert "Authorization: Bearer KEY" in answer.json()["error_description"]


def test_the_services_own_header_will_do(mcp_server: HttpServer, key: str) -> None:
    assert post(mcp_server.endpoint, None, X_API_Key=key).json() == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {},
    }


HEADERS: list[tuple[dict[str, str], int]] = [
    ({"Host": "evil.example"}, 421),
    ({"Host": "127.0.0.1.evil.example:80"}, 421),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost.evil.example:80"}, 403),
    ({"Origin": "http://localhost:6274"}, 200),
    ({"Host": "localhost:1"}, 200),
]


def test_web_pages_from_elsewhere_are_kept_out(mcp_server: HttpServer, key: str) -> None:
    for headers, status in HEADERS:
        assert post(mcp_server.endpoint, key, **headers).status_code == status, headers


def test_a_proxy_is_let_in_by_name(server: LocalServer, key: str) -> None:
    options = ("--allow-host", "memory.example", "--allow-origin", "https://memory.example")
    with http_server(server.address, *options) as behind:
        known = {"Host": "memory.example", "Origin": "https://memory.example"}
        assert post(behind.endpoint, key, **known).status_code == 200
        assert post(behind.endpoint, key, Host="evil.example").status_code == 421
        behind.end(signal.SIGTERM)


def test_no_session_outlives_its_request_so_none_can_be_taken_over(
    mcp_server: HttpServer, key: str
) -> None:
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    headers = ACCEPT | {"Authorization": f"Bearer {key}"}
    answer = httpx.post(mcp_server.endpoint, json=initialize, headers=headers, trust_env=False)
    assert answer.status_code == 200
    assert "Mcp-Session-Id" not in answer.headers


@pytest.mark.anyio
async def test_many_clients_at_once_each_under_its_own_key(
    mcp_server: HttpServer, introduce: Introduce
) -> None:
    seen: dict[str, set[str]] = {}

    async def use(key: str) -> None:
        async with over_http(mcp_server.endpoint, key) as talk:
            for number in range(5):
                made = await talk.call(
                    "create_entry", namespace="n", key=str(number), value={"of": key}
                )
                seen.setdefault(key, set()).add(made["agent_id"])
            page = await talk.call("list_entries")
            assert {memory["value"]["of"] for memory in page["memories"]} == {key}

    keys = [introduce() for _ in range(6)]
    async with anyio.create_task_group() as group:
        for key in keys:
            group.start_soon(use, key)
    assert len(set.union(*seen.values())) == len(keys) == len(seen)


def test_bodies_beyond_its_size_and_other_paths(mcp_server: HttpServer, key: str) -> None:
    headers = ACCEPT | {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    large = httpx.post(
        mcp_server.endpoint, content=b" " * 5_000_000, headers=headers, trust_env=False
    )
    assert large.status_code == 413
    elsewhere = mcp_server.endpoint.replace("/mcp", "/")
    assert httpx.get(elsewhere, headers=headers, trust_env=False).status_code == 404
    garbage = httpx.post(mcp_server.endpoint, content=b"{", headers=headers, trust_env=False)
    assert garbage.status_code == 400
