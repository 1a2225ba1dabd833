"""Seals cover what gives authority, whole and bound to its key; codes of roles say who has one."""

import hmac
import re
from typing import Any

import pytest

from functions.platform import item_types
from functions.platform.errors import Unavailable
from functions.platform.item_types import ITEM_TYPES, ItemType
from functions.platform.items import Item, decode_item
from functions.platform.keys import Key
from functions.platform.seals import ItemSeals, RoleCode
from functions.platform.table import Table
from functions.platform.writes import put, update, update_sealed

SEALED = [each for each in ITEM_TYPES if each.sealed]
UNSEALED = {
    "its key says whose it is; its attributes name no one who gets anything": (
        item_types.PRIVATE_ENTRY,
        item_types.SEMANTIC_ENTRY,
        item_types.STATE,
        item_types.OBJECT,
        item_types.OBJECT_FILE,
        item_types.INSTANCE,
    ),
    "any principal of the tenant may read and write it": (
        item_types.RUN,
        item_types.EPISODE,
        item_types.AGENT_TYPE,
        item_types.FACT,
        item_types.LEARNED_WORKFLOW,
        item_types.TASK_TYPE,
        item_types.OUTCOME,
    ),
    "a list or an index: what it names is read again, and decides": (
        item_types.LISTED_INTENT,
        item_types.COORDINATED_TASK,
        item_types.HELD_TASK,
        item_types.INDEX_ROW,
        item_types.TAG_ROW,
        item_types.AGENT_VECTOR,
        item_types.NAMESPACE_VECTOR,
        item_types.CLIENT_VECTOR,
        item_types.CLIENT_VECTOR_LENGTH,
    ),
    "it counts, limits or remembers, and permits nothing": (
        item_types.AGENT,
        item_types.OWN_TASKS,
        item_types.LISTED_COUNT,
        item_types.OBJECT_USAGE,
        item_types.QUOTA_COUNT,
        item_types.QUOTA_WARNING,
        item_types.COUNTED_ITEMS,
        item_types.LEASE,
        item_types.EMBEDDING,
        item_types.REVOKED_PRINCIPAL,
        item_types.TENANT,
        item_types.WORKFLOW,
        item_types.PROCESSED_EVENT,
        item_types.PUT_REQUEST,
        item_types.USED_REQUEST,
        item_types.APPEND_REQUEST,
        item_types.PUBLISHED_EVENT,
    ),
    "a part of an item that decides about it, or what is left of one": (
        item_types.CONVERSATION_DETAILS,
        item_types.MESSAGE,
        item_types.REMOVED_RANGE,
        item_types.VALUE_PART,
        item_types.ORPHANED_VALUES,
        item_types.DELETED_RUN,
        item_types.PRIVATE_TOMBSTONE,
        item_types.SEMANTIC_TOMBSTONE,
        item_types.SNAPSHOT_PART,
        item_types.ANNOUNCEMENT,
        item_types.MEMORY,
        item_types.MEMORY_ENTRY,
        item_types.SNAPSHOT_PIN,
        item_types.RUN_SECRETS,
        item_types.LOG_ITEM,
        item_types.EVENT_PART,
    ),
}
UNSEALED["it takes away, or is encrypted itself"] = (
    item_types.DELETION,
    item_types.DELETION_PREVIEW,
    item_types.DEPLOYMENT_SECRET,
)
_NAMES = re.compile(r"\{[^}]*\}")
KEY: Key = ("acme#t#task", "t")


@pytest.fixture
def seals() -> ItemSeals:
    return ItemSeals(lambda purpose: hmac.digest(b"secret", purpose, "sha256"))


def build_key(item_type: ItemType, name: str = "x") -> Key:
    return _NAMES.sub(name, item_type.partition), _NAMES.sub(name, item_type.sort)


def build_item(item_type: ItemType) -> Item:
    """An item with a value for each attribute under the seal."""
    return {name: f"value of {name}" for name in item_type.sealed}


