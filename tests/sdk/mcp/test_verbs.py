"""The six tools that a model gets by default."""

import pytest
from agent_memory import Client

from tests.contract.local_server import LocalServer
from tests.sdk.mcp.conftest import Introduce
from tests.sdk.mcp.serving import over_stdio

pytestmark = pytest.mark.anyio


@pytest.fixture
def key(introduce: Introduce, admin: Client) -> str:
    """An agent's key; all agents may write the memory of users."""
    admin.namespaces.set_permissions("users/*", default="none")
    made = introduce()
    me = Client(admin.settings.server_url, made).principals.me().id
    admin.namespaces.set_permissions("users/*", default="none", allow={me: "write"})
    return made


async def test_what_was_remembered_and_said_is_recalled_and_forgotten(
    server: LocalServer, key: str
) -> None:
    async with over_stdio(server.address, key, options=()) as talk:
        names = [each.name for each in (await talk.client.list_tools()).tools]
        assert names == ["remember", "say", "recall", "forget", "hand_over", "list_memories"]
        tools = (await talk.client.list_tools()).tools
        assert all("user" in each.input_schema["properties"] for each in tools)
        made = await talk.call("remember", text="Ada pays by invoice", user="ada")
        assert (await talk.call("remember", text="ada pays, by invoice!", user="ada")) == made
        await talk.call("say", session_id="chat", text="We promise a refund in March", user="ada")
        said = {"session_id": "chat", "text": "Noted", "role": "assistant", "user": "ada"}
        assert (await talk.call("say", **said))["message_count"] == 2
        found = await talk.call("recall", query="What did we promise?", user="ada")
        assert found["items"][0]["text"] == "We promise a refund in March"
        assert "We promise a refund" in found["text"]
        (listed,) = (await talk.call("list_memories", user="ada"))["memories"]
        assert listed == made
        client = Client(server.address, key)
        shown = client.recall("invoice", user_id="ada", sources=["entries"], wait="indexed").items
        assert [each.reference for each in shown] == [made["reference"]]
        reference = found["items"][0]["reference"]
        said["text"] = "The refund comes in March"
        await talk.call("say", **said, uses=[reference])
        assert [each.text for each in client.list_answers(reference)] == [said["text"]]
        assert "must be references" in await talk.refused("say", **said, uses=["tea"])
        gone = await talk.call("forget", reference=found["items"][0]["reference"])
        assert gone["items"] == 1
        done = await talk.call("forget", user="ada", everything=True)
        assert (done["entries"], done["conversations"]) == (1, 1)
        assert (await talk.call("recall", query="refund", user="ada"))["items"] == []


@pytest.mark.parametrize(
    ("tool", "named"),
    [
        ("say", {"text": "Hi", "user": "ben"}),
        ("append_message", {"role": "user", "content": "Hi", "user_id": "ben"}),
    ],
)
async def test_a_session_of_one_user_does_not_get_the_words_of_another(
    server: LocalServer, key: str, tool: str, named: dict[str, str]
) -> None:
    session = f"of-ada-{tool}"
    async with over_stdio(server.address, key, options=("--all-tools",)) as talk:
        await talk.call("say", session_id=session, text="My order is late", user="ada")
        refusal = await talk.refused(tool, session_id=session, **named)
        assert "belongs to another user; use another session_id" in refusal


async def test_own_memory_needs_no_set_up(server: LocalServer, key: str) -> None:
    async with over_stdio(server.address, key, options=()) as talk:
        await talk.call("remember", value={"build": "broken since Tuesday"}, tags=["ci"])
        assert len((await talk.call("list_memories"))["memories"]) == 1
        assert "text or value" in await talk.refused("remember")
        assert "must not be blank" in await talk.refused("remember", text=" ")
        assert "everything" in await talk.refused("forget", user="ada")
        assert "there is no such tool" in await talk.refused("create_entry")


async def test_a_task_is_handed_over_with_a_note(
    server: LocalServer, admin: Client, key: str
) -> None:
    me = Client(server.address, key).principals.me().id
    task = admin.tasks.create("intent", assigned_agent=me, delegates=["reviewer"])
    async with over_stdio(server.address, key, options=()) as talk:
        done = await talk.call(
            "hand_over", task_id=task.id, to="reviewer", note="half is done", user="ada"
        )
        assert done == {
            "task_id": task.id,
            "assigned_agent": "reviewer",
            "hand_over_note": "The task is about the user ada.\nhalf is done",
        }
        assert await talk.refused("hand_over", task_id=task.id, to="somebody")
