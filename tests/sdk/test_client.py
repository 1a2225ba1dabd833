"""RFC-0015 "Client Interface", "Error Handling": the client as agents use it."""

import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

import httpx
import pytest
from agent_memory import Client
from agent_memory._waiting import Connections
from agent_memory.exceptions import (
    AuthenticationError,
    ClientClosedError,
    ConnectionFailedError,
    MemoryAccessError,
    MemoryCapacityError,
    MemoryConflictError,
    MemoryNotFoundError,
    ServiceUnavailableError,
    TaskClosedError,
    ThrottledError,
    TooLargeError,
    ValidationError,
)

from tests.contract.local_server import LocalServer
from tests.sdk.crew import until

CLIENT_INTERFACE = """
# Write working memory (task context inferred from current execution)
client.memory.set(
    namespace="invoice_processing",
    key="batch_progress",
    value={"total": 47, "completed": 23, "last_id": "inv_789"},
    memory_type="working",
    tags=["batch", "invoices"]
)

# Read a specific entry
progress = client.memory.get(
    namespace="invoice_processing",
    key="batch_progress"
)

# Query by tags
entries = client.memory.query(
    namespace="invoice_processing",
    tags=["in-progress"],
    memory_type="working"
)

# Update with optimistic concurrency (version auto-tracked)
client.memory.set(
    namespace="invoice_processing",
    key="batch_progress",
    value={"total": 47, "completed": 24, "last_id": "inv_790"},
    tags=["batch", "invoices", "in-progress"]
)
# The SDK tracks the version from the last get/set and sends If-Match automatically.
# On conflict, raises MemoryConflictError with the current server state.

# Read semantic memory
policy = client.memory.get(
    namespace="company_policies",
    key="charge_approval_threshold"
)
"""
ERROR_HANDLING = """
from agent_memory.exceptions import (
    MemoryConflictError,     # VERSION_MISMATCH (409)
    MemoryCapacityError,     # CAPACITY_EXCEEDED (429)
    MemoryAccessError,       # ACCESS_DENIED (403)
    MemoryNotFoundError,     # ENTRY_NOT_FOUND (404)
)

try:
    client.memory.set("ns", "key", value={"data": "..."})
except MemoryConflictError as e:
    # e.current_value has the server's current state
    # e.current_version has the current version number
    merged = merge(e.current_value, my_value)
    client.memory.set("ns", "key", value=merged, version=e.current_version)
except MemoryCapacityError as e:
    # e.current_count and e.max_capacity available
    # Agent should evict or consolidate entries
    pass
"""


@pytest.fixture(params=["agent", "user"])
def client(request: pytest.FixtureRequest, admin: Client, alice: Client) -> Client:
    """An agent's client, and a user's."""
    return alice if request.param == "agent" else admin


@pytest.fixture
def again(server: LocalServer) -> Callable[[Client], Client]:
    """Another client under the same key, which has seen nothing yet."""
    return lambda client: Client(server.address, client.settings.api_key)


def test_the_seeds_client_interface_runs_as_it_is_written(client: Client, admin: Client) -> None:
    threshold = {"usd": 10_000}
    admin.memory.set(
        "company_policies", "charge_approval_threshold", threshold, memory_type="semantic"
    )
    names: dict[str, Any] = {"client": client}
    exec(CLIENT_INTERFACE, names)  # noqa: S102 - the seed's own code
    assert names["progress"] == {"total": 47, "completed": 23, "last_id": "inv_789"}
    assert names["policy"] == threshold
    assert [entry.version for entry in names["entries"]] == [2]


def test_the_seeds_error_handling_runs_as_it_is_written(
    client: Client, again: Callable[[Client], Client]
) -> None:
    client.memory.set("ns", "key", {"theirs": 1})
    names = {
        "client": again(client),
        "my_value": {"mine": 2},
        "merge": lambda theirs, mine: theirs | mine,
    }
    exec(ERROR_HANDLING, names)  # noqa: S102 - the seed's own code
    assert client.memory.get("ns", "key") == {"theirs": 1, "mine": 2}


