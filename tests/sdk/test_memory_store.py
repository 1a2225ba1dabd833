"""Agent Memory Protocol §3: one contract for both stores; what one writes the other reads."""

import copy
import inspect
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from agent_memory import Client, message_pieces
from agent_memory.exceptions import MemoryAccessError, MemoryConflictError, TooLargeError
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


class Killed(BaseException):
    """The process ends."""


class Dying(httpx.HTTPTransport):
    """Carries a number of requests; the process ends at the next one."""

    def __init__(self, requests: int) -> None:
        super().__init__()
        self._left = requests

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self._left == 0:
            raise Killed
        self._left -= 1
        return super().handle_request(request)


@pytest.fixture(params=["memory", "service"])
def store(request: pytest.FixtureRequest, agent: Callable[[str], Client]) -> BaseMemoryStore:
    """Either store, empty; over the service, as the agent `agent`."""
    if request.param == "memory":
        return InMemoryMemoryStore()
    return DatabaseMemoryStore(agent("agent"))


def conversation(session: str = "s1", *said: Any) -> ConversationContext:
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


def test_what_the_caller_has_not_seen_is_not_overwritten(store: BaseMemoryStore) -> None:
    store.store_conversation("s1", "user_1", conversation("s1", "q"))
    mine, theirs = store.retrieve_conversation("s1"), store.retrieve_conversation("s1")
    assert mine is not None
    assert theirs is not None
    for each, text in ((mine, "from A"), (theirs, "from B")):
        each.messages.append(Message("assistant", text, MOMENT))
    store.store_conversation("s1", "user_1", copy.deepcopy(mine))
    with pytest.raises(MemoryConflictError):
        store.store_conversation("s1", "user_1", theirs)
    assert store.retrieve_conversation("s1") == mine
    store.delete_conversation("s1")
    store.store_conversation("s1", "user_1", theirs)
    assert store.retrieve_conversation("s1") == theirs


def test_a_store_of_another_process_sees_before_it_overwrites(
    agent: Callable[[str], Client],
) -> None:
    client = agent("alice")
    here, there = DatabaseMemoryStore(client), DatabaseMemoryStore(client)
    here.store_conversation("s1", "user_1", conversation("s1", "a"))
    with pytest.raises(MemoryConflictError):
        there.store_conversation("s1", "user_1", conversation("s1", "b"))
    found = there.retrieve_conversation("s1")
    assert found is not None
    there.store_conversation("s1", "user_1", found)
    with pytest.raises(MemoryConflictError):
        here.store_conversation("s1", "user_1", conversation("s1", "c"))
    there.delete_conversation("s1")
    stale = here.retrieve_conversation("s1")
    assert stale is None
    with pytest.raises(MemoryConflictError):
        there.store_conversation("s2", "user_1", _retrieved_and_deleted(there, here))


def _retrieved_and_deleted(
    store: DatabaseMemoryStore, other: DatabaseMemoryStore
) -> ConversationContext:
    """A conversation that another store deleted since it was retrieved."""
    store.store_conversation("s2", "user_1", conversation("s2", "a"))
    found = store.retrieve_conversation("s2")
    assert found is not None
    other.delete_conversation("s2")
    return found


def test_a_conversation_beyond_any_body_is_stored_in_one_step(
    store: BaseMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_pieces, "MAX_PIECE_BYTES", 20_000)
    told = conversation("s1", *(f"{n}" + "x" * 6_000 for n in range(40)))
    store.store_conversation("s1", "user_1", told)
    assert store.retrieve_conversation("s1") == told
    told.messages.append(Message("user", "more", MOMENT))
    store.store_conversation("s1", "user_1", told)
    assert store.retrieve_conversation("s1") == told


