"""Convert tasks, grants and intents to items and back."""

from functions.identity.model import SERVICE, Actor
from functions.platform import item_types
from functions.platform.clock import to_ttl_seconds
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.json_text import dumps, loads
from functions.platform.keys import build_due_attributes, hash_agent
from functions.platform.schema import TTL_ATTRIBUTE
from functions.tasks.model import Grant, Intent, Policy, Task

FOREVER = 2**53
_REQUEST_TIME = 60_000  # ms that the request which ends a task has
_COUNTERS = ("held", "attached", "granted", "sub_tasks", "counter_changes")
_STORED_APART = (
    *("id", "status", "memory_policy", "ender", "archive_required", "extra_fields", "request"),
    *_COUNTERS,
)


def task_to_item(task: Task) -> Item:
    """Return all attributes of a task's item but its counters per agent."""
    return {
        **to_attributes(task, *_STORED_APART),
        **to_attributes(task.memory_policy),
        "task_id": task.id,
        "task_status": task.status,
        "ender": None if task.completed_at is None else task.ender.id,
        "ender_kind": None if task.completed_at is None else task.ender.kind,
        "archive_required": task.archive_required or None,
        "extra_fields": dumps(task.extra_fields).decode(),
        "request_token": task.request,
        **_due(task),
    }


def _due(task: Task) -> Item:
    """Return when a task is due: until its memory is archived, or former members are fenced.

    The call that ends the task or hands it over has a minute.
    """
    is_pending = task.leaving if task.completed_at is None else task.archived_at is None
    due = task.updated_at + _REQUEST_TIME if is_pending else None
    return build_due_attributes(item_types.TASK.build_key("", task=task.id)[0], due)


def task_from_item(item: Item) -> Task:
    return from_attributes(
        Task,
        item,
        id=item["task_id"],
        intent_id=item.get("intent_id"),
        status=item["task_status"],
        memory_policy=from_attributes(Policy, item),
        ender=Actor(item["ender"], item["ender_kind"]) if "ender" in item else SERVICE,
        held={name[2:]: count for name, count in item.items() if name.startswith("n_")},
        extra_fields=loads(item["extra_fields"]),
        request=item.get("request_token"),
        counter_changes=item.get("changes", 0),
    )


def usage_to_item(agent: str, entries: int, size: int) -> Item:
    """Return what an agent holds of a task, as attributes of the task's item."""
    digest = hash_agent(agent)
    return {f"n_{digest}": entries, f"bytes_{digest}": size}


def grant_to_item(grant: Grant) -> Item:
    """Return a grant's item; DynamoDB removes it some time after it has expired."""
    return to_attributes(grant) | {
        TTL_ATTRIBUTE: None if grant.expires_at == FOREVER else to_ttl_seconds(grant.expires_at)
    }


def grant_from_item(item: Item) -> Grant:
    return from_attributes(Grant, item)


def intent_to_item(intent: Intent) -> Item:
    return {
        "intent_id": intent.intent_id,
        "owner_id": intent.owner,
        "acl": {
            f"p{hash_agent(principal)}": {"principal": principal, "access": access}
            for principal, access in intent.acl.items()
        },
        "created_at": intent.created_at,
        "version": intent.version,
    }


def intent_from_item(intent: str, item: Item | None) -> Intent:
    """Read an intent from its item; without an item, it has version 0."""
    if item is None:
        return Intent(intent)
    return Intent(
        intent_id=intent,
        owner=item.get("owner_id"),
        acl={line["principal"]: line["access"] for line in item.get("acl", {}).values()},
        created_at=item["created_at"],
        version=item["version"],
    )
