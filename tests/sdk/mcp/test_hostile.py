"""Bad arguments, bad keys, and a memory service that isn't there."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from threading import Thread
from typing import Any

import pytest
from mcp import MCPError
from mcp.types import TextResourceContents

from tests.contract.local_server import LocalServer
from tests.sdk.fault_proxy import proxy_to
from tests.sdk.faults import dropped_before
from tests.sdk.mcp.conftest import Connect
from tests.sdk.mcp.serving import kept_stderr, over_stdio

pytestmark = pytest.mark.anyio

PLACE = {"namespace": "n", "key": "k"}
SECRET = "the-launch-code-is-0000"


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"v": value}
    return value


HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("create_entry", {}, "namespace: Field required"),
    ("create_entry", PLACE, "value: Field required"),
    ("create_entry", PLACE | {"value": [1]}, "value: Input should be a valid dictionary"),
    (
        "create_entry",
        PLACE | {"value": {}, "tag": ["x"]},
        "tag: there is no such argument; there are namespace, key, value",
    ),
    ("create_entry", PLACE | {"value": {}, "tags": "a,b"}, "tags: Input should be a valid list"),
    (
        "create_entry",
        PLACE | {"value": {}, "memory_type": "eternal"},
        "memory_type: Input should be",
    ),
    ("create_entry", {"namespace": "", "key": "k", "value": {}}, "namespace: String should have"),
    ("create_entry", {"namespace": 7, "key": "k", "value": {}}, "namespace: Input should be"),
    ("create_entry", PLACE | {"value": {"t": "x" * 70_000}}, "70008 bytes"),
    ("create_entry", PLACE | {"value": {}, "ttl": "a while"}, "ttl"),
    ("create_entry", PLACE | {"value": nested(180)}, "value"),
    (
        "create_entry",
        PLACE | {"value": {}, "tags": ["t"] * 51},
        "tags: Value should have at most 50",
    ),
    (
        "read_entry",
        {"namespace": "n" * 256, "key": "k"},
        "namespace: String should have at most 255",
    ),
    ("read_entry", PLACE | {"agent_id": ""}, "agent_id: String should have"),
    ("list_entries", {"limit": 0}, "limit: Input should be greater"),
    ("list_entries", {"limit": 10**12}, "limit: Input should be less"),
    ("list_entries", {"tags": ["a,b"]}, "tags.0: String should match pattern '^[^,]*$'"),
    ("list_entries", {"tags_any": [""]}, "tags_any.0: String should have at least 1"),
    ("list_entries", {"after": ""}, "after: String should have at least 1"),
    ("change_entry", PLACE | {"version": 1}, "give the value, tags or ttl"),
    ("change_entry", PLACE | {"value": {}}, "version: Field required"),
    ("change_entry", PLACE | {"value": {}, "version": 0}, "version: Input should be greater"),
    ("change_entry", PLACE | {"value": {}, "version": "latest"}, "version: Input should be"),
    ("delete_entry", {"key": "k"}, "namespace: Field required"),
    ("memory_summary", {"agent_id": "../admin"}, "only the agent"),
    ("recall", {"query": " "}, "query: must not be blank"),
    ("remember", {}, "arguments: give text or value"),
    ("drop_all", {}, "there are remember, say, recall"),
]


async def test_bad_arguments_are_told_and_change_nothing(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        for tool, arguments, told in HOSTILE:
            refusal = await talk.refused(tool, **arguments)
            assert told in refusal, (tool, arguments, refusal)
            assert len(refusal) < 1000
        assert (await talk.call("list_entries"))["memories"] == []


VALUES: list[dict[str, Any]] = [
    {"text": "x" * 60_000},
    {"number": 2**63, "float": 0.1, "nothing": None, "nested": [[{"a": []}]]},
    {"": "", "\x00": "\x00", "quote": '"}', "emoji": "☂️", "__proto__": {}},
]


async def test_values_come_back_as_they_went(connect_by_each: Connect, key: str) -> None:
    async with connect_by_each(key) as talk:
        for number, value in enumerate(VALUES):
            place = PLACE | {"key": f"k{number}"}
            await talk.call("create_entry", **place, value=value)
            assert (await talk.call("read_entry", **place))["value"] == value
            (read,) = (await talk.client.read_resource(f"memory://entries/n/k{number}")).contents
            assert isinstance(read, TextResourceContents)
            assert json.loads(read.text)["value"] == value


async def test_objects_and_lists_as_json_text(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        made = await talk.call("create_entry", **PLACE, value='{"a": 1}', tags='["x"]')
    assert (made["value"], made["tags"]) == ({"a": 1}, ["x"])


async def test_a_key_that_is_not_accepted(connect_by_each: Connect) -> None:
    async with connect_by_each("am_not_a_key") as talk:
        refusal = await talk.refused("read_entry", **PLACE)
        assert "AGENT_MEMORY_API_KEY" in refusal
        assert "Authorization: Bearer KEY" in refusal
        assert "am_not_a_key" not in refusal


async def test_a_memory_service_that_goes_away_and_comes_back_and_logs_without_values(
    server: LocalServer, key: str
) -> None:
    with proxy_to(server.address) as proxy, kept_stderr() as errlog:
        async with over_stdio(proxy.address, key, errlog) as talk:
            proxy.follow(repeat(dropped_before))
            refusal = await talk.refused("create_entry", **PLACE, value={"a": SECRET})
            assert "can't be reached" in refusal
            proxy.plan()
            await talk.call("create_entry", **PLACE, value={"a": SECRET})
            await talk.refused("create_entry", **PLACE, value={"a": SECRET})
            await talk.refused("create_entry", **PLACE, value=SECRET)
            await talk.refused("change_entry", **PLACE, version=9, value={"a": SECRET})
            assert (await talk.call("read_entry", **PLACE))["value"] == {"a": SECRET}
            proxy.follow(repeat(dropped_before))
            assert "can't be reached" in await talk.refused("read_entry", **PLACE)
        errlog.seek(0)
        logged = errlog.read()
    assert SECRET not in logged
    assert key not in logged


class _Nonsense(BaseHTTPRequestHandler):
    """Answers everything with an entry that returned an invalid response."""

    def do_GET(self) -> None:
        body = json.dumps({"id": SECRET}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Keeps the tests' output clean."""


@pytest.fixture
def nonsense() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Nonsense) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


async def test_a_memory_service_behind_the_environments_proxy_that_talks_nonsense(
    nonsense: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"HTTP_PROXY": nonsense, "NO_PROXY": ""}.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.lower(), value)
    with kept_stderr() as errlog:
        async with over_stdio("http://memory.invalid", "am_any", errlog) as talk:
            refusal = await talk.refused("create_entry", **PLACE, value={})
            assert "returned an invalid response" in refusal
            assert "may have been made" in refusal
            with pytest.raises(MCPError, match="not from the memory service"):
                await talk.client.list_resources()
        errlog.seek(0)
        logged = errlog.read()
    assert "a tool failed" in logged
    assert SECRET not in logged + refusal
