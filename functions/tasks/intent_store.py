"""Reads and writes of intents."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.bounded_pages import WHOLE, WantedPage
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import hash_agent
from functions.platform.newest_first import (
    build_list_attributes,
    list_item_groups,
    list_listings,
)
from functions.platform.table import Store
from functions.platform.writes import (
    Write,
    build_set_expression,
    build_unchanged_condition,
    check,
    delete,
    put,
    put_new,
    update,
)
from functions.tasks.model import Intent, Task
from functions.tasks.store import build_use_condition


class IntentStore(Store):
    """Reads intents and lists of their tasks."""

    def get(self, tenant: str, intent: str, principal: str) -> Intent:
        """Read one intent for a principal; version 0 if it doesn't exist: one call."""
        return self._get_many(tenant, principal, [intent])[0]

    def list_of_tenant(self, tenant: str, principal: str, wanted: WantedPage) -> Iterator[Intent]:
        """List a tenant's intents for a principal, newest first: one more call for each fifty."""
        for rows in list_item_groups(self._table, item_types.LISTED_INTENT, wanted, tenant):
            yield from self._get_many(tenant, principal, (row["intent_id"] for row in rows))

    def _get_many(self, tenant: str, principal: str, intents: Iterable[str]) -> list[Intent]:
        keys = {
            intent: (
                item_types.INTENT.build_key(tenant, intent=intent),
                item_types.PARTICIPANT.build_key(tenant, intent=intent, principal=principal),
            )
            for intent in intents
        }
        found = self._table.get_many([key for pair in keys.values() for key in pair])
        return [
            replace(
                intent_from_item(intent, found.get(own)),
                participants=frozenset({principal} if participant in found else ()),
            )
            for intent, (own, participant) in keys.items()
        ]

    def list_task_rows(
        self, tenant: str, intent: str, wanted: WantedPage = WHOLE
    ) -> Iterator[list[Item]]:
        """List the rows of an intent's tasks, newest first.

        The index may still list a task that was moved to another intent.
        """
        return list_listings(self._table, item_types.INTENT_TASK, wanted, tenant, intent=intent)


def name_intent(
    caller: Principal, intent: str, now: int, *, is_new: bool = False, takes_part: bool = False
) -> Iterator[Write]:
    """Check that the caller may name an intent: it has no owner, or the caller may write in it.

    A coordinator or user becomes the owner of an intent without one. The condition is that of
    `functions.tasks.authority.USE_INTENT`: on the intent or, if `takes_part`, on the item of the
    caller's participation. `is_new` creates the intent.
    """
    if takes_part:
        participant = item_types.PARTICIPANT.build_key(
            caller.tenant, intent=intent, principal=caller.id
        )
        yield check(participant, "attribute_exists(pk)")
        return
    key = item_types.INTENT.build_key(caller.tenant, intent=intent)
    claimed = Intent(
        intent, caller.id if caller.may_coordinate else None, created_at=now, version=1
    )
    if is_new:
        yield _list_under_tenant(caller.tenant, intent, now)
        yield put_new(key, _to_item(claimed))
        return
    condition, values = build_use_condition(caller)
    if claimed.owner is None:
        yield check(key, f"attribute_exists(pk) AND {condition}", **values)
        return
    yield update(
        key,
        "SET #owner = if_not_exists(#owner, :caller)",
        f"attribute_exists(pk) AND {condition}",
        **values,
    )


def replace_intent(tenant: str, old: Intent, new: Intent) -> Iterator[Write]:
    """Replace the owner and access list that were read of an intent."""
    key = item_types.INTENT.build_key(tenant, intent=old.intent_id)
    if old.version == 0:
        yield _list_under_tenant(tenant, old.intent_id, new.created_at)
    expression, present = build_set_expression(_to_item(new))
    seen = {"version": old.version or None, "owner": old.owner}
    condition, values = build_unchanged_condition(seen)
    yield update(key, expression, condition, **present, **values)


def _list_under_tenant(tenant: str, intent: str, created: int) -> Write:
    key = item_types.LISTED_INTENT.build_key(tenant, intent=intent)
    return put(key, {"intent_id": intent} | build_list_attributes(key[0], created, intent))


def join_intent(
    tenant: str, intent: Intent, owner: str | None, joining: frozenset[str], now: int
) -> Iterator[Write]:
    """Add participants and the first owner to an intent, if it is unchanged since it was read.

    An intent without an owner gets no participants: using it gives no rights.
    """
    if owner is not None:
        for each in sorted(joining):
            key = item_types.PARTICIPANT.build_key(tenant, intent=intent.intent_id, principal=each)
            yield put(key, {"principal": each})
    if intent.version == 0 or owner not in (None, intent.owner):
        created, version = intent.created_at or now, intent.version or 1
        new = replace(intent, owner=owner, created_at=created, version=version)
        yield from replace_intent(tenant, intent, new)
    else:
        key = item_types.INTENT.build_key(tenant, intent=intent.intent_id)
        seen = {"version": intent.version, "owner": intent.owner}
        condition, values = build_unchanged_condition(seen)
        yield check(key, condition, **values)


def list_under_intent(tenant: str, task: Task, intent: str) -> Write:
    key = item_types.INTENT_TASK.build_key(tenant, intent=intent, task=task.id)
    row: Item = {"task_id": task.id, "created_at": task.created_at}
    return put(key, row | build_list_attributes(key[0], task.created_at, task.id))


def unlist_under_intent(tenant: str, task: str, intent: str) -> Write:
    """Remove a task from the list of its earlier intent."""
    return delete(item_types.INTENT_TASK.build_key(tenant, intent=intent, task=task))


def _to_item(intent: Intent) -> Item:
    acl = {
        f"p{hash_agent(principal)}": {"principal": principal, "access": access}
        for principal, access in intent.acl.items()
    }
    return to_attributes(intent, "participants", "acl") | {"acl": acl}


def intent_from_item(intent: str, item: Item | None) -> Intent:
    """Decode an intent; without an item, it has version 0."""
    if item is None:
        return Intent(intent)
    acl = {line["principal"]: line["access"] for line in item.get("acl", {}).values()}
    return from_attributes(Intent, item, acl=acl)
