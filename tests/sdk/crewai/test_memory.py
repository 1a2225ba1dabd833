"""CrewAI's memory: what its `StorageBackend` owes, and what strains it."""

import asyncio
import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from agent_memory import AsyncClient, Client
from agent_memory.exceptions import MemoryCapacityError, ValidationError

from tests.sdk.conftest import RunExample

pytest.importorskip("crewai", reason="`make crewai` runs these with CrewAI")

from agent_memory.adapters.crewai import AgentMemoryStorageBackend
from crewai.memory.storage.backend import StorageBackend
from crewai.memory.storage.factory import set_memory_storage_factory
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

START = datetime(2026, 1, 1)  # noqa: DTZ001 - CrewAI's times have no zone


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[0.01 + text.count(letter) for letter in map(chr, range(64, 128))] for text in texts]


def make_record(
    text: str, scope: str = "/", *categories: str, day: int = 0, **fields: Any
) -> MemoryRecord:
    return MemoryRecord(
        id=fields.pop("id", text),
        content=text,
        scope=scope,
        categories=[*categories],
        created_at=START + timedelta(days=day),
        embedding=embed([text])[0],
        **fields,
    )


RECORDS = [
    make_record("green tea", "/user/ann", "drink", metadata={"hot": True}, day=1, source="ann"),
    make_record("green leaf", "/user/ann/work", "drink", "work", day=3),
    make_record("red car", "/user/anna", "car", metadata={"hot": 1, "seats": [2]}, day=2),
    make_record("tax form", "/", day=0),
]


@pytest.fixture(params=["episodic", "semantic"])
def storage(request: pytest.FixtureRequest, admin: Client) -> AgentMemoryStorageBackend:
    """A storage with four records."""
    filled = AgentMemoryStorageBackend(admin, memory_type=request.param)
    filled.save(RECORDS)
    return filled


def find(storage: AgentMemoryStorageBackend, text: str, **filters: Any) -> list[str]:
    return [record.content for record, _ in storage.search(embed([text])[0], **filters)]


def texts(records: list[MemoryRecord]) -> list[str]:
    return [record.content for record in records]


def test_records_come_back_without_their_vectors(storage: AgentMemoryStorageBackend) -> None:
    assert isinstance(storage, StorageBackend)
    for record in RECORDS:
        assert storage.get_record(record.id) == record.model_copy(update={"embedding": None})
    assert storage.get_record("other") is None


def test_by_default_the_least_alike_are_found_too(storage: AgentMemoryStorageBackend) -> None:
    opposite = [-number for number in embed(["green tea"])[0]]
    assert len(storage.search(opposite)) == len(RECORDS)
    hot = storage.search(opposite, metadata_filter={"hot": True})  # 1 is True, as for LanceDB
    assert [each.content for each, _ in hot] == ["red car", "green tea"]
    assert storage.search(opposite, min_score=0.1) == []


def test_the_nearest_come_first_with_their_cosines(storage: AgentMemoryStorageBackend) -> None:
    (first, score), (second, less), *rest = storage.search(embed(["green tea"])[0])
    assert (first.content, second.content) == ("green tea", "green leaf")
    assert score == pytest.approx(1, abs=0.001)
    assert score > less
    assert len(rest) == 2
    assert find(storage, "green tea", limit=1) == ["green tea"]
    assert find(storage, "green tea", min_score=0.99) == ["green tea"]
    assert (find(storage, "tea", limit=0), storage.search([])) == ([], [])


def test_a_search_meets_scopes_categories_and_metadata(storage: AgentMemoryStorageBackend) -> None:
    expected: list[tuple[dict[str, Any], list[str]]] = [
        ({"scope_prefix": "/"}, ["green tea", "green leaf", "tax form", "red car"]),
        ({"scope_prefix": "/user/ann"}, ["green tea", "green leaf"]),
        ({"scope_prefix": "user//ann/"}, ["green tea", "green leaf"]),
        ({"scope_prefix": "/user/an"}, []),
        ({"categories": ["drink", "car"]}, ["green tea", "green leaf", "red car"]),
        ({"categories": ["work", "car"], "scope_prefix": "/user/ann"}, ["green leaf"]),
        ({"metadata_filter": {"seats": [2]}}, ["red car"]),
        ({"metadata_filter": {"hot": True}, "limit": 1}, ["green tea"]),
    ]
    for filters, found in expected:
        assert sorted(find(storage, "green tea", **filters)) == sorted(found)


def test_records_are_listed_and_counted_by_scope(storage: AgentMemoryStorageBackend) -> None:
    newest = ["green leaf", "red car", "green tea", "tax form"]
    assert texts(storage.list_records()) == newest
    assert texts(storage.list_records(limit=2, offset=1)) == newest[1:3]
    assert texts(storage.list_records("/user/ann")) == ["green leaf", "green tea"]
    assert [storage.count(scope) for scope in (None, "/", "/user", "/user/ann", "/u")] == [
        4,
        4,
        3,
        2,
        0,
    ]
    assert storage.list_scopes() == ["/user"]
    assert storage.list_scopes("/user") == ["/user/ann", "/user/anna"]
    assert storage.list_categories() == {"drink": 2, "work": 1, "car": 1}
    assert storage.list_categories("/user/anna") == {"car": 1}
    info = storage.get_scope_info("/user/ann/")
    assert (info.path, info.record_count, info.categories) == ("/user/ann", 2, ["drink", "work"])
    assert info.oldest_record == START + timedelta(days=1)
    assert info.newest_record == START + timedelta(days=3)
    assert info.child_scopes == ["/user/ann/work"]
    assert storage.get_scope_info("/none").record_count == 0


