"""A role that is written past the service is none, for reads and for writes.

Whoever writes to the table knows all of it, and may copy what the service wrote. eve is an agent,
and evan a coordinator: each with a task, an intent and a conversation of its own to copy from.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import httpx
import pytest

from functions.platform import entry_keys, task_keys
from functions.platform.item_types import (
    CONVERSATION,
    PRIVATE_ENTRY,
    USER_CONVERSATION,
    ItemType,
)
from functions.platform.items import Item, decode_item
from functions.platform.keys import Key, hash_agent
from functions.platform.table_client import encode_key
from tests.contract.bodies import (
    MEMORY,
    TASKS,
    Json,
    allow,
    change_task,
    create,
    create_task,
    entry,
    grant,
    patch,
    query,
    semantic,
    task,
    working,
)
from tests.contract.conversation_calls import CONVERSATIONS, put
from tests.contract.expect import ok
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep
from tests.contract.test_forged_items import get_item, put_item

SECRET = "zq-secret"
_GUARDRAILS = "/api/v1/coordinators/boss/guardrails"
INHERITS: Json = {"memory_policy": {"inherit_from_parent": True}}
World = dict[str, httpx.Client]
Forge = Callable[["Table", str], None]


class Table:
    """A tenant's items, as somebody has them who writes past the service; `undo` restores them."""

    def __init__(self, service: Service, tenant: str) -> None:
        self._service, self._tenant = service, tenant
        self._before: dict[Key, Item | None] = {}

    def get(self, key: Key) -> Item:
        """An item as it is stored."""
        return get_item(self._service, key)

    def put(self, key: Key, item: Item) -> None:
        """Write an item, or copy it under another key; attributes that are None are left out."""
        client, name = self._service.engine.client, self._service.engine.memory
        before = client.get_item(TableName=name, Key=encode_key(key)).get("Item")
        self._before.setdefault(key, None if before is None else decode_item(before))
        put_item(self._service, key, {name: v for name, v in item.items() if v is not None})

    def find(self, item_type: ItemType) -> list[Item]:
        own = f"{self._tenant}#"
        stored = map(decode_item, self._service.stored())
        return [
            each for each in stored if each["pk"].startswith(own) and item_type.has_sort(each["sk"])
        ]

    def undo(self) -> None:
        """Put back what stood there."""
        client, name = self._service.engine.client, self._service.engine.memory
        for key, item in self._before.items():
            if item is None:
                client.delete_item(TableName=name, Key=encode_key(key))
            else:
                put_item(self._service, key, item)
        self._before.clear()


@pytest.fixture
def world(tenant: Tenant) -> World:
    """alice works for boss; nothing of it is eve's or evan's."""
    people = dict(zip(("alice", "bob", "eve"), tenant.agents("alice", "bob", "eve"), strict=True))
    people |= {each: tenant.coordinator(each) for each in ("boss", "evan")}
    boss, alice, evan, eve = (people[each] for each in ("boss", "alice", "evan", "eve"))
    for client in (eve, evan):
        client.event_hooks = {}  # they let no answer of the 500s pass; an item in the way is one
    handed = create_task(boss, id="t", intent_id="i", assigned_agent="bob")
    ok(change_task(boss, handed, assigned_agent="alice"))
    ok(grant(boss, "t", "bob", access="write"))
    create_task(evan, id="own", intent_id="evans", assigned_agent="eve")
    for name, body in (("w", working("t")), ("e", entry())):
        secret = body | {"key": name, "value": {"v": SECRET}, "sensitivity": "restricted"}
        people[name] = httpx.Client(headers={"id": create(alice, secret)["id"]})
    create_task(
        boss, id="sub", intent_id="i", assigned_agent="alice", parent_task_id="t", **INHERITS
    )
    ok(put(alice, "s", SECRET, sensitivity="restricted"), 201)
    ok(put(eve, "mine", "hello"), 201)
    return people


def try_task(client: httpx.Client, world: World) -> Iterator[httpx.Response]:
    """Use alice's task as if it were the caller's."""
    yield client.get(f"{TASKS}/t")
    yield client.get(f"{TASKS}/t/context")
    yield client.get(f"{MEMORY}/{world['w'].headers['id']}")
    yield client.post(MEMORY, json=working("t", key="planted"))
    yield client.post(MEMORY, json=entry(key="part", scope={"task_id": "t"}))
    yield patch(client, f"{TASKS}/t", 2, {"status": "completed"})
    yield client.put(f"{TASKS}/t/grants/eve", json={"access": "write"})
    yield client.post(TASKS, json=task(intent_id="evans", parent_task_id="t", **INHERITS))


