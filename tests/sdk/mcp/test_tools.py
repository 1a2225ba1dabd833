"""The tools, as an MCP client calls them."""

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from agent_memory import Client

from tests.contract.local_server import LocalServer
from tests.sdk.mcp.conftest import Connect, Introduce
from tests.sdk.mcp.serving import HttpServer, over_http, over_stdio

pytestmark = pytest.mark.anyio

SOON = 60.0  # seconds, at most, until a write is found
PLACE = {"namespace": "preferences", "key": "colour"}


async def test_remember_recall_update_forget(connect_by_each: Connect, key: str) -> None:
    async with connect_by_each(key) as talk:
        made = await talk.call("create_entry", **PLACE, value={"is": "blue"}, tags=["ui"])
        assert (made["version"], made["memory_type"], made["tags"]) == (1, "episodic", ["ui"])
        assert await talk.call("read_entry", **PLACE) == made
        changed = await talk.call("change_entry", **PLACE, version=1, value={"is": "green"})
        assert (changed["version"], changed["value"]) == (2, {"is": "green"})
        assert await talk.call("delete_entry", **PLACE) == {"forgotten": True}
        assert await talk.call("delete_entry", **PLACE) == {"forgotten": False}
        assert "no memory 'colour'" in await talk.refused("read_entry", **PLACE)


async def test_what_it_remembers_is_the_callers_own_in_the_service(
    connect: Connect, key: str, server: LocalServer
) -> None:
    async with connect(key) as talk:
        made = await talk.call("create_entry", **PLACE, value={"is": "blue"}, ttl="duration:PT1H")
    with Client(server.address, key) as client:
        entry = client.memory.get_entry(id=made["id"])
    assert entry is not None
    assert (entry.value, entry.ttl) == ({"is": "blue"}, "duration:PT1H")
    assert entry.raw["created_by"] == made["agent_id"]


