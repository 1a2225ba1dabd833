"""All other calls that write, each with its answer lost once; and servers that aren't the service.

What is written twice shows in a version, a key that no longer works, or a refusal of the retry.
"""

import secrets
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import pytest
from agent_memory import AsyncClient, Client
from agent_memory.exceptions import (
    InvalidAnswerError,
    MemoryNotFoundError,
    ServiceUnavailableError,
)
from agent_memory.openwop import AsyncMemoryAdapter, MemoryAdapter

from tests.contract.local_server import LocalServer
from tests.sdk import faults
from tests.sdk.calling import Calling, Kind, calling
from tests.sdk.crew import Crew
from tests.sdk.fault_proxy import Fault, FaultProxy

LOST: list[tuple[Kind, Fault]] = [  # either client, whose logic is the same, meets some of them
    ("sync", faults.dropped_after),
    ("async", faults.html_502),
    ("sync", faults.cut),
]


@pytest.fixture(params=LOST, ids=["dropped", "502", "cut"])
def lost(request: pytest.FixtureRequest) -> tuple[Kind, Fault]:
    """A way to lose an answer, and the kind of the client that misses it."""
    lost: tuple[Kind, Fault] = request.param
    return lost


@pytest.fixture
def call(lost: tuple[Kind, Fault], proxy: FaultProxy, admin: Client) -> Iterator[Calling]:
    """The administrator's calls through the proxy."""
    with calling(lost[0], proxy.address, admin.settings.api_key) as opened:
        yield opened


@pytest.fixture
def loses(lost: tuple[Kind, Fault], proxy: FaultProxy) -> Callable[[], None]:
    """Has the proxy lose the next answer."""
    return lambda: proxy.plan(lost[1])


@pytest.fixture(params=["sync", "async"])
def call_of_either(
    request: pytest.FixtureRequest, proxy: FaultProxy, admin: Client
) -> Iterator[Calling]:
    """The administrator's calls through the proxy, by either client."""
    kind: Kind = request.param
    with calling(kind, proxy.address, admin.settings.api_key) as opened:
        yield opened


Loses = Callable[[], None]


def test_a_new_principal_has_the_key_that_works(
    call: Calling, loses: Loses, server: LocalServer
) -> None:
    loses()
    made = call(lambda c: c.principals.create("new"))
    loses()
    rotated = call(lambda c: c.principals.rotate("new"))
    assert rotated.api_key != made.api_key
    with Client(server.address, rotated.api_key) as client:
        assert client.principals.me().id == "new"


def test_a_new_tenant_has_the_key_that_works(
    proxy: FaultProxy, loses: Loses, server: LocalServer, root_key: str
) -> None:
    tenant = f"faulty-{secrets.token_hex(4)}"
    with Client(proxy.address, root_key) as root:
        loses()
        made = root.tenants.create(tenant)
    with Client(server.address, made.api_key) as client:
        assert client.principals.me().tenant == tenant


def test_what_is_revoked_by_a_lost_answer_is_revoked(
    call: Calling, loses: Loses, crew: Crew
) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    call(lambda c: c.tasks.grant(task, "somebody"))
    loses()
    call(lambda c: c.tasks.revoke(task, "somebody"))
    with pytest.raises(MemoryNotFoundError):
        call(lambda c: c.tasks.revoke(task, "somebody"))
    loses()
    call(lambda c: c.principals.revoke(agent.id))
    with pytest.raises(MemoryNotFoundError):
        call(lambda c: c.principals.revoke(agent.id))


