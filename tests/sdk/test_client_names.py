"""Test the client's names for tiers, scopes and lists, which are easily mistaken."""

from typing import Any

import pytest
from agent_memory import Client
from agent_memory.exceptions import (
    MemoryConflictError,
    MemoryNotFoundError,
    TaskClosedError,
)
from agent_memory.model import MemoryType

from tests.contract.local_server import LocalServer


@pytest.fixture
def other(server: LocalServer, admin: Client) -> Client:
    """Another client of the administrator's, which has seen nothing."""
    return Client(server.address, admin.settings.api_key)


def test_a_private_and_a_shared_entry_of_one_name_are_tracked_apart(admin: Client) -> None:
    memory = admin.memory
    for value in ({"n": 1}, {"n": 2}):
        memory.set("ns", "k", {"shared": value}, memory_type="semantic")
        memory.set("ns", "k", {"own": value}, memory_type="working")
    for tier in ("semantic", "working"):
        entry = memory.get_entry("ns", "k", memory_type=tier)
        assert entry is not None
        assert entry.version == 2
    memory.set("ns", "k", {"n": 3})
    assert memory.get("ns", "k", memory_type="working") == {"n": 3}


def test_without_a_tier_the_last_seen_one_is_written(admin: Client, other: Client) -> None:
    admin.memory.set("ns", "k", {"n": 1}, memory_type="semantic")
    assert other.memory.get("ns", "k") == {"n": 1}
    assert other.memory.set("ns", "k", {"n": 2}).memory_type == "semantic"


@pytest.mark.parametrize("tier", ["episodic", "semantic"])
def test_what_is_gone_is_created_anew_in_its_own_tier(
    admin: Client, other: Client, tier: MemoryType
) -> None:
    admin.memory.set("ns", "k", {"n": 1}, memory_type=tier)
    assert other.memory.delete("ns", "k", memory_type=tier)
    assert admin.memory.set("ns", "k", {"n": 2}).memory_type == tier


def test_an_entry_of_another_task_is_not_written(admin: Client) -> None:
    for task in ("one", "two"):
        admin.tasks.create("intent", id=task, assigned_agent="admin")
    admin.memory.set("ns", "k", {"n": 1}, task_id="one")
    with pytest.raises(MemoryConflictError) as taken:
        admin.memory.set("ns", "k", {"n": 2}, task_id="two")
    assert taken.value.current is not None
    assert taken.value.current.task_id == "one"
    assert admin.memory.set("ns", "k", {"n": 3}, scope={"task_id": "one"}).version == 2


def test_what_belonged_to_an_ended_task_is_not_written_outside_of_it(admin: Client) -> None:
    task = admin.tasks.create("intent", assigned_agent="admin").id
    admin.memory.set("ns", "k", {"n": 1}, task_id=task)
    admin.tasks.complete(task)
    for _ in range(2):
        with pytest.raises(TaskClosedError):
            admin.memory.set("ns", "k", {"n": 2})
    assert admin.memory.get("ns", "k") is None
    assert admin.memory.set("ns", "k", {"n": 3}).task_id is None


def test_a_shared_entry_is_deleted_only_by_who_means_it(admin: Client, other: Client) -> None:
    admin.memory.set("policies", "limit", {"usd": 9}, memory_type="semantic")
    other.memory.set("policies", "limit", {"usd": 1})
    assert [other.memory.delete("policies", "limit") for _ in range(3)] == [True, False, False]
    assert other.memory.get("policies", "limit") == {"usd": 9}
    assert other.memory.delete("policies", "limit") is True
    admin.memory.set("policies", "limit", {"usd": 9})
    assert admin.memory.delete("policies", "limit") is True


def test_a_time_of_life_is_taken_away(admin: Client) -> None:
    assert admin.memory.set("ns", "k", {}, ttl="duration:PT1H").expires_at is not None
    assert admin.memory.set("ns", "k", {}).expires_at is not None
    assert admin.memory.set("ns", "k", {}, ttl=None).expires_at is None
    admin.memory.set("ns", "k", {}, ttl="duration:PT1H")
    assert admin.memory.update("ns", "k", dict, ttl=None).expires_at is None


def test_one_text_is_no_list_of_texts(admin: Client) -> None:
    text: Any = "batch"
    for call in (
        lambda: admin.memory.set("ns", "k", {}, tags=text),
        lambda: admin.memory.update("ns", "k", dict, initial={}, tags=text),
        lambda: list(admin.memory.query(tags=text)),
        lambda: admin.memory.delete_batch(tags_any=text),
        lambda: admin.agents.configure("alice", pinned_namespaces=text),
        lambda: admin.principals.create("bob", permissions=text),
    ):
        with pytest.raises(TypeError, match="list of texts"):
            call()
    assert admin.memory.get("ns", "k") is None


def test_a_tag_with_a_comma_is_not_taken_for_two(admin: Client) -> None:
    admin.memory.set("ns", "k", {}, tags=["a", "b"])
    with pytest.raises(ValueError, match="comma"):
        list(admin.memory.query(tags=["a,b"]))
    with pytest.raises(ValueError, match="comma"):
        admin.memory.delete_batch(tags=["a,b"])


def test_a_url_with_the_path_of_the_interface_is_refused(server: LocalServer) -> None:
    with pytest.raises(ValueError, match="/api/v1"):
        Client(f"{server.address}/api/v1/", "am_x")


def test_names_or_an_id_are_needed(admin: Client) -> None:
    for call in (admin.memory.get_entry, admin.memory.delete):
        with pytest.raises(TypeError, match="namespace and key"):
            call("ns")
    with pytest.raises(MemoryNotFoundError):
        admin.memory.set("ns", "k", {}, version=3)


def test_a_name_of_dots_is_no_folder(admin: Client) -> None:
    run = admin.runs.start("sdr")
    assert admin.runs.delete_episode(run.id, "..") is False
    assert admin.runs.get(run.id).status == "running"
    for name in (".", ".."):
        admin.conversations.put(name, "ada")
    assert admin.conversations.delete("..") is True
    assert [each.session_id for each in admin.conversations.list("ada")] == ["."]
    assert admin.conversations.get(".").messages == ()