def try_intent(client: httpx.Client, _: World) -> Iterator[httpx.Response]:
    """Use boss's intent."""
    yield client.get("/api/v1/intents/i/acl")
    yield client.get("/api/v1/intents/i/tasks")
    yield client.post(MEMORY, json=entry(key="in", scope={"intent_id": "i"}))
    yield client.put("/api/v1/intents/i/acl", json={"entries": []})


def try_rest(client: httpx.Client, world: World) -> Iterator[httpx.Response]:
    """Read alice's memory, and use its conversation."""
    yield client.get("/api/v1/intents/evans/tasks")
    yield client.get(f"{MEMORY}/{world['e'].headers['id']}")
    yield client.get("/api/v1/users/alice/conversations")
    yield client.get(f"{CONVERSATIONS}/s")
    yield client.put(f"{CONVERSATIONS}/s", json={"user_id": "eve", "messages": []})


Attempts = Callable[[httpx.Client, World], Iterator[httpx.Response]]
ALL = (try_task, try_intent, try_rest)


def assert_nothing_permitted(world: World, tried: Sequence[Attempts] = ALL) -> None:
    """Nothing of others is in any answer to eve and evan, and no write of theirs is done."""
    for client in (world["eve"], world["evan"]):
        for answer in chain.from_iterable(attempts(client, world) for attempts in tried):
            request = answer.request
            shown = f"{request.method} {request.url}: {answer.status_code} {answer.text}"
            assert SECRET not in answer.text, shown
            assert '"alice"' not in answer.text, shown
            assert request.method == "GET" or answer.status_code >= 400, shown


def _task(**changes: Any) -> Forge:
    def forge(table: Table, tenant: str) -> None:
        key = task_keys.build_task_key(tenant, "t")
        table.put(key, table.get(key) | changes)

    return forge


def _copy_task(table: Table, tenant: str) -> None:
    own = table.get(task_keys.build_task_key(tenant, "own"))
    table.put(task_keys.build_task_key(tenant, "t"), own | {"task": "t", "intent": "i"})


def _copy_roles(table: Table, tenant: str) -> None:
    own = table.get(task_keys.build_task_key(tenant, "own"))
    _task(role_codes=own["role_codes"])(table, tenant)


def _intent(**changes: Any) -> Forge:
    def forge(table: Table, tenant: str) -> None:
        key = task_keys.build_intent_key(tenant, "i")
        table.put(key, table.get(key) | changes)

    return forge


def _copy_intent(table: Table, tenant: str) -> None:
    own = table.get(task_keys.build_intent_key(tenant, "evans"))
    table.put(task_keys.build_intent_key(tenant, "i"), own | {"intent": "i"})


def _participants(table: Table, tenant: str) -> None:
    row = table.get(task_keys.build_participant_key(tenant, "i", "alice"))
    for name in ("eve", "evan"):
        key = task_keys.build_participant_key(tenant, "i", name)
        table.put(key, row)
        table.put(key, row | {"principal": name})


def _former_members(table: Table, tenant: str) -> None:
    row = table.get(task_keys.build_former_member_key(tenant, "t", "assignee", "bob"))
    for name in ("eve", "evan"):
        for role in ("assignee", "coordinator"):
            key = task_keys.build_former_member_key(tenant, "t", role, name)
            table.put(key, row | {"principal": name})


def _inheritance(table: Table, tenant: str) -> None:
    row = table.get(task_keys.build_inheriting_task_key(tenant, "t", "alice", "sub"))
    for name in ("eve", "evan"):
        table.put(task_keys.build_inheriting_task_key(tenant, "t", name, "sub"), row)


def _assignments(table: Table, tenant: str) -> None:
    row = table.get(task_keys.build_assignment_key(tenant, "alice", "boss", "t"))
    key = task_keys.build_assignment_key(tenant, "alice", "evan", "t")
    table.put(key, row | {"coordinator": "evan"})


def _intent_tasks(table: Table, tenant: str) -> None:
    row = table.get(task_keys.build_intent_task_key(tenant, "i", "t"))
    table.put(task_keys.build_intent_task_key(tenant, "evans", "t"), row)


def _grants(table: Table, tenant: str) -> None:
    row = table.get(task_keys.build_grant_key(tenant, "t", "bob"))
    for name in ("eve", "evan"):
        table.put(task_keys.build_grant_key(tenant, "t", name), row | {"principal": name})


def _conversations(table: Table, _: str) -> None:
    for item in table.find(CONVERSATION):
        if item.get("session") == "s":
            others = ["eve", "evan"]
            more = {"user": "eve", "shared_with": others, "participants": others}
            table.put((item["pk"], item["sk"]), item | more)


