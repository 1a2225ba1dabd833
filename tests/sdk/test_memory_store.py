"""Agent Memory Protocol §3: one contract for both stores; what one writes the other reads."""

import inspect
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.exceptions import MemoryAccessError, TooLargeError
from agent_memory.memory_store import (
    BaseMemoryStore,
    ConversationContext,
    DatabaseMemoryStore,
    InMemoryMemoryStore,
    Message,
)

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678_912, tzinfo=timezone(timedelta(hours=2)))
SIGNATURES = {
    "store_conversation": ["session_id", "user_id", "conversation"],
    "retrieve_conversation": ["session_id"],
    "delete_conversation": ["session_id"],
    "list_conversations_for_user": ["user_id", "limit", "offset"],
    "store_agent_state": ["agent_id", "owner_id", "key", "state_data"],
    "retrieve_agent_state": ["agent_id", "owner_id", "key"],
    "delete_agent_state": ["agent_id", "owner_id", "key"],
    "get_all_agent_states": ["agent_id", "owner_id"],
}
JSON: list[Any] = [None, True, 2**70, -0.5, "Grüße", [1, [None]], {"a": {"b": []}}]


@pytest.fixture(params=["memory", "service"])
def store(request: pytest.FixtureRequest, admin: Client) -> BaseMemoryStore:
    """Either store, empty."""
    return InMemoryMemoryStore() if request.param == "memory" else DatabaseMemoryStore(admin)


def conversation(session: str = "s1", *said: Any) -> ConversationContext:
    """A conversation with these contents."""
    messages = [Message("user", content, MOMENT, {"n": n}) for n, content in enumerate(said)]
    return ConversationContext(session, messages, {"summary": "short"}, ["billing"])


def test_it_has_the_seeds_signatures() -> None:
    methods = {name: getattr(BaseMemoryStore, name) for name in SIGNATURES}
    found = {name: list(inspect.signature(each).parameters)[1:] for name, each in methods.items()}
    assert found == SIGNATURES
    assert BaseMemoryStore.__abstractmethods__ == SIGNATURES.keys()


def test_a_conversation_comes_back_equal(store: BaseMemoryStore) -> None:
    told = conversation("s1", *JSON)
    store.store_conversation("s1", "user_1", told)
    found = store.retrieve_conversation("s1")
    assert found == told
    assert found is not None
    assert found.messages[0].timestamp == datetime(2026, 1, 2, 1, 4, 5, 678_000, tzinfo=UTC)
    assert store.retrieve_conversation("unknown") is None


def test_storing_it_again_replaces_it(store: BaseMemoryStore) -> None:
    store.store_conversation("s1", "user_1", conversation("s1", "a", "b"))
    shorter = conversation("s1", "c")
    store.store_conversation("s1", "user_1", shorter)
    assert store.retrieve_conversation("s1") == shorter


def test_what_the_caller_changes_later_changes_nothing(store: BaseMemoryStore) -> None:
    told = conversation("s1", {"a": [1]})
    store.store_conversation("s1", "user_1", told)
    kept = conversation("s1", {"a": [1]})
    told.messages[0].content["a"].append(2)
    first = store.retrieve_conversation("s1")
    assert first == kept
    assert first is not None
    first.messages.clear()
    assert store.retrieve_conversation("s1") == kept
    state = {"a": [1]}
    store.store_agent_state("agent", "user_1", "k", state)
    state["a"].append(2)
    assert store.retrieve_agent_state("agent", "user_1", "k") == {"a": [1]}


def test_a_conversation_beyond_any_body_comes_back_whole(store: BaseMemoryStore) -> None:
    told = conversation("s1", *(f"{n}" + "x" * 60_000 for n in range(130)))
    store.store_conversation("s1", "user_1", told)
    assert store.retrieve_conversation("s1") == told


def test_deletions_are_true_whether_or_not_it_was_there(store: BaseMemoryStore) -> None:
    store.store_conversation("s1", "user_1", conversation("s1", "a"))
    store.store_agent_state("agent", "user_1", "k", 1)
    for _ in range(2):
        assert store.delete_conversation("s1") is True
        assert store.delete_agent_state("agent", "user_1", "k") is True
    assert store.retrieve_conversation("s1") is None
    assert store.retrieve_agent_state("agent", "user_1", "k") is None


