"""The fixture `memory_service`, as tests of agents use it."""

import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import anyio
import boto3
import pytest
from agent_memory import Client
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.testing import MemoryService
from agent_memory.testing import memory_service as opened
from moto import mock_aws


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_starts_with_nothing(memory_service: MemoryService, turn: int) -> None:
    agent = memory_service.as_agent("ada")
    assert agent.memory.get("n", "k") is None
    agent.memory.set("n", "k", {"turn": turn})
    assert agent.memory.get("n", "k") == {"turn": turn}


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_has_a_service_of_its_own(memory_service: MemoryService, turn: int) -> None:
    agent_types = memory_service.runs.list_agent_types
    assert agent_types().list() == []
    memory_service.runs.start("support")
    assert agent_types().list() == ["support"]
    large = bytes([turn]) * 4_200_000
    memory_service.objects.put("files", "large", large)
    stored = memory_service.objects.get("files", "large")
    assert stored is not None
    assert stored.data == large
    message = {"role": "user", "content": str(turn)}
    memory_service.conversations.put("chat", "ada", [message], ttl="P1D")
    archive = "/api/v1/conversations/chat/archive"
    with pytest.raises(MemoryNotFoundError):
        memory_service.request("GET", archive)
    memory_service.clock.advance(days=1)
    memory_service.settle()
    memory_service.request("GET", archive)


def test_time_passes_when_the_test_says_so(memory_service: MemoryService) -> None:
    began = memory_service.clock.now
    agent = memory_service.as_agent("ada")
    agent.memory.set("n", "k", {"here": True}, ttl="duration:PT1H")
    memory_service.clock.advance(minutes=59)
    assert agent.memory.get("n", "k") == {"here": True}
    memory_service.clock.advance(minutes=1)
    assert agent.memory.get("n", "k") is None
    assert memory_service.clock.now - began < timedelta(hours=1, seconds=1)


def test_time_never_goes_back(memory_service: MemoryService) -> None:
    before = memory_service.clock.now
    with pytest.raises(ValueError, match="only moves forward"):
        memory_service.clock.advance(minutes=1, seconds=-61)
    assert memory_service.clock.now == before
    assert before.utcoffset() == timedelta()


def test_what_is_written_later_is_later(memory_service: MemoryService) -> None:
    names = [str(number) for number in range(12)]
    for name in names:
        memory_service.memory.set("n", name, {}, memory_type="semantic")
    found = memory_service.memory.query(namespace="n", memory_type="semantic")
    assert [entry.key for entry in found] == names[::-1]


def events(client: Client) -> list[str]:
    return [event.type for event in client.events.list_for_agent("ada")]


def test_events_and_removals_come_when_it_settles(memory_service: MemoryService) -> None:
    agent = memory_service.as_agent("ada")
    agent.memory.set("n", "k", {}, ttl="duration:PT1H")
    assert events(agent) == []
    memory_service.settle()
    assert events(agent) == ["memory.created"]
    memory_service.clock.advance(hours=2)
    memory_service.settle()
    assert events(agent) == ["memory.created", "memory.expired"]


def test_the_end_of_a_task_comes_after_what_happened_in_it(memory_service: MemoryService) -> None:
    ada = memory_service.as_agent("ada")
    task = memory_service.tasks.create("intent", assigned_agent="ada")
    ada.memory.put("ns", "k", {"n": 1}, task_id=task.id)
    memory_service.tasks.complete(task.id)
    types = [event.type for event in memory_service.events.list_for_intent("intent")]
    assert types == ["memory.created", "memory.archived"]


def test_principals_are_apart_and_of_one_tenant(memory_service: MemoryService) -> None:
    one, other = memory_service.as_agent("one"), memory_service.as_agent("other")
    one.memory.set("n", "k", {"of": "one"})
    assert other.memory.get("n", "k") is None
    assert memory_service.as_agent("one").memory.get("n", "k") == {"of": "one"}
    memory_service.memory.set("policies", "refunds", {"days": 30}, memory_type="semantic")
    assert other.memory.get("policies", "refunds") == {"days": 30}


def test_a_coordinator_reads_the_memory_of_its_task(memory_service: MemoryService) -> None:
    agent, boss = memory_service.as_agent("ada"), memory_service.as_coordinator("boss")
    boss.tasks.create(intent_id="i", id="t", assigned_agent="ada")
    agent.memory.set("n", "k", {"done": 3}, task_id="t")
    assert [entry.value for entry in boss.memory.query(task_id="t")] == [{"done": 3}]


def test_a_name_stands_for_one_kind(memory_service: MemoryService) -> None:
    memory_service.as_agent("ada")
    with pytest.raises(ValueError, match="'ada' was created as agent, not as coordinator"):
        memory_service.as_coordinator("ada")
    assert memory_service.as_user("ursula").principals.me().kind == "user"
    assert memory_service.principals.me().id == "admin"


def test_async_clients(memory_service: MemoryService) -> None:
    async def use() -> list[str]:
        async with memory_service.as_async("ada") as client, anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(client.memory.set, "n", str(number), {})
        async with memory_service.as_async("ada") as client:
            return [entry.key async for entry in client.memory.query(namespace="n")]

    assert sorted(anyio.run(use), key=int) == [str(number) for number in range(20)]
    assert memory_service.as_agent("ada").memory.get("n", "7") == {}


def test_own_code_makes_its_own_client(memory_service: MemoryService) -> None:
    key = memory_service.key_of("ada")
    with Client(api_key=key, transport=memory_service.transport) as client:
        client.memory.set("n", "k", {"x": 1})
    assert memory_service.as_agent("ada").memory.get("n", "k") == {"x": 1}


@pytest.fixture
def bucket() -> Iterator[Any]:
    """A mocked AWS account with a bucket, as tests of other code have."""
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="bucket")
        yield s3


def test_moto_before_it(bucket: Any, memory_service: MemoryService) -> None:
    memory_service.memory.set("n", "k", {})
    assert [each["Name"] for each in bucket.list_buckets()["Buckets"]] == ["bucket"]


def test_moto_after_it(memory_service: MemoryService, bucket: Any) -> None:
    memory_service.memory.set("n", "k", {"x": 1})
    assert memory_service.memory.get("n", "k") == {"x": 1}
    assert [each["Name"] for each in bucket.list_buckets()["Buckets"]] == ["bucket"]


def test_moto_in_between(memory_service: MemoryService) -> None:
    memory_service.memory.set("n", "k", {"x": 1})
    with mock_aws():
        dynamodb = boto3.client("dynamodb", region_name="us-east-1")
        assert dynamodb.list_tables()["TableNames"] == []
    assert memory_service.memory.get("n", "k") == {"x": 1}


def test_without_the_fixture() -> None:
    before = dict(os.environ)
    with opened() as service:
        assert dict(os.environ) == before
        service.memory.set("n", "k", {})
        assert service.memory.get("n", "k") == {}