def test_a_call_ends_at_its_deadline_however_many_retries_are_left() -> None:
    waits = []

    def refuse(request: httpx.Request) -> httpx.Response:
        waits.append(request.extensions["timeout"]["read"])
        return httpx.Response(503)

    carrier = httpx.MockTransport(refuse)
    with Client("http://memory.test", "key", deadline=0.04, transport=carrier) as client:
        with pytest.raises(ServiceUnavailableError):
            client.memory.get("ns", "k")
        assert (len(waits), 0 < waits[0] <= 0.04) == (1, True)
        with pytest.raises(ServiceUnavailableError):
            client.with_options(deadline=60, max_retries=1).memory.get("ns", "k")
        assert waits[1:] == [30.0, 30.0]
        assert client.with_options(deadline=None).settings.deadline is None
        assert client.with_options(timeout=5).settings.deadline == 0.04
    drip = httpx.MockTransport(lambda _: httpx.Response(200, content=repeat(b" ", 10**8)))
    with (
        Client("http://memory.test", "key", deadline=0.04, transport=drip) as client,
        pytest.raises(ConnectionFailedError, match="deadline"),
    ):
        client.memory.get("ns", "k")
    for never in (0, float("nan")):
        with pytest.raises(ValueError, match="deadline"):
            Client("http://memory.test", "key", deadline=never)


def test_a_blind_write_never_overwrites_what_was_not_seen(
    client: Client, again: Callable[[Client], Client]
) -> None:
    other = again(client)
    client.memory.set("ns", "k", {"n": 1})
    with pytest.raises(MemoryConflictError) as taken:
        other.memory.set("ns", "k", {"n": 9})
    assert (taken.value.code, taken.value.current_value) == ("ENTRY_EXISTS", {"n": 1})
    other.memory.get("ns", "k")
    assert other.memory.set("ns", "k", {"n": 2}).version == 2
    with pytest.raises(MemoryConflictError) as stale:
        client.memory.set("ns", "k", {"n": 3})
    assert (stale.value.status, stale.value.current_version) == (409, 2)
    with pytest.raises(MemoryConflictError):
        client.memory.set("ns", "k", {"n": 3})
    client.memory.set("ns", "k", {"n": 4}, version=2)
    assert other.memory.get("ns", "k") == {"n": 4}


def test_what_was_seen_and_then_deleted_is_created_anew(
    client: Client, again: Callable[[Client], Client]
) -> None:
    first = client.memory.set("ns", "k", {"n": 1})
    assert again(client).memory.delete("ns", "k") is True
    second = client.memory.set("ns", "k", {"n": 2})
    assert (second.version, second.id != first.id) == (1, True)
    assert client.memory.delete("ns", "k") is True
    assert client.memory.delete("ns", "k") is False
    assert client.memory.get("ns", "k") is None
    with pytest.raises(MemoryNotFoundError):
        client.memory.set("ns", "k", {"n": 3}, version=7)


def test_an_entry_has_all_that_was_set(client: Client) -> None:
    made = client.memory.set(
        "ns", "k", {"a": 2**70}, memory_type="episodic", tags=["x"], ttl="duration:PT1H",
        pinned=True, priority="high", sensitivity="confidential",
    )  # fmt: skip
    found = client.memory.get_entry("ns", "k")
    assert found == made == client.memory.get_entry(id=made.id)
    assert (made.tags, made.pinned, made.priority) == (("x",), True, "high")
    assert (made.value, made.raw["value"]) == ({"a": 2**70}, {"a": 2**70})
    assert client.memory.get_entry(id="mem_unknown") is None


def test_names_of_any_characters_are_kept_apart(client: Client) -> None:
    names = ["a", "a/b", "a*", "*", "ä ", "%2F", "?&#", "\u0000"]
    for name in names:
        client.memory.set(name, name, {"name": name})
    assert [client.memory.get(name, name) for name in names] == [{"name": n} for n in names]


def test_an_update_of_nothing_and_a_refused_one_are_told(client: Client) -> None:
    with pytest.raises(MemoryNotFoundError):
        client.memory.update("ns", "nothing", dict)
    client.memory.set("ns", "k", {"n": 1})

    def give_up(_: dict[str, Any]) -> dict[str, Any]:
        raise LookupError("conflict")

    with pytest.raises(LookupError):
        client.memory.update("ns", "k", give_up)
    assert client.memory.get("ns", "k") == {"n": 1}


