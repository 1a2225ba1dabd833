"""Memory per user of an app: one agent's key, any number of users, nothing that leaks."""

from collections.abc import Callable

import pytest
from agent_memory import Client
from agent_memory.exceptions import MemoryAccessError, MemoryCapacityError

HOSTILE = ("ada", "ada2", "ada/memory", "a*", "a%2A", "*", "Zoë 🙂", "ada/../bob")


@pytest.fixture
def assistant(admin: Client, agent: Callable[[str], Client]) -> Client:
    """The app's agent, to whom the users' prefix is open."""
    client = agent("assistant")
    admin.namespaces.set_permissions("users/*", default="none", allow={"assistant": "write"})
    return client


def test_no_two_users_meet_whatever_their_ids_are(assistant: Client) -> None:
    for user in HOSTILE:
        assistant.for_user(user).put("name", {"is": user}, tags=["profile"])
    for user in HOSTILE:
        memory = assistant.for_user(user)
        assert memory.get("name") == {"is": user}
        assert [each.value for each in memory.query()] == [{"is": user}]
    assert assistant.for_user("ada").forget().entries == 1
    assert assistant.for_user("ada").get("name") is None
    assert all(assistant.for_user(user).get("name") for user in HOSTILE[1:])


def test_nobody_else_of_the_tenant_reads_it(
    assistant: Client, agent: Callable[[str], Client]
) -> None:
    assistant.for_user("ada").put("tone", {"formal": True})
    stranger = agent("stranger").for_user("ada")
    assert stranger.query().list() == []
    assert stranger.search("how formal") == []
    assert stranger.get("tone") is None
    with pytest.raises(MemoryAccessError, match="this key may not use the namespaces 'users/"):
        stranger.put("tone", {"formal": False})


def test_before_the_prefix_is_private_nothing_is_written(admin: Client) -> None:
    with pytest.raises(MemoryAccessError, match=r"set_permissions\('users/\*', default=\"none\""):
        admin.for_user("ada").put("tone", {"formal": True})  # who could claim the namespace
    assert admin.for_user("ada").query().list() == []


def test_updates_of_a_user_are_counted(assistant: Client) -> None:
    memory = assistant.for_user("ada")
    for _ in range(3):
        memory.update("visits", lambda value: {"n": value["n"] + 1}, initial={"n": 0})
    assert memory.get("visits") == {"n": 3}
    assert memory.delete("visits")


def test_conversations_of_a_user_are_forgotten_whoever_made_them(
    admin: Client, assistant: Client
) -> None:
    assistant.for_user("ada").put("tone", {"formal": True})
    assistant.conversations.put("own", "ada")
    admin.conversations.put("others", "ada", shared_with=["assistant"])
    admin.states.put("admin", "ada", "mood", "good")
    admin.conversations.put("bobs", "bob", shared_with=["assistant"])
    done = assistant.for_user("ada").forget()
    assert (done.entries, done.conversations, done.states) == (1, 2, 1)
    assert assistant.conversations.list("ada").list() == []
    assert [each.session_id for each in assistant.conversations.list("bob")] == ["bobs"]


def test_a_full_memory_names_the_setting_to_change(admin: Client, assistant: Client) -> None:
    admin.agents.configure("assistant", max_entries=1, capacity=1)
    assistant.memory.put("ns", "a", {})
    with pytest.raises(MemoryCapacityError, match=r"configure\), working"):
        assistant.memory.put("ns", "b", {})
    assistant.memory.put("ns", "c", {}, memory_type="episodic", pinned=True)
    with pytest.raises(MemoryCapacityError, match=r"configure\), episodic\.cap"):
        assistant.memory.put("ns", "d", {}, memory_type="episodic", pinned=True)


def test_users_take_no_room_of_the_agents_own(admin: Client, assistant: Client) -> None:
    admin.agents.configure("assistant", max_entries=1, capacity=1)
    for number in range(10):
        memory = assistant.for_user(f"user-{number}@example.com")
        memory.put("tone", {"user": number})
        memory.put("likes", {"user": number})
    for number in range(0, 10, 3):
        found = assistant.for_user(f"user-{number}@example.com").query()
        assert [each.value for each in found] == [{"user": number}] * 2


def test_a_user_is_remembered_once(assistant: Client) -> None:
    made = assistant.for_user("ada@example.com").remember("Prefers e-mail", tags=["contact"])
    assert made.namespace == "users/ada%40example.com/memory"
    assert assistant.for_user("ada@example.com").remember("prefers E-mail!").id == made.id
    assert assistant.for_user("ada@example.com").get(made.key) == {"text": "Prefers e-mail"}


def test_the_callers_own_memory_is_its_own(assistant: Client) -> None:
    made = assistant.remember({"city": "Lisbon"}, key="office", source="handbook")
    assert made.value == {"city": "Lisbon", "source": "handbook"}
    assert assistant.memory.get(made.namespace, "office", memory_type="semantic") == made.value


def test_a_prefix_of_your_own_takes_put(assistant: Client) -> None:
    with pytest.raises(ValueError, match="use put"):
        assistant.for_user("ada", prefix="people").remember("Prefers e-mail")