def test_a_users_conversations_are_listed_newest_first_without_bodies(
    store: BaseMemoryStore,
) -> None:
    for number in range(5):
        store.store_conversation(f"s{number}", "user_1", conversation(f"s{number}", "hidden"))
        time.sleep(0.002)  # the service orders by milliseconds
    store.store_conversation("other", "user_2", conversation("other", "hidden"))
    page = store.list_conversations_for_user("user_1", limit=2, offset=1)
    assert [each["session_id"] for each in page] == ["s3", "s2"]
    assert "hidden" not in str(page)
    assert page[0].keys() >= {"session_id", "last_updated", "summary", "message_count"}
    assert page[0]["summary"] == "short"
    assert len(store.list_conversations_for_user("user_1")) == 5
    assert store.list_conversations_for_user("user_1", limit=0) == []
    assert store.list_conversations_for_user("user_1", offset=9) == []
    for limit, offset in ((-1, 0), (1, -1)):
        with pytest.raises(ValueError, match="0 or more"):
            store.list_conversations_for_user("user_1", limit, offset)


def test_states_hold_any_json_value(store: BaseMemoryStore, subtests: pytest.Subtests) -> None:
    for value in JSON:
        with subtests.test(repr(value)):
            store.store_agent_state("agent", "user_1", "k", value)
            assert store.retrieve_agent_state("agent", "user_1", "k") == value
            assert store.get_all_agent_states("agent", "user_1") == {"k": value}


def test_states_of_others_are_apart(store: BaseMemoryStore) -> None:
    for agent, owner, key in (("a", "u", "k"), ("a", "u", "l"), ("a", "v", "k"), ("b", "u", "k")):
        store.store_agent_state(agent, owner, key, f"{agent}{owner}{key}")
    assert store.get_all_agent_states("a", "u") == {"k": "auk", "l": "aul"}
    assert store.get_all_agent_states("nobody", "u") == {}


def test_what_is_not_json_is_refused_alike(
    store: BaseMemoryStore, subtests: pytest.Subtests
) -> None:
    refused: list[Any] = [{1}, (1,), b"x", float("nan"), {1: 2}, object(), "\ud800"]
    for value in refused:
        with subtests.test(repr(value)):
            with pytest.raises(TypeError):
                store.store_agent_state("agent", "user_1", "k", value)
            with pytest.raises(TypeError):
                store.store_conversation("s1", "user_1", conversation("s1", value))
    assert store.retrieve_conversation("s1") is None


def test_what_is_too_large_or_of_another_session_is_refused_alike(store: BaseMemoryStore) -> None:
    with pytest.raises(TooLargeError):
        store.store_agent_state("agent", "user_1", "k", "x" * 70_000)
    with pytest.raises(TooLargeError):
        store.store_conversation("s1", "user_1", conversation("s1", "x" * 70_000))
    with pytest.raises(ValueError, match="session_id"):
        store.store_conversation("s1", "user_1", conversation("s2", "a"))


def test_what_one_store_wrote_is_equal_in_the_other(admin: Client) -> None:
    there, here = DatabaseMemoryStore(admin), InMemoryMemoryStore()
    here.store_conversation("s1", "user_1", conversation("s1", *JSON))
    found = here.retrieve_conversation("s1")
    assert found is not None
    there.store_conversation("s1", "user_1", found)
    assert there.retrieve_conversation("s1") == found


def test_others_neither_read_nor_delete_it(agent: Callable[[str], Client]) -> None:
    mine, others = (DatabaseMemoryStore(agent(name)) for name in ("alice", "bob"))
    mine.store_conversation("s1", "user_1", conversation("s1", "a"))
    with pytest.raises(MemoryAccessError):
        others.retrieve_conversation("s1")
    assert others.delete_conversation("s1") is False
    assert mine.retrieve_conversation("s1") == conversation("s1", "a")