def test_a_store_killed_in_between_leaves_what_was_before(
    agent: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_pieces, "MAX_PIECE_BYTES", 20_000)
    client = agent("alice")
    before = conversation("s1", *(f"{n}" + "x" * 6_000 for n in range(10)))
    DatabaseMemoryStore(client).store_conversation("s1", "user_1", before)
    after = conversation("s1", *(f"{n}" + "y" * 6_000 for n in range(12)))
    where = (client.settings.server_url, client.settings.api_key)
    killed = 0
    while (found := DatabaseMemoryStore(client).retrieve_conversation("s1")) is not None:
        if found.messages != before.messages:
            break
        with Client(*where, transport=Dying(1 + killed)) as dying, suppress(Killed):
            store = DatabaseMemoryStore(dying)
            store.retrieve_conversation("s1")
            store.store_conversation("s1", "user_1", after)
        killed += 1
    assert found is not None
    assert found.messages == after.messages
    assert killed > 4


def test_deletions_are_true_whether_or_not_it_was_there(store: BaseMemoryStore) -> None:
    store.store_conversation("s1", "user_1", conversation("s1", "a"))
    store.store_agent_state("agent", "user_1", "k", 1)
    for _ in range(2):
        assert store.delete_conversation("s1") is True
        assert store.delete_agent_state("agent", "user_1", "k") is True
    assert store.retrieve_conversation("s1") is None
    assert store.retrieve_agent_state("agent", "user_1", "k") is None


def test_a_users_conversations_are_listed_by_last_update_without_bodies(
    store: BaseMemoryStore,
) -> None:
    for number in range(5):
        store.store_conversation(f"s{number}", "user_1", conversation(f"s{number}", "hidden"))
        time.sleep(0.002)  # the service orders by milliseconds
    store.store_conversation("s0", "user_1", conversation("s0", "hidden"))
    store.store_conversation("other", "user_2", conversation("other", "hidden"))
    page = store.list_conversations_for_user("user_1", limit=2, offset=1)
    assert [each["session_id"] for each in page] == ["s4", "s3"]
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
    for owner, key in (("u", "k"), ("u", "l"), ("v", "k")):
        store.store_agent_state("agent", owner, key, f"{owner}{key}")
    store.store_agent_state("agent", "u", "k", "again")
    states = store.get_all_agent_states("agent", "u")
    assert list(states.items()) == [("k", "again"), ("l", "ul")]  # the last updated one first
    assert store.get_all_agent_states("nobody", "u") == {}


def test_ids_and_roles_are_refused_alike(store: BaseMemoryStore, subtests: pytest.Subtests) -> None:
    for id in ("", ".", "..", "x" * 300, "\ud800"):
        with subtests.test(repr(id)):
            for use in (
                lambda id: store.store_conversation(id, "user_1", conversation(id)),
                store.retrieve_conversation,
                store.delete_conversation,
                store.list_conversations_for_user,
                lambda id: store.store_agent_state("agent", "user_1", id, 1),
                lambda id: store.retrieve_agent_state(id, "user_1", "k"),
                lambda id: store.delete_agent_state("agent", id, "k"),
                lambda id: store.get_all_agent_states("agent", id),
            ):
                with pytest.raises(ValueError, match=r"\w"):
                    use(id)
    for role in ("", "x" * 65):
        said = ConversationContext("s1", [Message(role, "a")])
        with pytest.raises(ValueError, match="role"):
            store.store_conversation("s1", "user_1", said)
    for owner in (store.retrieve_agent_state, store.delete_agent_state):
        with pytest.raises(ValueError, match="slash"):
            owner("agent", "a/b", "k")
    store.store_conversation("a/b #%2F?", "üser 1", conversation("a/b #%2F?", "a"))
    assert store.retrieve_conversation("a/b #%2F?") is not None


def test_large_messages_metadata_and_states_come_back(store: BaseMemoryStore) -> None:
    large = "ü" * 1_900_000
    told = ConversationContext("s1", [Message("user", large, MOMENT)], {"m": large})
    store.store_conversation("s1", "user_1", told)
    assert store.retrieve_conversation("s1") == told
    store.store_agent_state("agent", "user_1", "k", large)
    assert store.retrieve_agent_state("agent", "user_1", "k") == large


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
        store.store_agent_state("agent", "user_1", "k", "x" * 4_200_000)
    with pytest.raises(TooLargeError):
        store.store_conversation("s1", "user_1", conversation("s1", "x" * 4_200_000))
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