async def test_remember_never_overwrites(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        await talk.call("create_entry", **PLACE, value={"is": "blue"})
        await talk.call("read_entry", **PLACE)
        refusal = await talk.refused("create_entry", **PLACE, value={"is": "red"})
        assert "exists, at version 1" in refusal
        assert "change that version" in refusal
        assert (await talk.call("read_entry", **PLACE))["value"] == {"is": "blue"}


async def test_who_may_only_write_is_told_what_was_done(connect: Connect, admin: Client) -> None:
    writer = admin.principals.create("write_only", permissions=["memory.write"])
    async with connect(writer.api_key) as talk:
        made = await talk.call("create_entry", **PLACE, value={"is": "blue"})
        assert (made["version"], made["value"]) == (1, None)
        fact = await talk.call("learn_fact", subject="Ada", predicate="likes", object="tea")
        assert (fact["learned_count"], fact["subject"]) == (1, None)


async def test_an_update_of_what_has_changed_is_refused(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        await talk.call("create_entry", **PLACE, value={"n": 1})
        await talk.call("change_entry", **PLACE, version=1, value={"n": 2})
        refusal = await talk.refused("change_entry", **PLACE, version=1, value={"n": 3})
        assert "version is 2 now" in refusal
        assert "version is 2 now" in await talk.refused("delete_entry", **PLACE, version=1)
        assert (await talk.call("read_entry", **PLACE))["value"] == {"n": 2}


async def test_an_update_changes_only_what_is_given(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        await talk.call("create_entry", **PLACE, value={"a": 1, "b": 2}, tags=["x"])
        merged = await talk.call("change_entry", **PLACE, version=1, value={"b": 3}, merge=True)
        assert (merged["value"], merged["tags"]) == ({"a": 1, "b": 3}, ["x"])
        tagged = await talk.call("change_entry", **PLACE, version=2, tags=["y"])
        assert (tagged["value"], tagged["tags"]) == ({"a": 1, "b": 3}, ["y"])
        said = await talk.call("change_entry", **PLACE, version=3, value="plain text")
        assert said["value"] == {"text": "plain text"}


async def test_memories_are_found_by_namespace_and_tags(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        for name, tags in (("a", ["x"]), ("b", ["x", "y"]), ("c", ["z"])):
            await talk.call("create_entry", namespace=f"n.{name}", key=name, value={}, tags=tags)

        async def found(**filters: object) -> list[str]:
            page = await talk.call("list_entries", **filters)
            return [memory["key"] for memory in page["memories"]]

        assert await found() == ["c", "b", "a"]
        assert await found(tags=["x"]) == ["b", "a"]
        assert await found(tags=["x", "y"]) == ["b"]
        assert await found(tags_any=["y", "z"]) == ["c", "b"]
        assert await found(namespace="n.a") == ["a"]
        assert await found(namespace="n.*") == ["c", "b", "a"]
        assert await found(memory_type="working") == []
        first = await talk.call("list_entries", limit=2)
        assert await found(limit=2, after=first["next"]) == ["a"]


async def test_shared_memories_are_read_by_all(
    connect: Connect, key: str, introduce: Introduce
) -> None:
    place = {"namespace": f"policies_{id(connect)}", "key": "refunds"}
    async with connect(introduce("user")) as user, connect(key) as agent:
        await user.call("create_entry", **place, value={"days": 30}, memory_type="semantic")
        assert (await agent.call("read_entry", **place))["value"] == {"days": 30}
        shared = await agent.call(
            "list_entries", memory_type="semantic", namespace=place["namespace"]
        )
        assert len(shared["memories"]) == 1
        refusal = await agent.refused("change_entry", **place, version=1, value={"days": 0})
        assert "may not" in refusal or "write" in refusal


async def test_a_user_lists_its_own_without_saying_who_it_is(
    connect: Connect, introduce: Introduce
) -> None:
    async with connect(introduce("user")) as talk:
        await talk.call("create_entry", **PLACE, value={})
        assert len((await talk.call("list_entries"))["memories"]) == 1


async def test_memories_are_searched_with_scores_and_what_matched(
    connect: Connect, key: str
) -> None:
    async with connect(key) as talk:
        await talk.call("create_entry", **PLACE, value="INC-4821 was an expired certificate")
        found: list[Any] = []
        deadline = time.monotonic() + SOON
        while not found and time.monotonic() < deadline:
            found = (await talk.call("search_entries", query="INC-4821"))["memories"]
        (best,) = found
        assert best["value"] == {"text": "INC-4821 was an expired certificate"}
        assert best["score"] > 0.5
        assert "4821" in best["matched"]
        (other,) = (await talk.call("search_entries", query="INC-4812"))["memories"]
        assert other["score"] < best["score"]  # no threshold hides it


async def test_facts_are_recalled_with_scores_and_what_matched(
    connect: Connect, introduce: Introduce, agent: Callable[[str], Client]
) -> None:
    learner = agent("learner")
    learner.facts.learn("Amara", "is_allergic_to", "walnuts")
    learner.facts.learn("Jonas", "gives", "Amara a lift")
    async with connect(introduce()) as talk:
        found = (await talk.call("recall_facts", query="all about Amara"))["facts"]
        assert found[0]["object"] == "walnuts"
        assert found[0]["matched"] == ["amara"]
        assert 0.2 < found[1]["score"] < found[0]["score"] < 1


async def test_a_fact_learned_twice_is_one(connect: Connect, introduce: Introduce) -> None:
    async with connect(introduce()) as talk:
        fact = {"subject": "Acme GmbH", "predicate": "pays within", "object": "14 days"}
        await talk.call("learn_fact", **fact, confidence=0.5)
        again = await talk.call("learn_fact", **fact, confidence=0.9)
        assert (again["learned_count"], again["confidence"]) == (2, 0.9)
        (found,) = (await talk.call("recall_facts", query="when does Acme pay"))["facts"]
        assert found["fact_id"] == again["fact_id"]


async def test_a_conversation_is_begun_gone_on_with_and_read(
    connect: Connect, introduce: Introduce
) -> None:
    session = {"session_id": "s1"}
    async with connect(introduce()) as talk:
        await talk.call("append_message", **session, role="user", content="Hi", user_id="user_7")
        said = {"role": "assistant", "content": {"text": "Hello"}}
        assert (await talk.call("append_message", **session, **said))["message_count"] == 2
        (head,) = (await talk.call("list_conversations", user_id="user_7"))["conversations"]
        assert (head["session_id"], head["message_count"]) == ("s1", 2)
        (last,) = (await talk.call("read_conversation", **session, last=1))["messages"]
        assert (last["role"], last["content"]) == ("assistant", {"text": "Hello"})
        refused = await talk.refused("read_conversation", session_id="absent")
        assert "`list_conversations`" in refused


async def test_memory_in_figures(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        made = await talk.call("create_entry", **PLACE, value={})
        summary = await talk.call("memory_summary")
        assert summary["agent_id"] == made["agent_id"]
        assert summary["episodic"]["entry_count"] == 1
        assert summary["working"]["entry_count"] == 0


async def test_working_memory_of_a_task(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        fields = {"memory_type": "working", "task_id": f"task_{key[-8:]}"}
        made = await talk.call("create_entry", **PLACE, value={"done": 3}, **fields)
        assert made["scope"]["task_id"] == fields["task_id"]
        page = await talk.call("list_entries", task_id=fields["task_id"])
        assert [memory["value"] for memory in page["memories"]] == [{"done": 3}]


async def test_clients_of_the_former_protocol_generation(
    server: LocalServer, mcp_server: HttpServer, key: str
) -> None:
    async with over_stdio(server.address, key, mode="legacy") as talk:
        await talk.call("create_entry", **PLACE, value={"by": "stdio"})
    async with over_http(mcp_server.endpoint, key, mode="legacy") as talk:
        assert (await talk.call("read_entry", **PLACE))["value"] == {"by": "stdio"}


async def test_descriptions_name_tools_and_fields_that_exist(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        tools = (await talk.client.list_tools()).tools
    described = json.dumps([each.model_dump(mode="json") for each in tools])
    names = set(re.findall(r'"([a-z_]+)"', described))  # of tools and fields, and values of enums
    examples = {"preferences", "user", "assistant"}
    assert set(re.findall(r"`([a-z_]+)`", described)) - names - examples == set()


async def test_what_clients_are_told_of_the_tools(connect: Connect, key: str) -> None:
    async with connect(key) as talk:
        tools = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
        assert "`recall`" in (talk.client.instructions or "")
    hints = {
        name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for name, tool in tools.items()
        if tool.annotations
    }
    assert hints == {
        "remember": (False, False),
        "say": (False, False),
        "recall": (True, False),
        "forget": (False, True),
        "hand_over": (False, False),
        "list_memories": (True, False),
        "create_entry": (False, False),
        "read_entry": (True, False),
        "list_entries": (True, False),
        "search_entries": (True, False),
        "recall_facts": (True, False),
        "learn_fact": (False, False),
        "list_conversations": (True, False),
        "read_conversation": (True, False),
        "append_message": (False, False),
        "change_entry": (False, True),
        "delete_entry": (False, True),
        "memory_summary": (True, False),
    }
    for tool in tools.values():
        assert tool.description
        assert tool.annotations
        assert tool.annotations.idempotent_hint is (tool.name not in ("append_message", "say"))
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema
        assert tool.output_schema["type"] == "object"
    assert tools["change_entry"].input_schema["required"] == ["namespace", "key", "version"]
