"""The event bus gets every event once, archived memory's too, and never a value (contract §5)."""

import json
from typing import Any

import pytest

from functions.event_log.store import LogStore
from functions.platform.aws import create_client
from functions.platform.table import Table
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.stream.bus import Bus
from functions.stream.removals import Removals
from functions.stream.service import Lifecycle
from functions.tasks.store import TaskStore
from functions.vectors.in_memory_vectors import float16_format
from functions.vectors.store import VectorStore
from functions.vectors.wordllama import MODEL, embed
from tests.contract.bodies import change_task, create, create_task, entry, working
from tests.contract.expect import ok
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, log, sequence

pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
HUSH = "hush-hush"


class EventBridge:
    """A client that takes what is not in `down`, and keeps it."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.down: set[str | None] = set()

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        """As boto3's."""
        details = [json.loads(each["Detail"]) for each in Entries]
        refused = [each["data"].get("key") in self.down for each in details]
        self.taken += [each for each, no in zip(details, refused, strict=True) if not no]
        answers = [{"ErrorCode": "InternalFailure"} if no else {"EventId": "1"} for no in refused]
        return {"FailedEntryCount": sum(refused), "Entries": answers}


@pytest.fixture
def bus() -> EventBridge:
    """The bus."""
    return EventBridge()


@pytest.fixture
def lifecycle(service: Service, bus: EventBridge) -> Lifecycle:
    """The stream function's inside, on that bus."""
    dynamodb = create_client("dynamodb")
    memory = Table(dynamodb, service.engine.memory)
    logs = LogStore(Table(dynamodb, service.engine.log))
    removals, tasks = Removals(memory, service.clock), TaskStore(memory)
    vectors = EmbeddingIndexer(VectorStore(memory, service.clock, float16_format(MODEL)), embed)
    return Lifecycle(removals, tasks, logs, Bus(bus, "agent-memory"), vectors)


def secret(key: str) -> dict[str, Any]:
    """A create body with a value that nobody may see."""
    return entry(key=key, value={"secret": HUSH})


def test_a_replay_publishes_nothing_again(
    service: Service, tenant: Tenant, lifecycle: Lifecycle, bus: EventBridge
) -> None:
    stream = Stream(service)
    for number in range(25):
        create(tenant.admin, secret(str(number)))
    records = stream.read()
    for _ in range(2):
        assert lifecycle.process(records) == []
    logged = log(tenant.admin, "agents/admin")
    assert [each["id"] for each in bus.taken] == [each["id"] for each in logged]
    assert HUSH not in json.dumps(bus.taken)


def test_what_the_bus_refuses_comes_again(
    service: Service, tenant: Tenant, lifecycle: Lifecycle, bus: EventBridge
) -> None:
    stream = Stream(service)
    for key in "abc":
        create(tenant.admin, secret(key))
    records = stream.read()
    entries = [each for each in records if each["dynamodb"]["Keys"]["sk"]["S"].startswith("e#")]
    bus.down = {"b"}
    assert lifecycle.process(records) == [sequence(entries[1])]
    bus.down = set()
    assert lifecycle.process(records[records.index(entries[1]) :]) == []
    assert [each["data"]["key"] for each in bus.taken] == ["a", "c", "b"]
    assert len(log(tenant.admin, "agents/admin")) == 3


def test_archived_memory_is_announced_without_its_snapshot(
    service: Service, tenant: Tenant, lifecycle: Lifecycle, bus: EventBridge
) -> None:
    stream = Stream(service)
    ada, boss = tenant.agent("ada"), tenant.coordinator("boss")
    task = create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    for key in "ab":
        create(ada, working("t", key=key, value={"secret": HUSH}))
    ok(change_task(boss, task, status="completed"))
    records = stream.read()
    for _ in range(2):
        assert lifecycle.process(records) == []
    (archived,) = [each for each in bus.taken if each["type"] == "memory.archived"]
    (logged,) = log(boss, "intents/i", type="memory.archived")
    assert (archived["id"], archived["subject"]) == (logged["id"], "t")
    assert archived["data"]["entries_archived"] == 2
    assert HUSH not in json.dumps(bus.taken)
    assert HUSH in json.dumps(logged)