def _conversation_rows(table: Table, _: str) -> None:
    for item in table.find(USER_CONVERSATION):
        if item.get("session") == "s":
            row = item | {"readers": frozenset({"alice", "eve", "evan"})}
            table.put((item["pk"], item["sk"]), row)


def _entries(table: Table, tenant: str) -> None:
    partition = entry_keys.build_agent_partition(tenant, "alice")
    for item in table.find(PRIVATE_ENTRY):
        if item["pk"] == partition:
            table.put((item["pk"], item["sk"]), item | {"agent_id": "eve"})


_ACL = {f"p{hash_agent(each)}": {"principal": each, "access": "write"} for each in ("eve", "evan")}


def _rows(table: Table, tenant: str) -> None:
    rows: list[Forge] = [_participants, _former_members, _inheritance, _assignments]
    rows += [_intent_tasks, _grants, _conversations, _conversation_rows]
    for forge in rows:
        forge(table, tenant)


FORGERIES: dict[str, tuple[Forge, Sequence[Attempts]]] = {
    "nothing": (lambda *_: None, ALL),
    "the roles in a task": (_task(assignee="eve", coordinator="evan"), [try_task]),
    "who registered a task": (_task(registered_by="eve", delegates=["*"]), [try_task]),
    "a copy of another task": (_copy_task, [try_task]),
    "another task's codes of roles": (_copy_roles, [try_task]),
    "a task without a seal": (_task(seal=None, assignee="eve", coordinator="evan"), [try_task]),
    "an intent's owner": (_intent(owner_id="evan"), [try_intent]),
    "an intent's access list": (_intent(acl=_ACL), [try_intent]),
    "an intent without a seal": (_intent(seal=None, acl=_ACL), [try_intent]),
    "a copy of another intent": (_copy_intent, [try_intent]),
    "all rows of roles": (_rows, ALL),
    "an entry's owner": (_entries, [try_rest]),
}


def test_a_forged_role_permits_nothing(service: Service, tenant: Tenant, world: World) -> None:
    table = Table(service, tenant.id)
    for name, (forge, tried) in FORGERIES.items():
        forge(table, tenant.id)
        try:
            assert_nothing_permitted(world, tried)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None
        table.undo()
    (shown,) = query(world["alice"], key="w", memory_type="working", task_id="t")
    assert shown["value"] == {"v": SECRET}


def test_a_task_that_is_opened_again_past_the_service_takes_nothing(
    service: Service, tenant: Tenant, world: World
) -> None:
    eve, key = world["eve"], task_keys.build_task_key(tenant.id, "own")
    at = ok(world["evan"].get(f"{TASKS}/own"))
    ok(change_task(world["evan"], at, status="cancelled"))
    table = Table(service, tenant.id)
    table.put(key, table.get(key) | {"ended": None, "archived": None, "task_status": "running"})
    assert eve.post(MEMORY, json=working("own")).status_code >= 400
    assert eve.get(f"{TASKS}/own").status_code == 404


def test_what_restricts_an_agent_is_lifted_by_no_forged_item(
    service: Service, tenant: Tenant, world: World
) -> None:
    allow(tenant.admin, "denied", "read", boss="admin")
    create(world["boss"], semantic(namespace="denied", value={"v": SECRET}))
    rules = {"guardrails": {"denied_semantic_namespaces": ["denied"]}}
    ok(tenant.admin.patch(_GUARDRAILS, json=rules))
    alice, table = world["alice"], Table(service, tenant.id)
    filters = {"namespace": "denied", "memory_type": "semantic"}
    assert query(alice, **filters) == []
    alice.event_hooks = {}
    key = task_keys.build_restrictions_key(tenant.id, "alice")
    changes: list[Item] = [{"denied": [], "allowed": []}, {"seal": None}, {"version": 9}]
    for change in changes:
        table.put(key, table.get(key) | change)
        assert alice.get(MEMORY, params=filters).status_code == 503
        table.undo()


def test_a_deletion_seals_nothing_that_somebody_else_wrote(
    service: Service, tenant: Tenant, world: World
) -> None:
    table = Table(service, tenant.id)
    _conversations(table, tenant.id)
    _intent(acl=_ACL | {f"p{hash_agent('bob')}": {"principal": "bob", "access": "read"}})(
        table, tenant.id
    )
    ok(tenant.admin.post("/api/v1/deletions", json={"kind": "agent", "id": "bob"}), 202)
    for _ in range(3):
        sweep(service)
    assert_nothing_permitted(world, [try_intent, try_rest])