def test_deletions_meet_all_conditions(storage: AgentMemoryStorageBackend) -> None:
    later = (START + timedelta(days=2)).replace(tzinfo=UTC)
    assert storage.delete(record_ids=[]) == 0
    assert storage.delete(record_ids=["red car", "gone"], scope_prefix="/user/ann") == 0
    assert storage.delete(categories=["drink"], metadata_filter={"hot": False}) == 0
    assert storage.delete(scope_prefix="/user", older_than=later) == 1
    assert storage.delete(record_ids=["red car", "gone"]) == 1
    assert storage.delete(categories=["work", "other"]) == 1
    assert texts(storage.list_records()) == ["tax form"]
    storage.save(RECORDS)
    storage.reset("/user/ann")
    assert texts(storage.list_records()) == ["red car", "tax form"]
    storage.reset()
    assert (storage.count(), find(storage, "tea")) == (0, [])


def test_an_update_without_a_vector_keeps_it(storage: AgentMemoryStorageBackend) -> None:
    moved = make_record("tea, green", "/user/bob", id="green tea", metadata={"n": 1})
    moved.embedding = None
    storage.update(moved)
    assert find(storage, "green tea", min_score=0.99) == ["tea, green"]
    assert find(storage, "green tea", scope_prefix="/user/ann") == ["green leaf"]
    moved.embedding = embed(["red car"])[0]
    storage.update(moved)
    assert find(storage, "green tea", min_score=0.99) == []
    storage.update(make_record("new"))
    assert storage.count() == 5


def test_a_record_without_a_vector_is_listed_only(alice: Client) -> None:
    storage = AgentMemoryStorageBackend(alice, "other")
    storage.save([MemoryRecord(id="a", content="a"), make_record("b")])
    storage.save([MemoryRecord(id="b", content="b again")])
    assert sorted(texts(storage.list_records())) == ["a", "b again"]
    assert find(storage, "b") == []


def test_a_vector_of_zeros_is_stored_and_near_to_nothing(alice: Client) -> None:
    storage = AgentMemoryStorageBackend(alice)
    zeros = MemoryRecord(content="blank", scope="/team", embedding=[0.0] * 64)
    storage.save([zeros, *RECORDS])
    assert storage.list_scopes("/") == ["/team", "/user"]
    assert "blank" not in {each.content for each, _ in storage.search(embed(["tea"])[0])}
    assert storage.search([0.0] * 64) == []
    assert storage.delete("/team") == 1


def test_what_cannot_be_stored_is_refused(alice: Client, admin: Client) -> None:
    storage = AgentMemoryStorageBackend(alice)
    storage.save([make_record("a")])
    with pytest.raises(ValidationError, match="64"):
        storage.save([MemoryRecord(content="b", embedding=[1.0] * 65)])
    with pytest.raises(ValidationError, match="64"):
        storage.search([1.0] * 65)
    with pytest.raises(TypeError):
        AgentMemoryStorageBackend("am_key")  # type: ignore[arg-type]
    admin.agents.configure("alice", capacity=1)
    with pytest.raises(MemoryCapacityError):
        storage.save([make_record("c")])


def test_threads_and_event_loops_share_a_storage(alice: Client) -> None:
    with_async = AsyncClient(alice.settings.server_url, alice.settings.api_key)
    storage = AgentMemoryStorageBackend(with_async)

    def save(number: int) -> int:
        record = make_record(f"note {number}", f"/n/{number}")
        asyncio.run(storage.asave([record]))
        found = asyncio.run(storage.asearch(record.embedding or [], f"/n/{number}"))
        assert [each.id for each, _ in found] == [record.id]
        return asyncio.run(storage.adelete(f"/n/{number}"))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(save, range(8))) == [1] * 8
    assert storage.count() == 0


def test_a_memory_of_crewai_remembers_and_recalls(alice: Client) -> None:
    backend = AgentMemoryStorageBackend(alice)
    memory = Memory(storage=backend, embedder=embed, root_scope="/crew")

    def remember(text: str, scope: str) -> None:
        memory.remember(text, scope=scope, categories=["c"], importance=0.5, metadata={})

    remember("Ada drinks green tea", "/ada")
    remember("The car is red", "/garage")
    assert copy.deepcopy(backend) is backend
    for each in (memory, memory.scope("/ada")):
        found = each.recall("green tea", depth="shallow")
        assert found[0].record.content == "Ada drinks green tea"
    assert memory.info("/").child_scopes == ["/crew/ada", "/crew/garage"]
    assert memory.update(found[0].record.id, importance=1.0).importance == 1
    assert memory.forget(scope="/ada") == 1
    assert texts(memory.list_records()) == ["The car is red"]
    memory.close()
    assert backend.count("/crew") == 1


def test_crewai_takes_the_storage_from_a_factory(alice: Client) -> None:
    backend = AgentMemoryStorageBackend(alice)
    set_memory_storage_factory(lambda spec: backend if spec == "agent-memory" else None)
    try:
        memory = Memory(storage="agent-memory", embedder=embed)
    finally:
        set_memory_storage_factory(None)
    memory.remember("x", scope="/", categories=[], importance=0.5, metadata={})
    memory.drain_writes()
    assert backend.count() == 1


def test_a_crew_remembers_what_its_last_run_learned(alice: Client, run_example: RunExample) -> None:
    first = run_example(alice, "crewai_memory.py", "Ada drinks green tea.")
    second = run_example(alice, "crewai_memory.py", "The cat is Tom.")
    assert first[-1] == "knows: Ada drinks green tea."
    assert second[-1] == "knows: Ada drinks green tea.; The cat is Tom."
