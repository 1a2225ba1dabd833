"""The resources, as an MCP client reads them."""

import json
from typing import Any

import pytest
from mcp import MCPError

from tests.sdk.mcp.conftest import Connect, Introduce
from tests.sdk.mcp.serving import Talk

pytestmark = pytest.mark.anyio


async def read(talk: Talk, uri: str) -> Any:
    (contents,) = (await talk.client.read_resource(uri)).contents
    assert (contents.uri, contents.mime_type) == (uri, "application/json")
    return json.loads(getattr(contents, "text", ""))


async def all_uris(talk: Talk) -> list[str]:
    uris: list[str] = []
    cursor: str | None = None
    while True:
        page = await talk.client.list_resources(cursor=cursor)
        uris += [resource.uri for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            return uris


async def test_a_memory_by_its_names(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        made = await talk.call("create_entry", namespace="n", key="k", value={"a": 1})
        assert await read(talk, "memory://entries/n/k") == made


OVERVIEW = {"memory://entries", "memory://summary"}
NO_RESOURCES = [
    "memory://entries/only-one",
    "memory://entries/a/b/c",
    "memory://entries//k",
    "memory://entries/n/%FF",
    "memory://elsewhere",
    "file:///etc/passwd",
]
NAMES = ["a/b", "Ünï cödé ☂", "..", ".", "/etc/passwd", "100%", "a?b#c", "%2F", "\x00", " "]


async def test_names_of_any_kind(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        for name in NAMES:
            made = await talk.call("create_entry", namespace=name, key=name, value={"a": 1})
            (uri,) = set(await all_uris(talk)) - OVERVIEW
            assert await read(talk, uri) == made
            await talk.call("delete_entry", namespace=name, key=name)


async def test_all_that_may_be_read_is_listed(
    connect: Connect, key: str, introduce: Introduce
) -> None:
    namespace = f"shared_{key[-8:]}"
    async with connect(introduce("user")) as user, connect(key) as talk:
        await user.call(
            "create_entry", namespace=namespace, key="s", value={}, memory_type="semantic"
        )
        for number in range(51):
            await talk.call("create_entry", namespace="n", key=str(number), value={})
        uris = await all_uris(talk)
        assert uris[:3] == ["memory://entries", "memory://summary", "memory://entries/n/50"]
        assert len(uris) == len(set(uris)) >= 54
        assert f"memory://entries/{namespace}/s" in uris
        newest = await read(talk, "memory://entries")
        assert (len(newest["memories"]), newest["next"] is None) == (50, False)
        assert (await read(talk, "memory://summary"))["episodic"]["entry_count"] == 51


async def test_what_is_no_resource_is_told_so(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        for uri in NO_RESOURCES:
            with pytest.raises(MCPError, match=r"memory://entries/\{namespace\}/\{key\}"):
                await talk.client.read_resource(uri)


async def test_a_memory_that_is_not_there_names_no_tool(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        with pytest.raises(MCPError, match="there is no memory 'k' in the namespace 'n'") as raised:
            await talk.client.read_resource("memory://entries/n/k")
        assert "_entr" not in str(raised.value)


async def test_a_cursor_that_was_never_given(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        for cursor in ("", "x", "2:0", "0:-1", "0:x", "0:²", "0:" + "9" * 5000):
            with pytest.raises(MCPError, match="list from the start"):
                await talk.client.list_resources(cursor=cursor)


async def test_the_template_is_announced(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        (template,) = (await talk.client.list_resource_templates()).resource_templates
    assert template.uri_template == "memory://entries/{namespace}/{key}"