def test_each_refusal_has_its_exception(
    server: LocalServer, admin: Client, alice: Client, agent: Callable[[str], Client]
) -> None:
    secret = alice.memory.set("ns", "k", {"n": 1})
    with pytest.raises(MemoryAccessError) as denied:
        agent("bob").memory.get_entry(id=secret.id)
    assert denied.value.status == 403
    assert denied.value.request_id
    with pytest.raises(TooLargeError):
        alice.memory.set("ns", "large", {"x": "x" * 70_000})
    with pytest.raises(ValidationError) as invalid:
        alice.memory.set("", "k", {})
    assert [each["field"] for each in invalid.value.errors] == ["namespace"]
    with pytest.raises(AuthenticationError):
        Client(server.address, "am_wrong").memory.get("ns", "k")
    task = admin.tasks.create("i1", assigned_agent="alice", memory_policy={"max_entries": 1})
    alice.memory.set("ns", "in-task", {}, task_id=task.id)
    with pytest.raises(MemoryCapacityError) as full:
        alice.memory.set("ns", "too-many", {}, task_id=task.id)
    assert (full.value.current_count, full.value.max_capacity) == (1, 1)
    alice.tasks.complete(task.id)
    with pytest.raises(TaskClosedError):
        alice.memory.set("ns", "late", {}, task_id=task.id)


def test_a_closed_client_says_so(server: LocalServer, alice: Client) -> None:
    with Client(server.address, alice.settings.api_key) as client:
        shared = client.with_options(timeout=5)
    for closed in (client, shared):
        with pytest.raises(ClientClosedError):
            closed.memory.get("ns", "k")


def test_a_forked_process_shares_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = Connections(lambda: httpx.Client(verify=False))  # noqa: S501 - it sends nothing
    parents = connections.get()
    assert connections.get() is parents
    monkeypatch.setattr(os, "getpid", lambda: 0)
    childs = connections.get()
    assert childs is not parents
    assert connections.get() is childs
    connections.close()
    assert connections.get() is None


def test_the_key_never_shows(
    server: LocalServer, alice: Client, caplog: pytest.LogCaptureFixture
) -> None:
    key = alice.settings.api_key
    with caplog.at_level(logging.DEBUG), pytest.raises(MemoryNotFoundError) as error:
        alice.tasks.get("task_unknown")
    shown = [repr(alice), repr(alice.settings), repr(error.value), caplog.text]
    assert "task_unknown" in caplog.text
    assert [text for text in shown if key in text] == []
    with pytest.raises(ValueError, match="api_key"):
        Client(server.address, "")