def test_settings_are_set_once(call: Calling, loses: Loses, crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    intent = str(crew.get(task).intent_id)
    loses()
    assert call(lambda c: c.namespaces.set_permissions("policies", default="none")).version == 1
    loses()
    assert call(lambda c: c.agents.configure(agent.id, capacity=7)).episodic.capacity == 7
    before = call(lambda c: c.intents.get_acl(intent)).version
    loses()
    call(lambda c: c.intents.set_acl(intent, {agent.id: "read"}))
    (allowed,) = call(lambda c: c.intents.get_acl(intent)).entries
    assert (allowed.principal, allowed.access) == (agent.id, "read")
    assert call(lambda c: c.intents.get_acl(intent)).version >= before
    loses()
    limited = call(lambda c: c.agents.set_guardrails("admin", max_episodic_memory_per_agent=9))
    assert limited.version == 1


def test_a_workflow_is_applied_once(call: Calling, loses: Loses) -> None:
    workflow = {"name": "billing", "plan": [{"task": "gather"}, {"task": "bill"}]}
    loses()
    applied = call(lambda c: c.workflows.apply(workflow))
    tasks = call(lambda c: c.tasks.list(applied.intent_id))
    assert sorted(task.id for task in tasks) == sorted(each.id for each in applied.tasks)


def test_a_task_ends_once(call: Calling, loses: Loses, crew: Crew) -> None:
    agent = crew.agent()
    done, broken = crew.task(agent), crew.task(agent)
    agent.client.memory.set("batch", "progress", {"n": 1}, task_id=done)
    call(lambda c: c.tasks.get(done))
    loses()
    call(lambda c: c.tasks.complete(done, {"processed": 47}))
    loses()
    call(lambda c: c.tasks.fail(broken, {"type": "Flood"}))
    assert (crew.status(done), crew.status(broken)) == ("completed", "failed")
    assert len(crew.archived(done)) == 1


def _adapter(client: Client | AsyncClient) -> Any:
    return MemoryAdapter(client) if isinstance(client, Client) else AsyncMemoryAdapter(client)


READS: dict[str, Callable[[Any], Any]] = {
    "me": lambda c: c.principals.me(),
    "entry": lambda c: c.memory.get_entry(id="mem_any"),
    "query": lambda c: c.memory.query(namespace="n", memory_type="semantic"),
    "tasks": lambda c: c.tasks.list("any"),
    "task": lambda c: c.tasks.get("any"),
    "events": lambda c: c.events.list_for_namespace("n"),
    "principals": lambda c: c.principals.list(),
    "batch": lambda c: c.memory.batch([]),
    "delete_batch": lambda c: c.memory.delete_batch(namespace="n", memory_type="semantic"),
    "create": lambda c: c.memory.set("n", "k", {}, memory_type="semantic"),
    "messages": lambda c: c.conversations.list_messages("s"),
    "conversation": lambda c: c.conversations.get("s"),
    "last messages": lambda c: c.conversations.get_last("s", 2),
    "pop": lambda c: c.conversations.pop("s"),
    "conversations": lambda c: c.conversations.list("u"),
    "put state": lambda c: c.states.put("a", "o", "k", 1),
    "state": lambda c: c.states.get("a", "o", "k"),
    "states": lambda c: c.states.get_all("a", "o"),
    "working value": lambda c: c.working_values.get("i", "k"),
    "working values": lambda c: c.working_values.get_all("i"),
    "facts": lambda c: c.facts.recall("q"),
    "procedures": lambda c: c.procedures.list("a", "t"),
    "runs": lambda c: c.runs.query(agent_type="a"),
    "episodes": lambda c: c.runs.recall("a"),
    "openwop run": lambda c: _adapter(c).start("a"),
    "openwop entries": lambda c: _adapter(c).list("m"),
    "openwop entry": lambda c: _adapter(c).get("m", "e"),
    "openwop put": lambda c: _adapter(c).put("m", "x"),
    "openwop delete": lambda c: _adapter(c).delete("m", "e"),
}
STRANGERS = {
    "{}": (200, b"{}"),
    "[]": (200, b"[1]"),
    "text": (200, b'"hello"'),
    "nothing": (200, b""),
    "other lists": (200, b'{"entries": 1, "events": 1, "next": 1, "values": 5, "hits": 1}'),
    "other entries": (200, b'{"entries": [1], "events": [1], "next": "1", "principals": [1]}'),
    "404": (404, b"<html>not here</html>"),
    "301": (301, b""),
}


def test_a_server_that_is_not_the_service_is_told(
    call_of_either: Calling, proxy: FaultProxy, subtests: pytest.Subtests
) -> None:
    for stranger, answer in STRANGERS.items():
        proxy.follow(repeat(faults.answered(*answer)))
        with subtests.test(stranger):
            for name, read in READS.items():
                with pytest.raises(InvalidAnswerError, match="server_url"):
                    pytest.fail(f"{name} took it for {call_of_either(read)!r}")


def test_a_failure_of_the_service_may_have_done_it(
    call_of_either: Calling, proxy: FaultProxy
) -> None:
    proxy.plan(faults.answered(500, b'{"code": "INTERNAL_ERROR", "message": "oops"}'))
    with pytest.raises(ServiceUnavailableError) as raised:
        call_of_either(lambda c: c.memory.set("n", "k", {}))
    assert raised.value.may_have_happened
    assert len(proxy.requests) == 1


def test_a_key_of_the_callers_own_is_the_only_one(
    call_of_either: Calling, proxy: FaultProxy
) -> None:
    def create_under_key(name: str) -> None:
        body = {"namespace": "n", "key": name, "value": {}, "memory_type": "working"}
        headers = {name: f"my-own-{name}"}
        call_of_either(lambda c: c.request("POST", "/api/v1/memory", json=body, headers=headers))

    for name in ("Idempotency-Key", "idempotency-key"):
        proxy.plan()
        create_under_key(name)
        (sent,) = proxy.requests
        assert sent.headers.get_all("idempotency-key") == [f"my-own-{name}"]


def test_an_update_writes_the_entry_that_it_read(crew: Crew) -> None:
    agent = crew.agent()
    client = agent.client
    client.memory.set("n", "k", {"n": 1})

    def overtaken(value: dict[str, Any]) -> dict[str, Any]:
        if value["n"] == 1:  # it is deleted now, and another one has its name and version
            client.memory.delete("n", "k")
            client.memory.set("n", "k", {"n": 10})
        return {"n": value["n"] + 1}

    assert client.memory.update("n", "k", overtaken).value == {"n": 11}


def test_an_update_of_what_is_deleted_meanwhile_starts_anew(crew: Crew) -> None:
    client = crew.agent().client
    client.memory.set("n", "k", {"n": 5})

    def deleted(value: dict[str, Any]) -> dict[str, Any]:
        client.memory.delete("n", "k")
        return {"n": value["n"] + 1}

    assert client.memory.update("n", "k", deleted, initial={"n": 0}).value == {"n": 1}