def read(key: Key, item: Item) -> Item:
    return item | {"pk": key[0], "sk": key[1]}


def test_each_type_is_sealed_or_says_why_not() -> None:
    unsealed = [each for types in UNSEALED.values() for each in types]
    assert sorted(each.name for each in ITEM_TYPES) == sorted(
        each.name for each in (*SEALED, *unsealed)
    )


@pytest.mark.parametrize("item_type", SEALED, ids=lambda each: each.name)
def test_no_change_of_what_gives_authority_keeps_a_seal(
    seals: ItemSeals, item_type: ItemType
) -> None:
    key, other = build_key(item_type), build_key(item_type, "y")
    sealed = seals.seal(key, build_item(item_type))
    assert seals.is_genuine(read(key, sealed | {"counter": 7}))
    forged = [read(key, sealed | {name: "forged"}) for name in item_type.sealed]
    if not item_type.may_give_nothing:
        forged += [read(key, {n: v for n, v in sealed.items() if n != name}) for name in sealed]
        forged.append(read(key, {}))
    forged.append(read(other, sealed))
    assert [is_trusted(seals, each) for each in forged] == [False] * len(forged)


def is_trusted(seals: ItemSeals, item: Item) -> bool:
    """Whether an item counts; what restricts is an error where it doesn't."""
    try:
        return seals.is_genuine(item)
    except Unavailable:
        return False


def test_what_restricts_never_counts_as_absent(seals: ItemSeals) -> None:
    for each in (item_types.GUARDRAILS, item_types.RESTRICTIONS):
        for item in ({}, build_item(each), seals.seal(build_key(each), {}) | {"version": 2}):
            with pytest.raises(Unavailable):
                seals.is_genuine(read(build_key(each), item))


def test_what_gives_nothing_needs_no_seal(seals: ItemSeals) -> None:
    key = build_key(item_types.INTENT)
    unclaimed: Item = {"intent": "i", "acl": {}}
    assert seals.seal(key, unclaimed) == unclaimed
    assert seals.is_genuine(read(key, unclaimed))


def test_a_code_is_of_one_role_of_one_principal_in_one_item(seals: ItemSeals) -> None:
    codes = [
        seals.resolve_codes(key, RoleCode(role, principal))
        for key in (KEY, ("acme#t#other", "t"))
        for role in ("assignee", "coordinator")
        for principal in ("eve", "alice")
    ]
    assert len(set(codes)) == 8
    assert {len(each) for each in codes} == {16}
    assert seals.resolve_codes(KEY, [RoleCode("assignee", "eve")]) == codes[:1]


class Client:
    """Keeps the requests that reach it."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> dict[str, Any]:
            self.requests.append(request)
            return {"Attributes": {}}

        return call


def test_an_update_sets_the_seal_of_what_it_leaves(seals: ItemSeals) -> None:
    client = Client()
    item = {"task": "task", "assignee": "alice"}
    table = Table(client, "memory", seals)
    table.update(update_sealed(KEY, item, "SET assignee = :a, seal = :seal", "x = :a", a="alice"))
    (request,) = client.requests
    values = decode_item(request["ExpressionAttributeValues"])
    assert seals.is_genuine(read(KEY, item | {"seal": values[":seal"]}))


def test_no_update_leaves_a_seal_behind(seals: ItemSeals) -> None:
    table = Table(Client(), "memory", seals)
    table.update(update(KEY, "ADD free_entries :one", one=1))
    with pytest.raises(ValueError, match="task needs its seal"):
        table.update(update(KEY, "SET assignee = :a", a="eve"))


def test_a_function_without_the_secret_writes_no_authority() -> None:
    table = Table(Client(), "memory")
    with pytest.raises(ValueError, match="deployment's secret"):
        table.put(put(KEY, {"task": "task"}))
    with pytest.raises(ValueError, match="deployment's secret"):
        table.update(update_sealed(KEY, {}, "SET seal = :seal", "x = :a", a=1))
