"""Reads of intents, and the writes by which they change."""

from functions.identity.model import Principal
from functions.platform import task_keys
from functions.platform.items import Item
from functions.platform.keys import hash_agent
from functions.platform.table import Table
from functions.platform.writes import Write, put, update
from functions.tasks.mapper import intent_from_item
from functions.tasks.model import Intent, Task
from functions.tasks.requests import AclEntry


class IntentStore:
    """Reads intents and what they list, and sets their access lists."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, tenant: str, intent: str) -> Intent | None:
        """Read one intent: one call."""
        item = self._table.get(task_keys.build_intent_key(tenant, intent))
        return None if item is None else intent_from_item(item)

    def list_task_ids(self, tenant: str, intent: str) -> list[str]:
        """Read the ids of the tasks that an intent lists."""
        rows = self._table.query(*task_keys.build_intent_task_range(tenant, intent))
        return [row["task"] for row in rows]

    def set_acl(self, caller: Principal, intent: str, acl: list[AclEntry]) -> Intent:
        """Replace the access list of an intent that exists."""
        lines = {f"p{hash_agent(line.principal)}": line.model_dump() for line in acl}
        write = update(
            task_keys.build_intent_key(caller.tenant, intent),
            "SET acl = :acl ADD version :one",
            acl=lines,
            one=1,
        )
        return intent_from_item(self._table.update(write))


def use_intent(
    caller: Principal, intent: str, now: int, participants: frozenset[str] = frozenset()
) -> Write:
    """Use an intent, if it is new or the caller's to write in; adds participants (contract §5).

    The first user of an intent becomes its owner.
    """
    path = f"acl.p{hash_agent(caller.id)}.access"
    return update(
        task_keys.build_intent_key(caller.tenant, intent),
        "SET intent = :intent, owner_id = if_not_exists(owner_id, :caller), "
        "created = if_not_exists(created, :now), version = if_not_exists(version, :one), "
        "acl = if_not_exists(acl, :empty)"
        + (" ADD participants :participants" if participants else ""),
        "attribute_not_exists(pk) OR owner_id = :caller OR contains(participants, :caller) "
        f"OR {path} = :write",
        intent=intent,
        caller=caller.id,
        now=now,
        one=1,
        empty={},
        write="write",
        **({"participants": participants} if participants else {}),
    )


def list_under_intent(tenant: str, task: Task, intent: str) -> Write:
    """Add a task to its intent's list."""
    row: Item = {"task": task.id, "created": task.created}
    return put(task_keys.build_intent_task_key(tenant, intent, task.id), row)
