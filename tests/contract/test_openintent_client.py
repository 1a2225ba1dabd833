"""The published `openintent` 0.17 client works unmodified against the local server."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from openintent import (  # type: ignore[import-untyped]
    AsyncOpenIntentClient,
    OpenIntentClient,
)
from openintent.exceptions import (  # type: ignore[import-untyped]
    ConflictError,
    NotFoundError,
    OpenIntentError,
    ValidationError,
)
from openintent.models import (  # type: ignore[import-untyped]
    MemoryEntry,
    MemoryScope,
    MemoryType,
    TaskStatus,
)

from functions.local.engine import find_binary
from tests.contract.bodies import create, entry
from tests.contract.local_server import ROOT, LocalServer

pytestmark = pytest.mark.skipif(
    find_binary(ROOT) is None, reason="no embedded database for this platform"
)


class Synchronous:
    """The async client, called like the other one."""

    def __init__(self, *settings: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = AsyncOpenIntentClient(*settings)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda *args, **kwargs: self._loop.run_until_complete(method(*args, **kwargs))


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, server: LocalServer) -> Iterator[Any]:
    """The published client, as a new agent of the default tenant."""
    id = f"agent-{request.node.name}"
    made = httpx.post(
        f"{server.address}/api/v1/principals",
        json={"id": id, "kind": "agent"},
        headers={"X-API-Key": server.api_key},
    )
    settings = (server.address, made.raise_for_status().json()["api_key"], id)
    opened = OpenIntentClient(*settings) if request.param == "sync" else Synchronous(*settings)
    yield opened
    opened.close()


def remember(client: Any, agent: str, **fields: Any) -> Any:
    given = {"namespace": "notes", "key": "k", "value": {"n": 1}, "memory_type": "episodic"}
    return client.create_memory(agent, **(given | fields))


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> str:
    return f"agent-{request.node.name}"


def test_create_and_get(client: Any, agent: str) -> None:
    made = remember(client, agent, tags=["a", "b"], pinned=True, sensitivity="internal")
    found = client.get_memory(made.id)
    assert found == made
    assert (made.agent_id, made.version, made.tags) == (agent, 1, ["a", "b"])
    assert made.memory_type is MemoryType.EPISODIC
    assert made.pinned
    assert made.created_at is not None


def test_working_memory_in_a_task(client: Any, agent: str) -> None:
    made = client.create_memory(agent, "notes", "k", {"n": 1}, scope={"task_id": f"task_{agent}"})
    assert made.memory_type is MemoryType.WORKING
    assert isinstance(made.scope, MemoryScope)
    assert made.scope.task_id == f"task_{agent}"


def test_list(client: Any, agent: str) -> None:
    for number in range(3):
        remember(client, agent, key=f"k{number}", namespace=f"n.{number}", tags=[f"t{number}", "t"])
    assert {each.key for each in client.list_memory(agent)} == {"k0", "k1", "k2"}
    assert [each.key for each in client.list_memory(agent, namespace="n.1")] == ["k1"]
    assert [each.key for each in client.list_memory(agent, tags=["t", "t2"])] == ["k2"]
    assert client.list_memory(agent, memory_type="working") == []
    assert len(client.list_memory(agent, limit=2, offset=1)) == 2


def test_update(client: Any, agent: str) -> None:
    made = remember(client, agent)
    changed = client.update_memory(made.id, made.version, value={"n": 2}, tags=["new"])
    assert (changed.version, changed.value, changed.tags) == (2, {"n": 2}, ["new"])
    assert client.get_memory(made.id) == changed


def test_a_conflict_is_typed_and_has_the_version(client: Any, agent: str) -> None:
    made = remember(client, agent)
    client.update_memory(made.id, 1, value={"n": 2})
    with pytest.raises(ConflictError) as caught:
        client.update_memory(made.id, 1, value={"n": 3})
    assert caught.value.current_version == 2
    assert caught.value.response is not None
    assert caught.value.response["current"]["value"] == {"n": 2}
    with pytest.raises(ConflictError) as taken:
        remember(client, agent)
    assert taken.value.current_version == 2


def test_delete(client: Any, agent: str) -> None:
    made = remember(client, agent)
    assert client.delete_memory(made.id) is None
    with pytest.raises(NotFoundError):
        client.get_memory(made.id)
    with pytest.raises(NotFoundError):
        client.delete_memory(made.id)


def test_what_is_wrong_is_typed(client: Any, agent: str) -> None:
    with pytest.raises(ValidationError) as caught:
        remember(client, agent, memory_type="dream", bogus=1)
    assert {"memory_type", "bogus"} <= {error["field"] for error in caught.value.errors}
    assert caught.value.message != "Validation error"
    with pytest.raises(NotFoundError):
        client.get_memory("mem_unknown")
    with pytest.raises(OpenIntentError) as denied:
        remember(client, "somebody-else")
    assert denied.value.status_code == 403


def test_tasks(client: Any, agent: str) -> None:
    intent = f"intent_{agent}"
    made = client.create_task(intent, "Gather figures", description="All", input={"q": 3})
    assert (made.name, made.status, made.version) == ("Gather figures", TaskStatus.PENDING, 1)
    assert (made.description, made.input, made.assigned_agent) == ("All", {"q": 3}, agent)
    assert client.get_task(made.id) == made
    running_ = client.update_task(made.id, made.version, status="running")
    assert (running_.status, running_.version) == (TaskStatus.RUNNING, 2)
    assert client.list_tasks(intent) == [running_]
    assert client.list_tasks(intent, status=TaskStatus.PENDING) == []
    with pytest.raises(ConflictError) as stale:
        client.update_task(made.id, 1, status="completed")
    assert stale.value.current_version == 2
    done = client.update_task(made.id, 2, status="completed", output={"sum": 7})
    assert (done.status, done.output) == (TaskStatus.COMPLETED, {"sum": 7})
    assert done.completed_at is not None
    with pytest.raises(NotFoundError):
        client.get_task("task_unknown")


def test_discovery(client: Any) -> None:
    assert isinstance(client.discover(), dict)


@pytest.mark.parametrize("tier", ["working", "episodic"])
def test_what_the_published_client_renders_can_be_posted_again(
    ada: httpx.Client, tier: str
) -> None:
    made = create(ada, entry(memory_type=tier, ttl="PT24H"))
    ok_again = MemoryEntry.from_dict(made).to_dict() | {"key": "again"}
    again = create(ada, ok_again)
    assert (again["value"], again["ttl"]) == (made["value"], "duration:PT24H")