def test_a_date_in_retry_after_is_waited_for() -> None:
    headers = {
        "Date": "Tue, 01 Jan 2030 00:00:00 GMT",
        "Retry-After": "Tue, 01 Jan 2030 00:00:30 GMT",
    }
    asked = []

    def refuse(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(429, headers=headers)

    carrier = httpx.MockTransport(refuse)
    with Client("http://memory.test", "key", deadline=9, transport=carrier) as client:
        with pytest.raises(ThrottledError):
            client.memory.get("ns", "k")
        assert len(asked) == 1
        headers["Retry-After"] = "soon"
        with pytest.raises(ThrottledError):
            client.with_options(max_retries=1).memory.get("ns", "k")
        assert len(asked) == 3


@pytest.mark.parametrize("end", ["", "?tenant=1", "#part", " "])
def test_an_address_with_more_than_a_path_is_refused(end: str) -> None:
    with pytest.raises(ValueError, match="server_url must be like"):
        Client(f"http://{'memory.test' if end else ''}{end}", "key")


@pytest.mark.parametrize("wrong", [{"server_url": 8080}, {"api_key": b"am_key"}])
def test_an_address_and_a_key_are_texts(wrong: dict[str, Any]) -> None:
    given = {"server_url": "http://127.0.0.1:1", "api_key": "am_key"} | wrong
    with pytest.raises(TypeError, match=next(iter(wrong))):
        Client(**given)


def test_settings_come_from_the_environment(
    server: LocalServer, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_MEMORY_URL", server.address)
    monkeypatch.setenv("AGENT_MEMORY_API_KEY", alice.settings.api_key)
    with Client() as client:
        assert client.principals.me().id == "alice"


def test_a_log_is_followed(alice: Client) -> None:
    events = iter(alice.events.list_for_agent("alice", follow=True))
    alice.memory.set("ns", "k", {"n": 1})
    assert next(events).type == "memory.created"
    alice.memory.set("ns", "k", {"n": 2})
    event = next(events)
    assert (event.type, event.agent_id) == ("memory.updated", "alice")
    assert len(list(alice.events.list_for_agent("alice"))) == 2
    assert [e.type for e in alice.events.list_for_agent("alice", type="memory.updated")] == [
        event.type
    ]


def test_the_other_parts_work(admin: Client, alice: Client) -> None:
    made = admin.principals.create("bob", "coordinator")
    assert made.api_key not in repr(made)
    assert admin.principals.rotate("bob").api_key != made.api_key
    assert {each.id for each in admin.principals.list()} == {"admin", "alice", "bob"}
    space = admin.namespaces.set_permissions("policies", default="none", allow={"alice": "write"})
    alice.memory.set("policies", "k", {"n": 1}, memory_type="semantic")
    assert admin.namespaces.get("policies").permissions == space.permissions
    assert [each.namespace for each in alice.namespaces.list()] == ["policies"]
    task = admin.tasks.create("i1", assigned_agent="alice")
    admin.tasks.grant(task.id, "bob")
    admin.tasks.revoke(task.id, "bob")
    assert [each.id for each in alice.tasks.list_assigned()] == [task.id]
    assert [each.id for each in admin.tasks.list("i1")] == [task.id]
    assert alice.tasks.get_context(task.id).task_id == task.id
    assert alice.tasks.fail(task.id, {"message": "no"}).status == "failed"
    assert admin.intents.set_acl("i1", {"bob": "read"}).entries[0].principal == "bob"
    assert [(each.intent_id, each.owner) for each in admin.intents.list()] == [("i1", "admin")]
    assert admin.agents.configure("alice", capacity=7).episodic.capacity == 7
    admin.agents.set_guardrails("bob", max_working_memory_per_task=5)
    assert admin.agents.get_guardrails("bob").guardrails.max_working_memory_per_task == 5
    assert admin.workflows.apply("name: w\nplan: []\n").name == "w"
    assert alice.memory.summary().working == admin.agents.get_summary("alice").working
    admin.principals.revoke("bob")


def test_grants_owners_and_settings_are_shown(admin: Client, alice: Client) -> None:
    task = admin.tasks.create("i1", assigned_agent="alice")
    admin.tasks.grant(task.id, "alice", expires_at=datetime(2040, 1, 1, tzinfo=UTC))
    (grant,) = admin.tasks.list_grants(task.id)
    assert (grant.principal, grant.access) == ("alice", "read")
    assert grant.expires_at == datetime(2040, 1, 1, tzinfo=UTC)
    admin.principals.create("boss", "coordinator")
    assert admin.intents.set_owner("i1", "boss").owner == "boss"
    assert admin.intents.get_acl("i1").owner == "boss"
    settings = admin.agents.configure("alice", max_entries=9)
    assert (settings.episodic.capacity, settings.working.max_entries) == (1000, 9)
    assert admin.agents.get_settings("alice") == settings
    assert "alice" in [each.agent_id for each in admin.agents.list()]
    assert alice.principals.explain_access(task=task.id).principal == "alice"
    assert "working" in alice.get_capabilities()["memory"]["tiers"]


def test_a_misspelt_field_of_a_task_is_refused(admin: Client) -> None:
    misspelt: Any = {"asigned_agent": "bob"}
    with pytest.raises(TypeError, match="asigned_agent"):
        admin.tasks.create("i1", **misspelt)
    with pytest.raises(TypeError, match="asigned_agent"):
        admin.tasks.update("t1", version=1, **misspelt)


def test_events_of_an_intent_and_a_namespace(admin: Client, alice: Client) -> None:
    task = admin.tasks.create("i1", assigned_agent="alice")
    alice.memory.set("ns", "k", {}, task_id=task.id)
    admin.memory.set("policies", "k", {}, memory_type="semantic")
    until(
        lambda: (
            list(admin.events.list_for_intent("i1"))
            and list(admin.events.list_for_namespace("policies"))
        )
    )
